"""The page that is signed for a tuning: what was claimed, measured and used, on which machine, from which files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aoe_reports.formats.sources.digest import sha256_of
from aoe_reports.formats.tuner_files import TUNERS
from aoe_reports.jobs.verify_answer import VerifyFacts
from aoe_reports.jobs.verify_case import Measured
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.report import Section
from aoe_reports.model.rows import Rows, column, row
from aoe_reports.model.texts import Text, count_of, join, say
from aoe_reports.model.version import __version__
from aoe_reports.present.answers import section_of
from aoe_reports.present.night import findings_section
from aoe_reports.topics.comparison.compared_runs import FACTS, ComparedRun, settings_of, words_of
from aoe_reports.tuning.tuner import tuner
from aoe_reports.tuning.verify.rows import Row, Verdict

SHOWN_OPERATORS, SHOWN_FILES, SHOWN_FINDINGS = 8, 5, 3
"""What fits on one page of paper; the details have the others."""


@row
class JudgedChange:
    """A change as it is signed for; changes are after/before - 1."""

    what: str = column("Change of")
    claimed_change: float | None = column("Claimed", "gain", default=None)
    change: float | None = column("Measured", "gain", default=None)
    ci_low: float | None = column("from", "gain", default=None)
    ci_high: float | None = column("to", "gain", default=None)
    verdict: Verdict = column("Verdict", "state")


@row
class RecordedFact:
    """A fact about the machine on both sides."""

    fact: str = column("Fact")
    before: str | None = column("Before", default=None)
    after: str | None = column("After", default=None)


@row
class HashedFile:
    """What the verdict rests on."""

    content: str = column("Content")
    place: str = column("Path")
    sha256: str | None = column("SHA-256", default=None)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a verdict rests on: both sides, the files with claims, and the private bank that was measured, if there is one."""

    before: Measured
    after: Measured
    claims: Sequence[Path]
    bank: tuple[Path, str] | None = None
    """Its folder and the digest of its content."""


def sign_off(
    rows: Sequence[Row], facts: VerifyFacts, findings: Sequence[Finding], evidence: Evidence, lines: Sequence[str]
) -> list[Section]:
    """The sections of the page; `lines` say whether the rule is met and what to do."""
    changes = Rows(type=JudgedChange, rows=list(_changes(rows, facts)), title=say("Claimed and measured"))
    environment = Rows(type=RecordedFact, rows=list(_environment(evidence)), title=say("Environment"))
    files = Rows(type=HashedFile, rows=list(_files(evidence)), title=say("Files"))
    return [
        section_of(
            replace(changes, sentences=[*_left_out(rows), say("Changes are after/before - 1: below 0 is faster.")])
        ),
        Section(say("Conclusion"), lines=[_use(facts, evidence), *lines]),
        section_of(environment),
        section_of(files),
        findings_section(findings, SHOWN_FINDINGS, say("this page")),
    ]


def files_in(place: Path) -> list[Path]:
    """The files directly in a folder; empty if it cannot be read."""
    with suppress(OSError):
        return sorted(path for path in place.iterdir() if path.is_file())
    return []


def claim_files(places: Sequence[Path]) -> list[Path]:
    """The named files, and in named folders those that bear a name that some tuner gives its results."""
    tuners = [tuner(name) for name in TUNERS]
    return [
        path
        for place in places
        for path in ([place] if place.is_file() else files_in(place))
        if path == place or any(each.is_result(path.name) for each in tuners)
    ]


def _operators(rows: Sequence[Row]) -> list[Row]:
    return [each for each in rows if each.scope == "operator"]


def _left_out(rows: Sequence[Row]) -> list[Text]:
    count = len(_operators(rows))
    if count <= SHOWN_OPERATORS:
        return []
    return [say("The first {shown} of {count} operators.", shown=SHOWN_OPERATORS, count=count)]


def _changes(rows: Sequence[Row], facts: VerifyFacts) -> Iterator[JudgedChange]:
    """The step, all tuned operators together, the first operators."""
    for each in rows:
        if each.scope == "step" and each.change is not None:
            yield _judged(say("Step"), each)
    together = None if facts.method is None else facts.method.operators_together
    if together is not None:
        yield _judged(say("All tuned operators"), together)
    for each in _operators(rows)[:SHOWN_OPERATORS]:
        yield _judged(each.op_name or each.op_type or say("unknown"), each)


def _judged(what: str, each: Row) -> JudgedChange:
    return JudgedChange(
        what=what,
        claimed_change=each.claimed_change,
        change=each.change,
        ci_low=each.ci_low,
        ci_high=each.ci_high,
        verdict=each.verdict,
    )


def _use(facts: VerifyFacts, evidence: Evidence) -> Text:
    """Whether what was tuned was in use on the side after."""
    if facts.bank_use is not None and (told := facts.bank_use.sentences()):
        return say("In use, by CANN's log: {told}.", told=join("; ", told))
    if facts.signs:
        return say("In use: doubtful. {sign}.", sign=facts.signs[0])
    if evidence.bank is None:
        return say("In use: not known; no private bank belongs to this comparison.")
    return say("In use: neither the profiles nor the bank show a sign that the tuned bank was not used.")


_FACTS: Sequence[tuple[str, Callable[[ComparedRun], Any]]] = (
    (say("Chip"), FACTS["device type"]),
    (say("CANN version"), FACTS["CANN version"]),
    (say("Driver"), lambda run: _settings(run, "driver")),
    (say("Host"), lambda run: sorted({capture.info.host for capture in run.captures if capture.info.host})),
    (say("Profiler level"), FACTS["profiler level"]),
    (say("Other versions"), lambda run: _settings(run, "version")),
)
"""What an engineer writes down of a machine; a fact that no file records is left to be filled in by hand."""


def _settings(run: ComparedRun, part: str) -> list[str]:
    return [f"{name} {value}" for name, value in settings_of(run).items() if part in name.casefold()][:SHOWN_FILES]


def _environment(evidence: Evidence) -> Iterator[RecordedFact]:
    runs = (evidence.before.as_run(), evidence.after.as_run())
    for fact, of in _FACTS:
        before, after = (_in_words(of(run)) for run in runs)
        yield RecordedFact(fact=fact, before=before, after=after)
    captures = [str(len(side.profiles)) for side in (evidence.before, evidence.after)]
    yield RecordedFact(fact=say("Captures"), before=captures[0], after=captures[1])
    yield RecordedFact(fact="aoe-reports", before=__version__, after=__version__)


def _in_words(value: Any) -> str | None:
    if value is None or value == []:
        return None
    return words_of(tuple(value) if isinstance(value, list) else value)


def _files(evidence: Evidence) -> Iterator[HashedFile]:
    for words, side in ((say("Profile before"), evidence.before), (say("Profile after"), evidence.after)):
        for profile in side.profiles[:SHOWN_FILES]:
            yield HashedFile(content=words, place=str(profile.path), sha256=profile.digest)
        if rest := len(side.profiles[SHOWN_FILES:]):
            yield HashedFile(content=words, place=count_of(rest, "{number} more capture", "{number} more captures"))
    for path in evidence.claims[:SHOWN_FILES]:
        yield HashedFile(content=say("Claims"), place=str(path), sha256=_hash_of(path))
    if rest := len(evidence.claims[SHOWN_FILES:]):
        yield HashedFile(content=say("Claims"), place=count_of(rest, "{number} more file", "{number} more files"))
    if evidence.bank is not None:
        folder, digest = evidence.bank
        yield HashedFile(content=say("Private bank"), place=str(folder), sha256=digest)


def _hash_of(path: Path) -> str | None:
    """None of a folder, and of a file that is no longer there."""
    try:
        return sha256_of(path, say("a file with claims"))
    except ReadError:
        return None
