"""Which of the claimed operators used the bank when they were compiled, as logs of CANN say it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from aoe_reports.formats.aoe.bank_log import BankHit, BankLogs, hit_of
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import Text
from aoe_reports.topics.banks.uses import hits_by_name, use_of_bank
from aoe_reports.tuning.tuner import Claims


@row
class BankUse:
    """Which tuned operators used the bank, by their names."""

    logs: Sequence[str] = column()
    """Where the logs lie."""
    used: Sequence[str] = column(default=())
    not_used: Sequence[str] = column(default=())
    contradicted: Sequence[str] = column(default=())
    """Found in a bank by some lines, not found by others: the verdict is that of the measurement."""
    not_counted: Sequence[str] = column(default=())
    """The log has them, and says that they do not count."""
    not_named: Sequence[str] = column(default=())
    """The log has no line on them."""
    subgraphs: int = column(default=0)
    """How many subgraphs the log has, tuned or not."""
    subgraphs_used: int = column(default=0)

    def sentences(self) -> list[Text]:
        """How many used it, and which did not."""
        names: dict[BankHit, Sequence[str]] = {
            "hit": self.used,
            "missed": self.not_used,
            "mixed": self.contradicted,
            "not-counted": self.not_counted,
        }
        return use_of_bank({name: hit for hit, some in names.items() for name in some}, tuned=True)


@dataclass(frozen=True, slots=True)
class Uses:
    """What logs say of the claimed operators, and of all subgraphs."""

    hits: Mapping[str, BankHit] = field(default_factory=dict)
    subgraphs: Mapping[str, BankHit] = field(default_factory=dict)

    @property
    def unused(self) -> frozenset[str]:
        """The claimed operators that did not use the bank."""
        return frozenset(name for name, hit in self.hits.items() if hit == "missed")

    @property
    def tell(self) -> bool:
        """Whether they say of any claimed operator, or of any subgraph, that it used the bank or not."""
        return any(hit != "not-counted" for hit in (*self.hits.values(), *self.subgraphs.values()))

    def nothing_used(self, claims: Claims) -> bool:
        """Whether nothing that is claimed used the bank: the profiles show nothing of it."""
        if not claims.operators and not claims.subgraphs:
            return False
        operators = all(claim.op_name in self.unused for claim in claims.operators)
        subgraphs = bool(self.subgraphs) and set(self.subgraphs.values()) == {"missed"}
        return operators and (subgraphs or not claims.subgraphs)

    def use_of(self, names: Sequence[str], logs: Sequence[str]) -> BankUse:
        """The same as it is shown; `names`: those that are claimed."""
        having: dict[BankHit | None, list[str]] = {}
        for name in dict.fromkeys(names):
            having.setdefault(self.hits.get(name), []).append(name)
        return BankUse(
            logs=tuple(logs),
            used=tuple(having.get("hit", ())),
            not_used=tuple(having.get("missed", ())),
            contradicted=tuple(having.get("mixed", ())),
            not_counted=tuple(having.get("not-counted", ())),
            not_named=tuple(having.get(None, ())),
            subgraphs=len(self.subgraphs),
            subgraphs_used=Counter(self.subgraphs.values())["hit"],
        )


def uses_of(logs: BankLogs, names: Collection[str]) -> Uses:
    """What logs say of operators of these names; where a name itself begins like numbers of a graph, with these, too."""
    wanted = set(names)
    hits: dict[str, Counter[BankHit]] = {}
    for searched, lines in logs.searches.items():
        if searched.kind != "operator":
            continue
        whole = searched.name if searched.graph is None else f"{searched.graph}_{searched.name}"
        for name in wanted & {searched.name, whole}:
            hits.setdefault(name, Counter())[lines.status] += 1
    return Uses({name: hit_of(hits[name]) for name in sorted(hits)}, hits_by_name(logs, "subgraph"))
