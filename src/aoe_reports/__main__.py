"""`python -m aoe_reports` is the same as `aoe-reports`."""

from aoe_reports.cli.main import main

main()
