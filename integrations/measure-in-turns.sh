#!/bin/sh
# Measures two builds in turns (A B B A A B …), so that a drift of the machine reaches both alike.
#
#   measure-in-turns.sh ROUNDS OUT BASELINE CANDIDATE COMMAND [ARGUMENT…]
#
# In each round COMMAND ARGUMENT… FOLDER runs once in the folder BASELINE and once in the folder CANDIDATE, and writes a capture or a
# result into FOLDER, an absolute path below OUT/baseline or OUT/candidate. Nothing is expanded or split. The first failure ends it all.
# A command with a slash is that of the build it runs in (./measure.sh) or, as an absolute path, the same for both.
set -eu

if [ "$#" -lt 5 ]; then
    echo "usage: measure-in-turns.sh ROUNDS OUT BASELINE CANDIDATE COMMAND [ARGUMENT…]" >&2
    exit 2
fi
rounds=$1 out=$2 baseline=$3 candidate=$4
shift 4
case $rounds in
'' | *[!0-9]* | 0*)
    echo "measure-in-turns.sh: ROUNDS is a number such as 5" >&2
    exit 2
    ;;
esac

mkdir -- "$out" # fails where it exists: repeats of an earlier session are no repeats of this one
out=$(CDPATH='' cd -- "$out" && pwd)

measure() { # SIDE BUILD COMMAND…: one repeat
    folder=$out/$1/run$round build=$2
    shift 2
    mkdir -p -- "$folder"
    echo "round $round of $rounds: $folder" >&2
    (CDPATH='' cd -- "$build" && exec "$@" "$folder")
}

round=1
while [ "$round" -le "$rounds" ]; do
    if [ $((round % 2)) -eq 1 ]; then
        measure baseline "$baseline" "$@"
        measure candidate "$candidate" "$@"
    else
        measure candidate "$candidate" "$@"
        measure baseline "$baseline" "$@"
    fi
    round=$((round + 1))
done
