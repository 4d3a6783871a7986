"""What docs/security.md says of limits is what the code has."""

from __future__ import annotations

import pytest
from commandline import ROOT

from aoe_reports.cli import configuration_files
from aoe_reports.formats import metric_file
from aoe_reports.formats.aoe import bank_file, operator_bank_file
from aoe_reports.formats.aoe.result_files import MAX_RESULT_BYTES
from aoe_reports.formats.sources import archives, discovery, expand, identify
from aoe_reports.jobs import notification

ROWS = dict(
    line.strip("| ").split(" | ", maxsplit=1)
    for line in (ROOT / "docs" / "security.md").read_text().splitlines()
    if line.startswith("| ")
)


@pytest.mark.parametrize(
    ("what", "limits"),
    [
        (
            "expanded size of a compressed file or archive",
            (
                f"{identify.MAX_EXPANDED_BYTES >> 30} GiB",
                f"{expand.MAX_RATIO} times",
                f"{expand.RATIO_FROM_BYTES >> 20} MiB",
            ),
        ),
        ("files in an archive", (f"{archives.MAX_MEMBERS:,}",)),
        ("nested folders", (f"{discovery.MAX_DEPTH}",)),
        ("files and folders behind links that lead out of a path", (f"{discovery.MAX_LINKED:,}",)),
        ("an AOE result", (f"{MAX_RESULT_BYTES >> 20} MiB",)),
        (
            "a bank; an entry of it",
            (f"{bank_file.MAX_BANK_BYTES >> 20} MiB; {operator_bank_file.MAX_LINE_BYTES >> 20} MiB",),
        ),
        ("a configuration file, a file of metrics", (f"{configuration_files.MAX_BYTES >> 20} MiB",)),
        ("a configuration file, a file of metrics", (f"{metric_file.MAX_BYTES >> 20} MiB",)),
        ("an answer to `--notify`", (f"{notification._MAX_BYTES >> 20} MiB, {notification.TIMEOUT_S:.0f} s",)),
    ],
)
def test_a_limit_is_told_as_it_is(what: str, limits: tuple[str, ...]) -> None:
    assert [limit for limit in limits if limit not in ROWS[what]] == []


def test_the_root_says_where_to_look() -> None:
    assert "(docs/security.md)" in (ROOT / "SECURITY.md").read_text()
