#!/bin/bash
# A question over a night of captures, in 32 shares: sbatch slurm.sh
#SBATCH --job-name=communication
#SBATCH --array=1-32
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
set -euo pipefail
work=/shared/aoe-reports/tonight # a folder that all nodes see

# before: aoe-reports communication /captures/tonight --manifest "$work/manifest.json"
# after:  aoe-reports fleet reduce "$work/manifest.json" --partials "$work/partials"
aoe-reports fleet map "$work/manifest.json" --partials "$work/partials" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --jobs 1
