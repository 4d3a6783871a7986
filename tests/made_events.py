"""Events of timelines, made for tests: as exporters write them, and some that cannot be used."""

from __future__ import annotations

import json
import re
from pathlib import Path

from hypothesis import strategies as st

X = {"name": "a", "pid": 7, "tid": 1, "ts": "1.000", "dur": 2, "ph": "X"}


NAMES = ['MatMul},{"name":"x', "a\\", "op[},{]", "算子/ConvA", "},", '"', "", "a\u0000b", "\x1f", "Nan:NaN,"]


names = st.one_of(st.sampled_from(NAMES), st.text(max_size=8))
small = st.integers(0, 2**31)
stamps = st.one_of(
    st.integers(0, 10**17),
    st.floats(0, 1e8, allow_nan=False),
    st.integers(0, 2 * 10**18).map(lambda ns: f"{ns // 1000}.{ns % 1000:03d}"),
    st.sampled_from([1690000000123456.8, "12", "1.5", 0.1]),
)
args = st.fixed_dictionaries(
    {},
    optional={
        "Task Type": st.sampled_from(["AI_CORE", "N/A", ""]), "task id": st.one_of(small, small.map(str), st.just("N/A")),
        "Task Id": st.one_of(st.none(), small), "Stream Id": small, "stream id": small, "Model ID": st.just(4294967295),
        "Model Id": small, "connection_id": small, "Mode": names, "level": st.just("node"), "q": st.lists(names, max_size=3),
        "r": st.floats(allow_nan=False, allow_infinity=False), "name": names,
    },
)  # fmt: skip
ids = st.one_of(st.integers(0, 3), st.sampled_from(["2_1", "Thread 4230"]))
tasks = st.fixed_dictionaries(
    {"ph": st.just("X"), "name": names, "ts": stamps, "dur": st.one_of(st.integers(0, 10**9), st.floats(0, 1e9))},
    optional={"pid": ids, "tid": ids, "args": args, "cat": names},
)
flows = st.fixed_dictionaries(
    {"ph": st.sampled_from("stf"), "id": st.one_of(small, st.integers(0, 2**64 - 1).map(str), names), "ts": stamps},
    optional={
        "pid": ids,
        "tid": ids,
        "cat": st.sampled_from(["HostToDevice", "async_npu"]),
        "name": names,
        "bp": names,
    },
)
metadata = st.fixed_dictionaries(
    {"ph": st.just("M"), "name": st.sampled_from(["process_name", "thread_name", "x"]), "args": args},
    optional={"pid": ids, "tid": ids},
)
NO_OBJECTS = [[], ["Task Type"], "AI_CORE", "", 0, 1.5, True, False]
"""What `args` cannot be."""
bad = st.one_of(
    st.sampled_from([5, None, {}, {"ph": "X"}, {**X, "dur": -1}, {**X, "ts": "x"}, {**X, "name": 5}]),
    st.sampled_from(NO_OBJECTS).map(lambda value: {**X, "args": value}),
)
styles = st.sampled_from([{}, {"separators": (",", ":")}, {"indent": 1}, {"ensure_ascii": False}])


TRACE = json.dumps(
    [
        {"name": "process_name", "ph": "M", "pid": 7, "tid": 0, "args": {"name": "CANN"}},
        {**X, "args": {"a": 1.5, "b": ["\u7b97", True, None], "c": {"d": -1}}},
        {"name": "f", "ph": "s", "cat": "HostToDevice", "id": "141733920768", "pid": 7, "tid": 1, "ts": "2.000"},
        {**X, "name": '},{"x"', "ts": 3.25},
    ],
    ensure_ascii=False,
).encode()


def write(folder: Path, data: object, name: str = "trace_view.json") -> Path:
    path = folder / name
    if isinstance(data, bytes):
        path.write_bytes(data)
    else:
        path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def no_surrogates(data: object) -> bool:
    return re.search("[\ud800-\udfff]", json.dumps(data, ensure_ascii=False)) is None
