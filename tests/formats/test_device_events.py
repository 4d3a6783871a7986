"""Whether a timeline has events of a device, whatever its size and form."""

import gzip
from pathlib import Path

import pytest

from aoe_reports.formats.sources.found import FileName, FoundFile
from aoe_reports.formats.trace.mentions import shows_device

EVENT = b'{"args": {"Task Type": "AI_CORE"}}'


@pytest.mark.parametrize("packed", [False, True])
def test_events_of_a_device_are_found_wherever_they_stand(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "trace_view.json"
    for before in ((1 << 20) - 17, 1 << 21, 0):
        for event in (EVENT, EVENT.lower(), b'{"args": {"Type": "AI_CORE"}}'):
            text = b" " * before + event
            path.write_bytes(gzip.compress(text) if packed else text)
            file = FoundFile(path, FileName("trace_view", "json", "torch_npu", timeline=True, packed=packed), len(text))
            assert shows_device(file) == (event.lower() == EVENT.lower()), (before, event)


def test_a_timeline_that_cannot_be_read_is_not_without_a_device(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json.gz"
    path.write_bytes(gzip.compress(EVENT * 1000)[:30])
    name = FileName("trace_view", "json", "torch_npu", timeline=True, packed=True)
    assert shows_device(FoundFile(path, name, 30))
    assert shows_device(FoundFile(path, name, 30, max_expanded=1))
    assert shows_device(FoundFile(tmp_path / "absent.json", name, 30))
