"""What is said where the command line itself cannot be imported: only the standard library is needed here."""

from __future__ import annotations

import sys

from aoe_reports.cli.ending import INTERNAL_ERROR
from aoe_reports.jobs.doctor.checkup import each
from aoe_reports.jobs.doctor.installation import installation


def tell_and_exit(error: ImportError) -> None:
    """Say what is wrong with the installation, as `doctor` would."""
    lines = [f"aoe-reports: error: the command line cannot be imported: {error}"]
    lines += [
        f"{one.name}: {one.value}; {one.what_to_do}"
        for one in each("installation", (installation,))
        if one.state == "fault"
    ]
    sys.stderr.write("".join(f"{line}\n" for line in lines).encode("ascii", "backslashreplace").decode())
    sys.exit(INTERNAL_ERROR)
