"""What `msprof op` (msOpProf) measures of one kernel, block by block."""
