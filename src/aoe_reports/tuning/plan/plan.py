"""The plan of a tuning job (`plan.json`): what AOE is to tune and why, what it is not to, and how it is run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal

from msgspec import convert

from aoe_reports.model.classes import made
from aoe_reports.model.documents import Json, JsonObject
from aoe_reports.model.rows import column, row, row_from
from aoe_reports.model.texts import say
from aoe_reports.tuning.options import Mode, Scenario, Seed

StageName = Literal["sgat", "opat", "gdat"]

TENSORFLOW: frozenset[Scenario] = frozenset({"tf-training", "tf-online-inference"})

FORMAT_VERSION = 1

DEFAULT_TUNER = "aoe"
"""Whom a plan is for that names no tuner: what `plan` makes."""

REDACTED = "***"
"""Stands for a secret in all that is written down."""

STAGES_OF: dict[Mode, tuple[StageName, ...]] = {
    "opat": ("opat",),
    "sgat": ("sgat",),
    "both": ("sgat", "opat"),  # the shapes of operators are final only when subgraphs are cut (AOE guide, workflow)
    "gdat": ("gdat",),
}
"""What AOE runs, in order."""


@row
class Candidate:
    """What is worth tuning: an operator, a whole operator type (no `op_name`), or the model's subgraphs."""

    kind: Literal["operator", "subgraph"] = column("Kind", "word", detail=True)
    op_name: str | None = column("Operator", default=None)
    op_type: str | None = column("Operator type", default=None, before="op_name")
    input_shapes: str | None = column("Input shapes", default=None)
    input_data_types: str | None = column(default=None)
    """Null, as formats and the output's types, where not all its tasks have the same."""
    input_formats: str | None = column(default=None)
    output_data_types: str | None = column(default=None)
    count: int | None = column("Tasks", "integer", default=None, detail=True)
    total_us: float | None = column("Total", "us", default=None, detail=True)
    share: float | None = column("Share of the step", "percent", default=None)
    bound_by: str | None = column("Bound by", "word", default=None, detail=True)
    bound_saving_us: float | None = column("Bound, per step", "us", default=None, detail=True)
    path_saving_us: float | None = column("Bound by path, per step", "us", default=None, detail=True)
    expected_saving_us: float | None = column("Expected, per step", "us", default=None)
    prior: Any = column(default=None)
    """What is known of tuning such operators, as whoever made the plan writes it."""
    cost_s: float | None = column("Tuning time", "s", default=None)
    reason: str | None = column("Basis of the estimate", "sentence", default=None, detail=True)

    @property
    def assumed(self) -> bool:
        """Whether its saving comes from no result of its type."""
        return isinstance(self.prior, Mapping) and self.prior.get("source") == "default"


@row
class _Place:
    position: int = column("#", "integer")


@row
class PlacedCandidate(Candidate, _Place):
    """A candidate and its place among them."""


@row
class Rejected:
    """What is not tuned, and why."""

    op_name: str | None = column("Operator", default=None)
    op_type: str | None = column("Operator type", default=None, before="op_name")
    total_us: float | None = column("Total", "us", default=None)
    reason: str | None = column("Reason", "sentence", default=None)


@dataclass(frozen=True, slots=True)
class Job:
    """How AOE is run. Paths are absolute or relative to the plan's folder, and then do not leave it."""

    command: tuple[str, ...] = ()
    """The command that trains or infers, where that is what tunes; each argument by itself."""
    working_folder: str | None = None
    """Where the command runs; a fresh folder unless told."""
    model: str | None = None
    weight: str | None = None
    model_path: str | None = None
    framework: int | None = None
    """0 Caffe, 1 MindSpore (.air), 3 TensorFlow, 5 ONNX."""
    device: int | None = None
    te_parallel: int | None = None
    """TE_PARALLEL_COMPILER: how many operators are compiled at once; what is inherited counts where it is null."""
    options: tuple[str, ...] = ()
    """More options for aoe, each as `--name=value` or `--name`."""
    bank_seed: Seed = "copy"


@dataclass(frozen=True, slots=True)
class Plan:
    """A tuning job as planned; times in us, shares as fractions of the step; null is not known."""

    scenario: Scenario
    mode: Mode
    profile: str | None = None
    baseline_hash: str | None = None
    soc: str | None = None
    engine_version: str | None = None
    bank: str | None = None
    """The bank in use when the plan was made, laid out as under TUNE_BANK_PATH; null: what the environment says."""
    repeat_tune: bool = False
    step_us: float | None = None
    computing_share: float | None = None
    communication_not_overlapped_share: float | None = None
    free_share: float | None = None
    bound_saving_us: float | None = None
    bound_saving_share: float | None = None
    candidates: tuple[Candidate, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    cube_blocks: int | None = None
    """The blocks of the operator of most on cube cores (of older chips: AI Cores); null: the profile tells no blocks."""
    vector_blocks: int | None = None
    cube_cores: int | None = None
    """Of the profiled chip, where its profile tells them. More blocks than cores run one behind the other."""
    vector_cores: int | None = None
    device_memory_used_bytes: int | None = None
    """The most device memory that the profile shows as reserved."""
    expected_files: tuple[str, ...] = ()
    """Relative to the plan's folder."""
    job: Job = field(default_factory=Job)
    tuner: str = DEFAULT_TUNER

    @property
    def operators(self) -> tuple[Candidate, ...]:
        """The candidates that operator tuning is asked for."""
        return tuple(candidate for candidate in self.candidates if candidate.kind == "operator")

    @property
    def expected_saving_us(self) -> float | None:
        """What all candidates together are expected to save of a step; null without a candidate."""
        return _sum(candidate.expected_saving_us for candidate in self.candidates)

    @property
    def assumed(self) -> tuple[Candidate, ...]:
        """The candidates whose saving is assumed: no result of their type is known."""
        return tuple(candidate for candidate in self.candidates if candidate.assumed)

    @property
    def assumed_saving_us(self) -> float | None:
        """The part of `expected_saving_us` that is assumed; null where it is 0 or not known."""
        return _sum(one.expected_saving_us for one in self.assumed)

    @property
    def placed(self) -> list[PlacedCandidate]:
        """The candidates with their places."""
        return [row_from(PlacedCandidate, one, position=i) for i, one in enumerate(self.candidates, start=1)]

    def stages(self) -> tuple[StageName, ...]:
        """What AOE is to run, in order: nothing without a candidate, no operator tuning without an operator."""
        if self.mode == "gdat":
            return ("gdat",)
        if not self.candidates:
            return ()
        return tuple(stage for stage in STAGES_OF[self.mode] if stage != "opat" or self.operators)


@dataclass(frozen=True, slots=True)
class TuneOps:
    """What AOE's `tune_ops_file` asks for: the union of some operators and of all operators of some types."""

    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()

    def as_document(self) -> dict[str, list[str]]:
        """The file's content: both lists and nothing else."""
        return {"tune_ops_name": list(self.names), "tune_ops_type": list(self.types)}


def tune_ops_of_plan(plan: Plan) -> TuneOps | None:
    """What operator tuning is restricted to; None without an operator (an empty file might mean everything)."""
    names = dict.fromkeys(c.op_name for c in plan.operators if c.op_name)
    types = dict.fromkeys(c.op_type for c in plan.operators if c.op_type and not c.op_name)
    return TuneOps(tuple(names), tuple(types)) if names or types else None


def tune_ops_of_document(document: Any) -> TuneOps | None:
    """The two lists of a parsed `tune_ops_file`; None for what is not exactly that, or asks for nothing."""
    if not isinstance(document, dict) or not document.keys() <= {"tune_ops_name", "tune_ops_type"}:
        return None
    lists = [document.get(key, []) for key in ("tune_ops_name", "tune_ops_type")]
    if not all(isinstance(one, list) and all(isinstance(x, str) and x for x in one) for one in lists) or not any(lists):
        return None
    return TuneOps(tuple(dict.fromkeys(lists[0])), tuple(dict.fromkeys(lists[1])))


def _sum(values: Iterable[float | None]) -> float | None:
    """The sum of what is known; null where nothing is."""
    known = [value for value in values if value is not None]
    return round(sum(known), 3) if known else None


def plan_of_document(document: Json) -> Plan:
    """The plan of a document that fits the schema `plan`; keys that it does not name are left out."""
    made(Candidate), made(Rejected)
    return convert(document, Plan)


def document_of_plan(plan: Plan) -> JsonObject:
    """What is written into plan.json, in the order of the contract."""
    document = asdict(plan)
    if plan.tuner == DEFAULT_TUNER:
        del document["tuner"]
    for name in ("expected_saving_us", "assumed_saving_us"):
        document[name] = getattr(plan, name)
    order = ("profile", "baseline_hash", "soc", "engine_version", "scenario", "mode")
    return {"format_version": FORMAT_VERSION, **{key: document.pop(key) for key in order}, **document}


def to_json(document: object) -> str:
    """A document as the files of a plan's folder hold it."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def path_problems(plan: Plan) -> Iterator[tuple[str, str]]:
    """(JSON Pointer, message) of paths that lead where no path of a plan may."""
    for i, path in enumerate(plan.expected_files):
        if _leaves(path) or PurePosixPath(path).is_absolute():
            yield f"/expected_files/{i}", say("{path!r} points outside the plan's folder", path=path)
    named = {f"/job/{key}": getattr(plan.job, key) for key in ("model", "weight", "model_path", "working_folder")}
    for at, path in {"/bank": plan.bank, **named}.items():
        if path is not None and _leaves(path):
            yield at, say("{path!r} points outside the plan's folder; only absolute paths may do so", path=path)


def _leaves(path: str) -> bool:
    pure = PurePosixPath(path)
    return not path or "\0" in path or (not pure.is_absolute() and ".." in pure.parts)
