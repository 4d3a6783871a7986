"""`python -m aoe_reports` and `aoe-reports`: nothing that can fail, or be interrupted, is imported before the end is in good hands."""

import os

from aoe_reports.cli.ending import own_process, run_and_exit, tell_and_exit
from aoe_reports.model.hidden import hide

_FOR_LIBRARIES = {
    # Arrow's own allocator keeps for each thread what that has used once: in `hotspots` of 1 GB of timeline 50 MB of 370
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    # numpy starts a thread for each other core, which takes 0.1 s; what we solve is small
    "OPENBLAS_NUM_THREADS": "1",
}
for _name, _value in _FOR_LIBRARIES.items():
    if _name not in os.environ:
        os.putenv(_name, _value)  # for this process: a tuner, which gets `os.environ`, is none of ours

# pyarrow loads it to see whether a list that it is given is one of its columns: half a second, and no command has any
hide("pandas")


def _run() -> None:
    try:
        from aoe_reports.cli.main import run_app  # noqa: PLC0415 -- see above
    except ImportError as error:
        if error.name is None or error.name.startswith("aoe_reports"):
            raise
        tell_and_exit(error)
    else:
        run_app()


def main() -> None:
    """Run the command line and exit."""
    own_process(lambda: run_and_exit(_run))


if __name__ == "__main__":
    main()
