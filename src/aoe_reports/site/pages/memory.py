"""The memory of a run: how high each device peaked, and who held it then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from aoe_reports.history.series.metrics import metric_series_id
from aoe_reports.history.site_facts import HeldMemory, RunMemory
from aoe_reports.model.history.metrics import GROWTH, PEAK_ALLOCATED, PEAK_PROCESS, PEAK_RESERVED
from aoe_reports.model.pictures.memory import MAX_PARTS
from aoe_reports.model.size_units import size_words
from aoe_reports.model.texts import N_
from aoe_reports.model.topics.memory_words import owner_words
from aoe_reports.present.values import NONE
from aoe_reports.site.bars import stacked_bars
from aoe_reports.site.cells import Table, cell, head, words
from aoe_reports.site.pages.operators import series_page
from aoe_reports.site.render import Context
from aoe_reports.site.texts import Texts

SHOWN_DEVICES = 16
"""Of more devices those with the highest peaks are shown."""
_SAID, _SAID_OF_RESERVED = N_(
    (
        "{device} has the highest peak: {peak} allocated ({component}).",
        "{device} has the highest peak: {peak} reserved ({component}).",
    )
)
_OTHERS, _BEFORE, _UNEXPLAINED = "part-others", "part-before", "part-unexplained"


def memory_part(memory: Sequence[RunMemory], pages: frozenset[str], text: Texts) -> Context | None:
    """A bar and a row for each device, and the owners of the highest peak; None where nothing is recorded."""
    if not memory:
        return None
    devices = sorted(memory, key=lambda one: -one.peak_bytes)
    shown, highest = devices[:SHOWN_DEVICES], devices[0]
    colours = _colours(shown, text)
    return {
        "said": text(
            _SAID if highest.allocated_bytes is not None else _SAID_OF_RESERVED,
            device=_device(highest, text),
            peak=size_words(highest.peak_bytes),
            component=highest.component or NONE,
        ),
        "left_out": len(devices) - len(shown),
        "bars": stacked_bars([_bar(one, colours, text) for one in shown]),
        "legend": _legend(shown, colours, text),
        "devices": Table(_columns(text), [_row(one, pages, text) for one in shown], stacks=True),
        "owners_title": text("Held at the peak of {device}", device=_device(highest, text)),
        "owners": _owners_table(highest, text),
    }


def _device(memory: RunMemory, text: Texts) -> str:
    if memory.ranks is not None:
        return text("Rank {rank}, the highest of {count}", rank=memory.rank_id, count=memory.ranks)
    if memory.rank_id is not None:
        return text("Rank {rank}", rank=memory.rank_id)
    return text("The device") if memory.device_id is None else text("Device {device}", device=memory.device_id)


def _colours(devices: Sequence[RunMemory], text: Texts) -> dict[str, str]:
    """The class of each owner that is drawn by itself: the largest of all devices together."""
    sizes: Counter[str] = Counter()
    for device in devices:
        for owner in device.owners:
            if _class_of_rest(owner) is None:
                sizes[_name(owner, text)] += owner.size_bytes
    ordered = sorted(sizes, key=lambda name: (-sizes[name], name))
    return {name: f"part-{place}" for place, name in enumerate(ordered[:MAX_PARTS])}


def _class_of_rest(owner: HeldMemory) -> str | None:
    """The class of what is nobody's by name; None for an owner."""
    if owner.others:
        return _OTHERS
    if owner.unexplained:
        return _UNEXPLAINED
    return _BEFORE if owner.name is None and owner.kind is None and owner.module is None else None


def _name(owner: HeldMemory, text: Texts) -> str:
    return text.translated(owner_words(owner, others=owner.others))


def _parts(memory: RunMemory, colours: dict[str, str], text: Texts) -> dict[str, int]:
    """The size of each class of a bar, those with a colour of their own first."""
    sizes: Counter[str] = Counter()
    for owner in memory.owners:
        sizes[_class_of_rest(owner) or colours.get(_name(owner, text), _OTHERS)] += owner.size_bytes
    order = [*colours.values(), _OTHERS, _BEFORE, _UNEXPLAINED]
    return {kind: sizes[kind] for kind in order if sizes[kind]}


def _bar(memory: RunMemory, colours: dict[str, str], text: Texts) -> tuple[str, Sequence[tuple[str, float]], str, str]:
    parts, names = _parts(memory, colours, text), _words(colours, text)
    said = text.joined(
        ", ",
        (text("{owner}: {size}", owner=names[kind], size=size_words(size)) for kind, size in parts.items()),
    )
    bar = [(kind, float(size)) for kind, size in parts.items()]
    return _device(memory, text), bar, size_words(memory.peak_bytes), said


def _words(colours: dict[str, str], text: Texts) -> dict[str, str]:
    """What each class of a bar is."""
    rest = {
        _OTHERS: text("other owners"),
        _BEFORE: text("allocated before the recording"),
        _UNEXPLAINED: text("unexplained"),
    }
    return {kind: name for name, kind in colours.items()} | rest


def _legend(devices: Sequence[RunMemory], colours: dict[str, str], text: Texts) -> list[tuple[str, str]]:
    drawn = {kind for device in devices for kind in _parts(device, colours, text)}
    return [(kind, name) for kind, name in _words(colours, text).items() if kind in drawn]


def _columns(text: Texts) -> list[tuple[str, str]]:
    return [
        (text("Rank or device"), "text"), (text("Component"), "text"), (text("Peak allocated"), "number"),
        (text("Peak reserved"), "number"), (text("Process, highest"), "number"), (text("Growth per step"), "number"),
    ]  # fmt: skip


def _row(memory: RunMemory, pages: frozenset[str], text: Texts) -> list[str]:
    """Peak, reserved peak and growth of a device, each with the page of its series."""
    rank = memory.growth_rank
    values = (
        (PEAK_ALLOCATED, memory.allocated_bytes, ""),
        (PEAK_RESERVED, memory.reserved_bytes, ""),
        (PEAK_PROCESS, memory.process_bytes, ""),
        (GROWTH, memory.growth_bytes_per_step, "" if rank is None else text(" (rank {rank})", rank=rank)),
    )
    return [
        head(_device(memory, text)),
        cell(memory.component),
        *(_size_cell(size, _page_of(memory, metric, pages), about) for metric, size, about in values),
    ]


def _page_of(memory: RunMemory, metric: str, pages: frozenset[str]) -> str | None:
    return None if memory.series_id is None else series_page(metric_series_id(memory.series_id, metric), pages)


def _size_cell(size: float | None, page: str | None = None, about: str = "") -> str:
    """A size in its own unit, its bytes in the title, maybe a link, and what is said of it."""
    if size is None:
        return cell(None, "number")
    shown = words(size_words(size))
    inner = shown if page is None else f'<a href="{words(page)}">{shown}</a>'
    return f'<td class="number" title="{words(f"{size:,.10g} bytes")}">{inner}{words(about)}</td>'


def _owners_table(memory: RunMemory, text: Texts) -> Table:
    columns = [(text("Owner"), "text"), (text("Size"), "number"), (text("Share"), "number")]
    rows = [
        [
            head(_name(owner, text), None, _detail(owner)),
            _size_cell(owner.size_bytes),
            cell(owner.size_bytes / memory.peak_bytes if memory.peak_bytes else None, "percent"),
        ]
        for owner in memory.owners
    ]
    return Table(columns, rows, stacks=True)


def _detail(owner: HeldMemory) -> str | None:
    """What is known beside the word for an owner: its name below its kind or its module."""
    return owner.name if owner.name is not None and (owner.kind or owner.module) else None
