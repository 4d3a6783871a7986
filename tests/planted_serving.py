"""Captures of servers of language models by kind and seed: where their iterations begin, and what each is, is known."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

ORIGIN_NS = 1_717_575_960_208_020_000
Attention = Literal["atb", "fia", "mla", "incre", "fia-bnsd"]
Scheduler = Literal["prefill first", "chunked"]


@dataclass(frozen=True)
class Server:
    """What kind of server is planted."""

    attention: Attention = "fia"
    scheduler: Scheduler = "chunked"
    layers: int = 12
    hidden: int = 2048
    heads: int = 16
    vocabulary: int = 151_936
    parallel: int = 1
    experts: Literal["", "mc2", "all-gather"] = ""
    dense_layers: int = 1
    drafts: int = 0
    """Tokens that each sequence verifies beside its own."""
    is_graph: bool = False
    pads: bool = False
    dummies: int = 0
    samples: Literal["greedy", "random"] = "greedy"
    stage: Literal["", "first", "middle", "last"] = ""
    has_shapes: bool = True
    has_types: bool = True
    graph_shapes: bool = True
    is_asynchronous: bool = False
    is_cut: bool = False
    side_stream: bool = False
    encodes: bool = False
    """Whether each prompt has an image, which a pass of its own encodes before."""
    draws_beside: bool = False
    """Whether random numbers are drawn on a stream of their own while the first layers run."""
    routes_by_softmax: bool = False
    caches_prefixes: bool = False
    """Whether prompts find their beginnings in the cache: then attention of prefill reads blocks, too."""
    gap_us: float = 1.0
    """The mean pause between two tasks of the model, where these are no graph."""


@dataclass(frozen=True)
class Plan:
    """What one iteration is to do: new tokens of each prompt, and sequences that are decoded."""

    prompts: tuple[int, ...]
    decoding: int
    resumed: bool = False
    """Whether a prompt was begun before, so that its keys and values come from the cache."""

    @property
    def phase(self) -> str:
        """What it is."""
        return "decode" if not self.prompts else "mixed" if self.decoding else "prefill"


@dataclass
class Truth:
    """One planted iteration: its first and its last task that are surely its own, as places in the table."""

    phase: str
    sequences: int
    tokens: int
    prompt_tokens: int
    places: list[int] = field(default_factory=list)
    first_ns: int = 0


@dataclass
class Planted:
    """The tasks of a capture, and what is in it."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    truth: list[Truth] = field(default_factory=list)
    server: Server = field(default_factory=Server)

    def table(self) -> pa.Table:
        """The tasks as readers hand them on."""
        words = pa.dictionary(pa.int32(), pa.string())
        shaped = self.server.has_shapes
        columns = {
            "op_name": pa.array([row["name"] for row in self.rows], words),
            "op_type": pa.array([row["type"] if self.server.has_types else None for row in self.rows], words),
            "task_type": pa.array([row["core"] for row in self.rows], words),
            "input_shapes": pa.array([row["inputs"] if shaped else None for row in self.rows], words),
            "input_data_types": pa.array([row["kinds"] if shaped else None for row in self.rows], words),
            "output_shapes": pa.array([row["outputs"] if shaped else None for row in self.rows], words),
            "task_start_ns": pa.array([row["start"] for row in self.rows], pa.int64()),
            "task_duration_ns": pa.array([row["length"] for row in self.rows], pa.int64()),
        }
        return pa.table(columns)

    def write(self, folder: Path, rank: int = 0, annotation: str = "") -> Path:
        """Write it as torch_npu's profiler does; `annotation`: which ranges the host records."""
        output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output.parent / f"profiler_info_{rank}.json").write_text(json.dumps({"rank_id": rank, "config": {}}))
        with (output / "kernel_details.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(KERNEL_DETAILS)
            writer.writerows(_cells(row, self.server) for row in self.rows)
        if annotation:
            (output / "trace_view.json").write_text(json.dumps([*_events(self, annotation)]))
        return output.parent

    def write_batches(self, folder: Path, *, late_ns: int = 0, in_ms: bool = False, cards: int = 1) -> Path:
        """The batches of its service as msServiceProfiler tells those of vLLM; `late_ns`: how far its clock is apart."""
        folder.mkdir(parents=True, exist_ok=True)
        firsts = [*(one.first_ns for one in self.truth), self.rows[-1]["start"] + self.rows[-1]["length"] + LEAD_NS]
        with (folder / "batch.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(BATCHES)
            for number, (one, end) in enumerate(zip(self.truth, firsts[1:], strict=True)):
                start = one.first_ns - LEAD_NS - 1000 + late_ns
                length = end - LEAD_NS - 2000 + late_ns - start
                kind = {"prefill": "Prefill", "decode": "Decode", "mixed": "Prefill,Decode"}.get(one.phase)
                if kind is None:
                    continue
                told = f"{start // 1_000_000}.0" if in_ms else f"{start // 1_000_000}.{start % 1_000_000:06d}"
                for card in range(cards):
                    writer.writerow([
                        "modelExec", str(requests_of(one, number)), "", "", f"{length // 1_000_000}.{length % 1_000_000:06d}", kind, card, one.sequences, *[0] * 8, *[0] * 3, "<NA>", told, told,
                    ])  # fmt: skip
        return folder


def requests_of(one: Truth, number: int) -> list[dict[str, Any]]:
    """The requests of an iteration as hooks of vLLM write them: each sequence has 100 tokens in the cache."""
    decoded = one.tokens - one.prompt_tokens
    decoding = one.sequences if one.phase == "decode" else decoded
    sizes = [(1, decoded // decoding)] * decoding if decoding else []
    prompts = one.sequences - decoding
    if prompts:
        each, rest = divmod(one.prompt_tokens, prompts)
        sizes += [(0, each + rest)] + [(0, each)] * (prompts - 1)
    return [
        {"rid": f"{place}", "iter": number, "type": kind, "num_scheduled_tokens": size, "num_prompt_tokens": 100, "num_computed_tokens": 100}
        for place, (kind, size) in enumerate(sizes)
    ]  # fmt: skip


BATCHES = (
    "name", "res_list", "start_datetime", "end_datetime", "during_time(ms)", "batch_type", "prof_id", "batch_size", "prefill_batch_size",
    "decode_batch_size", "total_blocks", "used_blocks", "free_blocks", "blocks_allocated", "blocks_freed", "kvcache_usage_rate",
    "prefill_scheduled_tokens", "decode_scheduled_tokens", "total_scheduled_tokens", "dp_rank", "start_time(ms)", "end_time(ms)",
)  # fmt: skip


KERNEL_DETAILS = (
    "Device_id", "Model ID", "Task ID", "Stream ID", "Name", "Type", "OP State", "Accelerator Core", "Start Time(us)", "Duration(us)",
    "Wait Time(us)", "Block Num", "Mix Block Num", "HF32 Eligible", "Input Shapes", "Input Data Types", "Input Formats", "Output Shapes",
    "Output Data Types", "Output Formats", "Context ID",
)  # fmt: skip


def _us(ns: int) -> str:
    return f"{ns // 1000}.{ns % 1000:03d}"


def _cells(row: dict[str, Any], server: Server) -> list[Any]:
    shaped = server.has_shapes
    inputs, outputs = (row[side] if shaped and row[side] else "N/A" for side in ("inputs", "outputs"))
    shapes = [f'"{text}"' if text != "N/A" else text for text in (inputs, outputs)]
    return [
        0, 4294967295, row["task"], row["stream"], row["name"], row["type"] if server.has_types else "N/A",
"dynamic", row["core"], f"{_us(row['start'])}\t", _us(row["length"]),
        0, 24, 0, "NO", shapes[0], (row["kinds"] if shaped else None) or "N/A", ";".join(["ND"] * (inputs.count(";") + 1)), shapes[1],
        "DT_BF16", "ND", "N/A",
    ]  # fmt: skip


def _events(planted: Planted, annotation: str) -> Iterator[dict[str, Any]]:
    """A timeline whose host ranges are named as servers name them; each task is launched shortly before it runs."""
    process, host, device = 9, 4711 << 10 | 8 << 5, 4711 << 10 | 14 << 5
    for pid, name in ((process, "Python"), (host, "CANN"), (device, "Ascend Hardware")):
        yield {"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": name}}
    for number, row in enumerate(planted.rows):
        if row["core"] == "COMMUNICATION":
            continue
        told = {"connection_id": number + 1}
        yield {"name": row["name"], "pid": device, "tid": row["stream"], "ph": "X", "ts": _us(row["start"]), "dur": row["length"] / 1000,
               "args": {"Task Type": row["core"], "Task Id": row["task"], "Stream Id": row["stream"], **told}}  # fmt: skip
        yield {"name": "Node@launch", "pid": host, "tid": 7, "ph": "X", "ts": _us(row["start"] - LEAD_NS), "dur": 1.0,
               "args": {"level": "node", **told}}  # fmt: skip
    firsts = [*(one.first_ns for one in planted.truth), planted.rows[-1]["start"] + 10_000]
    for one, end in zip(planted.truth, firsts[1:], strict=True):
        prompts = one.sequences - (one.tokens - one.prompt_tokens) if one.phase != "decode" else 0
        decoded = one.tokens - one.prompt_tokens
        decoding = one.sequences if one.phase == "decode" else decoded
        name = annotation.format(prompts=prompts, prompt_tokens=one.prompt_tokens, decoding=decoding, decoded=decoded)
        start = one.first_ns - LEAD_NS - 500
        yield {
            "name": name,
            "pid": process,
            "tid": 9,
            "ph": "X",
            "ts": _us(start),
            "dur": (end - one.first_ns - 400) / 1000,
            "args": {},
        }


LEAD_NS = 20_000
VLLM = "execute_context_{prompts}({prompt_tokens})_generation_{decoding}({decoded})"


def _shape(*tensors: Sequence[int]) -> str:
    return ";".join(",".join(map(str, tensor)) for tensor in tensors)


class _Device:
    """Writes the tasks of one device, one behind the other."""

    def __init__(self, server: Server, random: np.random.Generator) -> None:
        self.server, self.random = server, random
        self.found = Planted(server=server)
        self.now = ORIGIN_NS
        self.blocks = int(random.integers(500, 4000))
        self.table = int(random.choice([32, 64, 256, 1024]))
        self.rate = float(random.uniform(0.5, 2.0))
        self.told = True

    def pause(self, us: float) -> None:
        self.now += round(us * 1000)

    def run(
        self,
        kind: str,
        us: float,
        inputs: str = "",
        outputs: str = "",
        kinds: str = "",
        core: str = "AI_CORE",
        name: str = "",
    ) -> None:
        """One task, and a little pause behind it."""
        rows = self.found.rows
        length = max(round(us * 1000 * self.rate * float(self.random.uniform(0.9, 1.1))), 400)
        stream = 2
        start = self.now
        if self.server.side_stream and kind == "SwiGlu" and self.random.random() < 0.5:
            stream, start = 5, max(self.now - 1500, ORIGIN_NS)
        told = self.told and core != "COMMUNICATION"
        rows.append(
            {
                "name": name or f"aclnn{kind}_{kind}AiCore_{kind}_{len(rows)}",
                "type": kind, "core": core, "start": start, "length": length, "stream": stream, "task": len(rows),
                "inputs": inputs if told else None, "outputs": outputs if told else None,
                "kinds": (kinds or ";".join(["DT_BF16"] * (inputs.count(";") + 1))) if told else None,
            }
        )  # fmt: skip
        self.now = max(self.now, start + length)
        gap = 0.2 if self.server.is_graph else float(self.random.exponential(self.server.gap_us))
        self.pause(gap)

    def product(self, rows: int, inner: int, columns: int, kind: str = "MatMulV2") -> None:
        self.run(
            kind,
            8 + rows * inner * columns * 2 / 2.5e8 + inner * columns / 1e6,
            _shape((rows, inner), (columns, inner)),
            _shape((rows, columns)),
        )

    def talk(self, kind: str, rows: int) -> None:
        self.run(
            f"{kind}",
            12 + rows * 0.02,
            core="COMMUNICATION",
            name=f"hcom_{kind}__{self.random.integers(900)}_{len(self.found.rows)}_1",
        )


def _attend(device: _Device, plan: Plan, tokens: int, sequences: int) -> None:
    """Writes to the cache, and attention of one layer."""
    one = device.server
    heads, head = max(one.heads // one.parallel, 1), 128
    cache = (device.blocks, 128, max(heads // 4, 1), head)
    table = (sequences, device.table)
    us = 10 + tokens * 0.02 + sum(prompt * prompt for prompt in plan.prompts) / 4e5
    if one.attention == "mla":
        return _attend_latent(device, plan, tokens, sequences)
    if one.attention == "incre":
        device.run(
            "ScatterUpdate",
            3,
            _shape((sequences, 4096, 128), (1,), (sequences, 1, 128)),
            _shape((sequences, 4096, 128)),
        )
        length = tokens // sequences
        name = "PromptFlashAttention" if plan.prompts else "IncreFlashAttention"
        width = heads * head if heads * head > 576 else 1024
        device.run(
            name,
            us,
            _shape((sequences, length, width), (sequences, 4096, width), (sequences, 4096, width)),
            _shape((sequences, length, width)),
        )
        return None
    slots = _shape((tokens, *cache[2:]), (tokens, *cache[2:]), cache, cache, (tokens,))
    writes = "ReshapeAndCacheNdKernel" if device.rate < 1.4 else "ScatterPaKvCache"
    device.run(writes, 3, slots, kinds="DT_BF16;DT_BF16;DT_BF16;DT_BF16;INT32")
    query = (tokens, heads, head)
    if one.attention == "fia-bnsd" and not plan.prompts:
        query = (sequences, heads, tokens // sequences, head) if tokens % sequences == 0 else query
    fresh = plan.prompts and not plan.decoding and not plan.resumed
    if one.attention == "atb":
        if fresh:
            device.run(
                "UnpadFlashAttentionBF16NdKernel",
                us,
                _shape(query, query, query, (128, 128), (sequences,)),
                _shape(query),
                "DT_BF16;DT_BF16;DT_BF16;DT_BF16;INT32",
            )
        else:
            device.run(
                "PagedAttentionMaskNdKernel",
                us,
                _shape(query, cache, cache, table, (sequences,)),
                _shape(query),
                "DT_BF16;DT_BF16;DT_BF16;INT32;INT32",
            )
        return None
    kind = "FusedInferAttentionScore"
    if fresh:
        key = (tokens, heads, head)
        device.run(
            kind,
            us,
            _shape(query, key, key) + f";;2048,2048;{sequences};{sequences}",
            _shape(query),
            "DT_BF16;DT_BF16;DT_BF16;DT_UNDEFINED;INT8;INT64;INT64",
        )
    else:
        key = (device.blocks, 128, cache[2] * head)
        device.run(kind, us, _shape(query, key, key) + f";;2048,2048;{sequences};{sequences};;;;;;;;{sequences},{device.table}", _shape(query),
                   "DT_BF16;DT_BF16;DT_BF16;DT_UNDEFINED;INT8;INT64;INT64" + ";DT_UNDEFINED" * 7 + ";INT32")  # fmt: skip
    return None


def _attend_latent(device: _Device, plan: Plan, tokens: int, sequences: int) -> None:
    one = device.server
    heads = max(one.heads // one.parallel, 1)
    decoded, prompts = tokens - sum(plan.prompts), sum(plan.prompts)
    del sequences
    device.run(
        "KvRmsNormRopeCache",
        4,
        _shape(
            (tokens, 1, 1, 576), (512,), (tokens, 1, 1, 64), (tokens, 1, 1, 64), (tokens,), (device.blocks, 128, 1, 64)
        ),
    )
    if prompts:
        query, us = (prompts, heads, 192), 10 + sum(prompt * prompt for prompt in plan.prompts) / 4e5
        for _ in range(1 + 2 * plan.resumed):
            device.run(
                "RINGMLAPrefillBF16Kernel", us, _shape(query, query, query, (512, 512)), _shape((prompts, heads, 128))
            )
    if decoded:
        count = plan.decoding
        query, cache = (count, heads, decoded // count, 512), (device.blocks, 1, 128, 512)
        device.run("FusedInferAttentionScore" if device.rate < 1.2 else "PagedMultiLatentAttentionSplitCacheMaskNdKernel", 15 + count * 0.1,
                   _shape(query, cache, cache) + f";;;{count};{count};;;;;;;;{count},{device.table}", _shape(query),
                   "DT_BF16;DT_BF16;DT_BF16;DT_UNDEFINED;DT_UNDEFINED;INT64;INT64" + ";DT_UNDEFINED" * 7 + ";INT32")  # fmt: skip


def _layer(
    device: _Device, plan: Plan, tokens: int, rows: int, sequences: int, number: int, *, attends: bool = True
) -> None:
    one = device.server
    hidden, inner = one.hidden, one.hidden * 3 // one.parallel
    device.run("RmsNorm" if number == 0 else "AddRmsNorm", 3, _shape((rows, hidden), (hidden,)), _shape((rows, hidden)))
    device.product(rows, hidden, hidden * 3 // 2 // one.parallel)
    device.run(
        "AtbRopeKernel" if device.rate < 1 else "RotaryMul", 4, _shape((rows, 2048), (rows, 128)), _shape((rows, 2048))
    )
    if attends:
        _attend(device, plan, tokens, sequences)
    device.product(rows, hidden // one.parallel, hidden)
    if one.parallel > 1:
        device.talk("allReduce", rows)
    device.run("AddRmsNorm", 3, _shape((rows, hidden), (rows, hidden), (hidden,)), _shape((rows, hidden)))
    if one.experts and number >= one.dense_layers:
        _experts(device, rows)
    else:
        device.product(rows, hidden, inner * 2)
        device.run("SwiGlu", 4, _shape((rows, inner * 2)), _shape((rows, inner)), core="AI_VECTOR_CORE")
        device.product(rows, inner, hidden)
    if one.parallel > 1:
        device.talk("allReduce", rows)


def _experts(device: _Device, rows: int) -> None:
    one = device.server
    hidden, count = one.hidden, rows * 8
    device.product(rows, hidden, 128)
    if one.routes_by_softmax:
        device.run("SoftmaxV2", 3, _shape((rows, 128)), _shape((rows, 128)))
        device.run("TopKV2", 9, _shape((rows, 128)), _shape((rows, 8)))
    else:
        device.run("MoeGatingTopKSoftmax", 5, _shape((rows, 128)), _shape((rows, 8)))
    first, last = (
        ("MoeDistributeDispatchV2", "MoeDistributeCombineV2")
        if one.experts == "mc2"
        else ("MoeInitRoutingV2", "MoeFinalizeRoutingV2")
    )
    device.run(first, 15, _shape((rows, hidden), (rows, 8)), _shape((count, hidden)))
    device.run("GroupedMatmul", 40 + count * 0.05, _shape((count, hidden), (16, hidden, 1536)), _shape((count, 1536)))
    device.run("SwiGlu", 4, _shape((count, 1536)), _shape((count, 768)), core="AI_VECTOR_CORE")
    device.run("GroupedMatmul", 30 + count * 0.05, _shape((count, 768), (16, 768, hidden)), _shape((count, hidden)))
    device.run(last, 15, _shape((count, hidden), (rows, 8)), _shape((rows, hidden)))


def _prepare(device: _Device, tokens: int, sequences: int) -> None:
    """What the server does before the model: slots, tables of blocks, positions."""
    for kind in device.random.choice(
        ["Cast", "Add", "FloorDiv", "MemSet", "Mul", "TensorMove"], int(device.random.integers(0, 6))
    ).tolist():
        device.run(kind, 2, _shape((tokens,)), _shape((tokens,)), core="AI_VECTOR_CORE")
    if device.random.random() < 0.5:
        device.run("GatherV2", 3, _shape((sequences, 64), (sequences,)), _shape((sequences, 64)), kinds="INT32;INT64")


def _encode(device: _Device, plan: Plan) -> None:
    """The pass of an encoder of images, which writes no cache."""
    count = 1024 * len(plan.prompts)
    query = (count, 16, 80)
    for _ in range(24 if device.server.encodes and plan.prompts else 0):
        device.product(count, 1280, 3840)
        shapes, kinds = _shape(query, query, query, (len(plan.prompts),)), "DT_BF16;DT_BF16;DT_BF16;INT32"
        device.run("UnpadFlashAttentionBF16NdKernel", 30, shapes, _shape(query), kinds)
        device.product(count, 1280, 1280)
        device.run("LayerNormV4", 4, _shape((count, 1280)), _shape((count, 1280)))


def _embed(device: _Device, rows: int) -> None:
    one = device.server
    for kind in ("GreaterEqual", "Less", "LogicalAnd", "Sub", "Mul") if one.parallel > 1 else ():
        device.run(kind, 1.5, _shape((rows,)), _shape((rows,)), core="AI_VECTOR_CORE")  # words of other ranks
    device.run(
        "GatherV2",
        5,
        _shape((one.vocabulary // one.parallel, one.hidden), (rows,), (1,)),
        _shape((rows, one.hidden)),
        "DT_BF16;INT64;INT64",
    )
    if one.parallel > 1:
        device.talk("allReduce", rows)
    device.run(
        "Index" if device.rate < 1 else "GatherV2",
        3,
        _shape((40960, 128), (rows,)),
        _shape((rows, 128)),
        "DT_BF16;INT64",
    )


def _draw(device: _Device, rows: int) -> None:
    """Random numbers for all words on a stream of their own, where the server does so."""
    if not device.server.draws_beside:
        return
    now, shape = device.now, _shape((rows, device.server.vocabulary))
    device.pause(float(device.random.uniform(1, 200)))
    for kind in ("DSARandomUniform", "Neg", "Log", "Mul"):
        device.run(kind, 15, shape, shape)
        device.found.rows[-1]["stream"] = 44
    device.now = now


def _sample(device: _Device, rows: int, tokens: int, *, is_draft: bool = False) -> None:
    one = device.server
    device.run("AddRmsNorm", 3, _shape((tokens, one.hidden), (one.hidden,)), _shape((tokens, one.hidden)))
    device.run(
        "GatherV2" if device.rate < 1 else "Index",
        3,
        _shape((tokens, one.hidden), (rows,)),
        _shape((rows, one.hidden)),
        "DT_BF16;INT64",
    )
    device.product(rows, one.hidden, one.vocabulary // one.parallel)
    if one.parallel > 1:
        device.talk("allGather", rows)
    if one.samples == "greedy" or is_draft:
        device.run("ArgMaxV2", 20, _shape((rows, one.vocabulary)), _shape((rows,)))
    else:
        draws = () if one.draws_beside else ("DSARandomUniform",)
        for kind in ("Cast", "Sort", "SoftmaxV2", "Cumsum", "MaskedFill", *draws, "ArgMaxV2"):
            device.run(kind, 20, _shape((rows, one.vocabulary)), _shape((rows, one.vocabulary)))
    if one.drafts and not is_draft:
        device.run("rejection_greedy_sample_kernel", 3, _shape((rows,)), _shape((rows,)))


def _iterate(device: _Device, plan: Plan) -> None:
    """One iteration."""
    one, random = device.server, device.random
    each = 1 + one.drafts
    sequences = len(plan.prompts) + plan.decoding
    tokens = sum(plan.prompts) + plan.decoding * each
    truth = Truth(plan.phase, sequences, tokens, sum(plan.prompts))
    is_graph = one.is_graph and not plan.prompts
    shown, shown_sequences = tokens, sequences
    if one.pads and is_graph and not one.drafts:
        shown = shown_sequences = 1 << (sequences - 1).bit_length()
    if not one.is_asynchronous:
        device.pause(float(random.uniform(80, 1500)))
    first = len(device.found.rows)
    _prepare(device, tokens, sequences)
    _encode(device, plan)
    if not is_graph and not one.is_asynchronous:
        device.pause(float(random.uniform(0, 60)))
    model = len(device.found.rows)
    if one.stage in {"middle", "last"}:
        device.talk("receive", tokens)
    device.told = one.graph_shapes or not is_graph
    if one.stage in {"", "first"}:
        _embed(device, shown)
    _draw(device, sequences)
    shaped = replace_decoding(plan, shown_sequences) if shown != tokens else plan
    for number in range(one.layers):
        _layer(device, shaped, shown, shown, shown_sequences, number)
    device.told = True
    if one.stage in {"", "last"}:
        _sample(device, sequences + plan.decoding * one.drafts, shown)
    else:
        device.talk("send", tokens)
    if one.drafts:
        device.pause(float(random.uniform(0, 80)))
        for _ in range(1 if random.random() < 0.5 else one.drafts):
            _embed(device, sequences)
            _layer(device, Plan((), sequences), sequences, sequences, sequences, 1)
            _sample(device, sequences, sequences, is_draft=True)
    truth.places = [*range(model, len(device.found.rows))]
    truth.first_ns = device.found.rows[first]["start"]
    device.found.truth.append(truth)


def replace_decoding(plan: Plan, decoding: int) -> Plan:
    """The same with another number of sequences, as padding makes it."""
    return replace(plan, decoding=decoding)


def _dummy(device: _Device) -> None:
    """A pass with invented inputs, which looks at no keys and makes no token."""
    tokens = int(device.random.choice([512, 2048]))
    device.pause(300)
    first = len(device.found.rows)
    if device.server.stage in {"", "first"}:
        _embed(device, tokens)
    for number in range(device.server.layers):
        _layer(device, Plan((tokens,), 0), tokens, tokens, 1, number, attends=False)
    truth = Truth("other", 0, tokens, 0, [*range(first, len(device.found.rows))], device.found.rows[first]["start"])
    device.found.truth.append(truth)


def _schedule(one: Server, random: np.random.Generator, count: int) -> Iterator[Plan]:
    """What a scheduler of vLLM lets iterations do."""
    waiting = [int(random.integers(8, 3000)) for _ in range(int(random.integers(1, 5)))]
    running: list[int] = []
    budget = int(random.choice([1024, 2048, 4096]))
    begun = 0
    for _ in range(count):
        if random.random() < 0.12 and len(running) < 48:
            waiting += [int(random.integers(8, 3000)) for _ in range(int(random.integers(1, 4)))]
        if not running and not waiting:
            waiting.append(int(random.integers(8, 3000)))
        resumed = begun > 0
        if one.scheduler == "prefill first" and waiting:
            length = waiting[0]
            prompts = [*waiting] if one.attention != "incre" else [length]
            waiting = [] if one.attention != "incre" else waiting[1:]
            running += [int(random.integers(4, 80)) for _ in prompts]
            yield Plan(tuple(prompts), 0, resumed=one.caches_prefixes)
            continue
        decoding = len(running)
        left, prompts, done = budget - decoding * (1 + one.drafts), [], 0
        while waiting and left > 0:
            take = min(waiting[0], left)
            prompts.append(take)
            left -= take
            waiting[0] -= take
            begun = take if waiting[0] else 0
            if not waiting[0]:
                waiting.pop(0)
                done += 1
        running = [length - 1 for length in running if length > 1]
        running += [int(random.integers(4, 80)) for _ in range(done)]
        yield Plan(tuple(prompts), decoding, resumed=resumed)


def _random(random: np.random.Generator, **fixed: Any) -> Server:
    """A server with some things by chance."""
    parallel = int(random.choice([1, 2, 4, 8]))
    values: dict[str, Any] = {
        "layers": int(random.integers(8, 33)),
        "hidden": int(random.choice([1024, 2048, 4096, 5120])),
        "heads": int(random.choice([16, 32, 64])),
        "vocabulary": int(random.choice([32_000, 129_280, 151_936])),
        "parallel": parallel,
        "samples": str(random.choice(["greedy", "random"])),
        "side_stream": bool(random.random() < 0.3),
    }
    return Server(**values | fixed)


KINDS: dict[str, Callable[[np.random.Generator], Server]] = {
    "dense, FIA, chunked": _random,
    "dense, ATB, chunked": lambda random: _random(random, attention="atb"),
    "dense, ATB, prefill first": lambda random: _random(random, attention="atb", scheduler="prefill first"),
    "dense, FIA, prefill first": lambda random: _random(random, scheduler="prefill first"),
    "dense, FIA in batches": lambda random: _random(random, attention="fia-bnsd"),
    "cached prefixes": lambda random: _random(random, scheduler="prefill first", caches_prefixes=True),
    "prompt and incremental": lambda random: _random(random, attention="incre", scheduler="prefill first"),
    "MoE, MC2": lambda random: _random(random, experts="mc2", is_graph=True),
    "MoE, softmax routing": lambda random: _random(random, experts="all-gather", routes_by_softmax=True),
    "MoE, MLA": lambda random: _random(random, attention="mla", experts="mc2", dense_layers=3),
    "graphs": lambda random: _random(random, is_graph=True),
    "graphs, padded": lambda random: _random(random, is_graph=True, pads=True),
    "graphs without shapes": lambda random: _random(random, is_graph=True, graph_shapes=False),
    "graphs, asynchronous": lambda random: _random(random, is_graph=True, is_asynchronous=True),
    "asynchronous": lambda random: _random(random, is_asynchronous=True),
    "random numbers beside": lambda random: _random(random, samples="random", draws_beside=True, is_graph=True),
    "few layers": lambda random: _random(random, layers=2),
    "one layer": lambda random: _random(random, layers=1, is_asynchronous=True),
    "encoder of images": lambda random: _random(random, encodes=True),
    "drafts": lambda random: _random(random, drafts=int(random.integers(1, 4))),
    "drafts, MLA": lambda random: _random(random, attention="mla", experts="mc2", drafts=1),
    "dummy runs": lambda random: _random(random, dummies=int(random.integers(1, 4))),
    "late host": lambda random: _random(random, gap_us=float(random.uniform(10, 60))),
    "late host, MLA": lambda random: _random(random, attention="mla", experts="mc2", gap_us=30.0),
    "late host, last stage": lambda random: _random(random, stage="last", gap_us=30.0),
    "late host, middle stage": lambda random: _random(random, stage="middle", gap_us=30.0),
    "late host, drafts": lambda random: _random(random, drafts=1, gap_us=30.0),
    "first stage": lambda random: _random(random, stage="first"),
    "middle stage": lambda random: _random(random, stage="middle"),
    "last stage": lambda random: _random(random, stage="last"),
    "begins within": lambda random: _random(random, is_cut=True),
    "no shapes, ATB": lambda random: _random(random, attention="atb", scheduler="prefill first", has_shapes=False),
    "names alone": lambda random: _random(random, attention="incre", scheduler="prefill first", has_shapes=False, has_types=False),
}  # fmt: skip
HARD: dict[str, Callable[[np.random.Generator], Server]] = {
    "no shapes, FIA": lambda random: _random(random, has_shapes=False),
    "names alone, MLA": lambda random: _random(
        random, attention="mla", experts="mc2", has_shapes=False, has_types=False
    ),
}
"""Kinds of which no more than a part can be told."""


def planted(kind: str, seed: int, count: int = 40) -> Planted:
    """The capture of a kind and seed."""
    random = np.random.default_rng([seed, *kind.encode()])
    server = {**KINDS, **HARD}[kind](random)
    return planted_by(server, random, count)


def planted_by(server: Server, random: np.random.Generator, count: int = 40) -> Planted:
    """The capture of a server."""
    device = _Device(server, random)
    for _ in range(server.dummies):
        _dummy(device)
    for plan in _schedule(server, random, count):
        _iterate(device, plan)
    found = device.found
    if server.is_cut:
        begin = int(random.integers(1, len(found.truth[0].places)))
        gone = found.truth[0].places[begin]
        found.rows = found.rows[gone:]
        for one in found.truth:
            one.places = [place - gone for place in one.places if place >= gone]
    return found


def right(one: Planted, iteration_of: Sequence[int], phases: Sequence[str]) -> list[bool]:
    """Whether each planted iteration is told: all of its tasks, none of another one's, and its phase."""
    whose: dict[int, set[int]] = {}
    for number, truth in enumerate(one.truth):
        for place in truth.places:
            whose.setdefault(int(iteration_of[place]), set()).add(number)
    found = []
    for number, truth in enumerate(one.truth):
        mine = {int(iteration_of[place]) for place in truth.places}
        (told,) = mine if len(mine) == 1 else (-1,)
        found.append(told >= 0 and whose[told] == {number} and phases[told] == truth.phase)
    return found
