"""The static dashboard of a store as a folder: what changed is written, what did not stays the same file, all of it at once."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from aoe_reports.engine.locks import MANIFEST, locked
from aoe_reports.engine.output import REPORT_FILES, REPORT_PAGE
from aoe_reports.history.detection.run import DetectorRun
from aoe_reports.history.runs.stored_advice import StoredAdvice
from aoe_reports.history.site_facts import RunFacts, SeriesFacts, StoreFacts
from aoe_reports.model.documents import Json, JsonObject
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.history.metrics import TIME_UNIT
from aoe_reports.model.rows import as_mapping, column, row
from aoe_reports.model.texts import Language, say
from aoe_reports.site import FORMAT
from aoe_reports.site.as_json import as_json
from aoe_reports.site.listed import Listed
from aoe_reports.site.navigation import PAGES
from aoe_reports.site.pages.by_model import facts_by_model
from aoe_reports.site.pages.comparison import (
    KEYS_AT,
    compare_runs,
    comparison_page,
    keys_file,
    list_file,
    page_of,
    pairs_of,
    run_file,
)
from aoe_reports.site.pages.history import Look, Marks, hindsight_of, past_in, versions_in, watch_of
from aoe_reports.site.pages.model import model_page
from aoe_reports.site.pages.overview import run_row
from aoe_reports.site.pages.run import Surroundings, changes_table, run_page, state_part, surroundings_of
from aoe_reports.site.pages.series import differences_of, series_page, sides_of, together_with
from aoe_reports.site.places import MODELS, file_name, model_file
from aoe_reports.site.publish import Generation, key_of, new_generation
from aoe_reports.site.render import ASSETS, Content, Context, asset, links_of, look, render_page
from aoe_reports.site.stored import read_details, read_facts
from aoe_reports.site.texts import Texts
from aoe_reports.stats.budget import FALSE_ALARMS_PER_YEAR
from aoe_reports.store import History

_BEGINNING = ("incident", "since", "since_run", "since_now", "metadata")
"""What the page of a series says of the begin of its incident."""
KINDS = ("overview", "model", "series", "run", "comparison", "asset")


@row
class BuiltPages:
    """How many pages of a kind there are, were written, stayed what they were, and are no more."""

    kind: str = column("Kind", "word")
    pages: int = column("Pages", "integer")
    written: int = column("Written", "integer")
    unchanged: int = column("Unchanged", "integer")
    removed: int = column("Removed", "integer")


def build_site(
    store: str,
    folder: Path,
    *,
    false_alarms_per_year: float = FALSE_ALARMS_PER_YEAR,
    language: Language = "en",
    detected: DetectorRun | None = None,
    gates: Sequence[str] = (),
    metrics: Path | None = None,
) -> list[BuiltPages]:
    """Write the dashboard of a store into a folder, which is replaced as a whole; all series share the false alarms.

    Those that `gates` with a budget name have that instead. What the detector said before is taken from `detected` where the store's nights are still the same.
    `metrics` is the file that declares what metrics mean.
    """
    refuse_other_folder(folder)
    try:
        existed = folder.exists()
        with locked(folder):
            try:  # facts are read by whoever is alone: what comes later is never older
                history, facts = read_facts(store, false_alarms_per_year, detected, gates, metrics)
                made: JsonObject = {"format": FORMAT, "language": language, "look": look()}
                with new_generation(folder, made) as generation:
                    return _Builder(
                        store, history, facts, generation, Texts(language), report=(folder / REPORT_PAGE).is_file()
                    ).build()
            except BaseException:
                if not existed:
                    with contextlib.suppress(OSError):
                        folder.rmdir()
                raise
    except OSError as error:
        raise AoeReportsError(
            say("{folder}: the site cannot be written: {why}", folder=folder, why=error.strerror or error)
        ) from error


def refuse_other_folder(folder: Path) -> None:
    """A site takes the whole folder: one that holds something else is left alone."""
    if folder.exists() and not folder.is_dir():
        raise AoeReportsError(say("{folder}: this is a file; expected a folder for the site", folder=folder))
    if not folder.exists() or (folder / MANIFEST).is_file():
        return
    others = sorted({path.name for path in folder.iterdir()} - set(REPORT_FILES))
    if others:
        raise UsageError(
            say(
                (
                    "{folder}: this folder contains {other} and is not a site; expected a new or an empty folder, or "
                    "a site"
                ),
                folder=folder,
                other=others[0],
            )
        )


class _Builder:
    """One build: facts in, files of a generation out."""

    def __init__(
        self, store: str, history: History, facts: StoreFacts, generation: Generation, text: Texts, *, report: bool
    ) -> None:
        self.store, self.history, self.facts, self.generation, self.text = store, history, facts, generation, text
        self.report = report
        self.counts = {kind: {"pages": 0, "written": 0, "unchanged": 0, "removed": 0} for kind in KINDS}
        self.pages = frozenset(series.id for series in facts.series if series.has_page)
        self.rows = {series.id: series.row for series in facts.series}
        nights = facts.nights
        self.made_from = (
            text(
                "Generated from the {runs} runs of the store up to the night {night}. All times are UTC.",
                runs=len(facts.runs),
                night=nights[-1],
            )
            if nights
            else text("Generated from a store without runs.")
        )
        # pages of runs that led to a series that is no more are made anew
        there = {f"series/{file_name(series_id)}.html" for series_id in self.pages} | {"series/index.html"}
        self.lost = any(
            name.startswith("series/") and name.endswith(".html") and name not in there for name in generation.known
        )
        self.versions = {run.run_id: run.versions for run in facts.runs}

    def build(self) -> list[BuiltPages]:
        for name in ASSETS:
            content = asset(name)
            self._put("asset", [f"assets/{name}"], key_of(content), lambda content=content: [content])
        for series in self.facts.series:
            if series.has_page:
                self._series(series)
        self._runs()
        self._comparisons()
        self._models()
        self._lists()
        gone = set(self.generation.known) - set(self.generation.files)
        for name in gone:
            self.counts[_kind_of(name)]["removed"] += 1
        return [BuiltPages(kind=kind, **counts) for kind, counts in self.counts.items()]

    def _put(self, kind: str, names: Sequence[str], key: str, make: Any, *, anew: bool = False) -> None:
        """Keep the files of a page whose key is unchanged, else write them."""
        counts = self.counts[kind]
        counts["pages"] += 1
        if not anew and all(self.generation.unchanged(name, key) for name in names):
            for name in names:
                self.generation.keep(name)
            counts["unchanged"] += 1
            return
        for name, content in zip(names, make(), strict=True):
            self.generation.write(name, key, content)
        counts["written"] += 1

    def _page(self, template: str, kind: str, name: str, page: Context, entry: str = "") -> bytes:
        """A page with its frame; `entry` is its entry in the navigation."""
        root = "../" if "/" in name else ""
        frame = {
            "page": kind,
            "root": root,
            "links": links_of(self.text, PAGES, root, entry),
            "twin": name.rpartition("/")[2].removesuffix(".html") + ".json",
            "made_from": self.made_from if entry else "",
            "report": self.report,
        }
        return render_page(template, self.text, {**frame, **page})

    def _both(self, template: str, kind: str, name: str, content: Content, entry: str = "") -> list[bytes]:
        page, twin = content
        document = {"format_version": 1, "page": entry or kind, **twin}
        return [self._page(template, kind, name, page, entry), _twin_as_json(document)]

    def _series(self, series: SeriesFacts) -> None:
        runs = self.facts.by_id
        differences = differences_of(series, runs)
        together = together_with(series, self.facts.incidents, self.rows)
        incident = self.facts.incidents.get(series.row.incident or "")
        marks = Marks(versions_in(series, self.versions), past_in(series, self.facts.past_nights, self.text))
        paths = [side.folder for side in sides_of(series, runs)]
        values = series.values
        twin = {
            "format_version": 1,
            "page": "series",
            "row": as_mapping(series.row),
            "model": series.model,
            "engine": series.engine,
            "source": series.source,
            "share_of_step": series.share_of_step,
            "step_series": series.step_series,
            "level": series.level,
            "sigma": series.sigma,
            "watched_nights": series.watched,
            **_look(series, watch_of(series)),
            "hindsight": _look(series, hindsight_of(series)),
            "metadata_differences": differences,
            "versions": [[series.nights[version.place], version.label] for version in marks.versions],
            "past_nights": [series.nights[one.place] for one in marks.past],
            "incident": incident and {name: as_mapping(incident)[name] for name in _BEGINNING},
            "together": [one.change.series_id for one in together],
            "nights": series.nights,
            "values_ms" if series.row.unit == TIME_UNIT else "values": values,
            "newest_runs": series.runs[len(series.runs) - series.watched :],
        }  # fmt: skip
        content = _twin_as_json(twin)
        key = key_of(
            content, paths, together, [one.label for one in marks.past], self.store.encode("utf-8", "replace")
        )  # the page has a command with its name
        place = f"series/{file_name(series.id)}"
        self._put(
            "series",
            [f"{place}.html", f"{place}.json"],
            key,
            lambda: [
                self._page(
                    "series",
                    "series",
                    f"{place}.html",
                    series_page(
                        series,
                        runs,
                        self.text,
                        differences=differences,
                        incident=incident,
                        together=together,
                        marks=marks,
                        pages=self.pages,
                        store=self.store,
                    ),
                ),
                content,
            ],
        )

    def _runs(self) -> None:
        """Pages of runs; records are read only of runs whose pages are missing or changed."""
        wanted = []
        surroundings = surroundings_of(self.facts)
        for run in self.facts.runs:
            key, names = run_key(run, surroundings[run.run_id], self.text), _run_names(run)
            if not self.lost and all(self.generation.unchanged(name, key) for name in names) and self._keep_keys(names):
                self._put("run", names, key, None)
            else:
                wanted.append(run)
        stored = StoredAdvice(self.history, wanted)
        for run, details in read_details(self.history, wanted):
            around, advice, names = surroundings[run.run_id], stored.of(run), _run_names(run)
            made = self._both(
                "run", "run", names[0], run_page(run, details, around, self.pages, self.text, advice=advice)
            )
            if not run.is_tuning:
                keys, content = keys_file(details.groups.keys)
                self._put_keys(keys, content)
                made.append(run_file(run, details, keys))
            self._put("run", names, run_key(run, around, self.text), lambda made=made: made, anew=self.lost)

    def _keep_keys(self, names: Sequence[str]) -> bool:
        """Keep the file of keys that a run's numbers belong to; False where it is not there."""
        if len(names) < 3:  # noqa: PLR2004 -- page, twin, numbers: a tuning has no numbers
            return True
        with (self.generation.old / names[2]).open("rb") as file:
            keys = file.read(KEYS_AT.stop)[KEYS_AT].decode("ascii", "replace")
        return self._put_keys(keys)

    def _put_keys(self, keys: str, content: bytes | None = None) -> bool:
        """Keep or write a file of keys; False where there is none to be kept and no content."""
        name = f"runs/keys.{keys}.js"
        if name in self.generation.files:
            return True
        if keys.isalnum() and self.generation.unchanged(name, keys):
            self.generation.keep(name)
        elif content is not None:
            self.generation.write(name, keys, content)
        return name in self.generation.files

    def _comparisons(self) -> None:
        """Prebuilt pages: the newest night of each model with its baseline; records are read only for changed pages."""
        fresh = {}
        for model, pair in pairs_of(self.facts).items():
            sides = [[run_row(run), run.content] for run in (pair.baseline, pair.candidate)]
            key = key_of(sides, pair.why, pair.since, pair.series, pair.incident)
            names = [f"{page_of(model)}.html", f"{page_of(model)}.json"]
            if all(self.generation.unchanged(name, key) for name in names):
                self._put("comparison", names, key, None)
            else:
                fresh[model] = (pair, names, key)
        wanted = {run.run_id: run for pair, _, _ in fresh.values() for run in (pair.baseline, pair.candidate)}
        details = {run.run_id: known for run, known in read_details(self.history, list(wanted.values()))}
        for pair, names, key in fresh.values():
            comparison = compare_runs(pair, details[pair.baseline.run_id], details[pair.candidate.run_id])
            made = self._both("compare", "comparison", names[0], comparison_page(comparison, self.text))
            self._put("comparison", names, key, lambda made=made: made)

    def _lists(self) -> None:
        choices = list_file(self.facts.runs)
        self._put("overview", ["runs/all.list.js"], key_of(choices), lambda: [choices])
        for one in PAGES:
            kind = "index" if one.template == "index" else one.key
            page, twin = one.make(self.facts, self.text)
            content = self._both(one.template, kind, one.file, (page, twin), one.key)
            names = [one.file, f"{one.file.removesuffix('.html')}.json"]
            if isinstance(listed := page.get("listed"), Listed):
                names.append(f"{one.file.rpartition('/')[0]}/{listed.file}")
                content.append(listed.script)
            self._put("overview", names, key_of(*content), lambda content=content: content)

    def _models(self) -> None:
        compared = pairs_of(self.facts)
        for model, known in facts_by_model(self.facts).items():
            names = [f"{model_file(model)}.html", f"{model_file(model)}.json"]
            content = self._both("model", "model", names[0], model_page(model, known, self.facts, compared, self.text))
            self._put("model", names, key_of(*content), lambda content=content: content)


def _look(series: SeriesFacts, look: Look) -> JsonObject:
    """The levels and changes of a look as JSON, by nights instead of indices."""
    return {
        "levels": [
            [series.nights[level.start], series.nights[level.until - 1], level.first, level.last]
            for level in look.levels
        ],
        "changes": [_change(series, **asdict(shift)) for shift in look.shifts],
    }


def _change(series: SeriesFacts, start: int, until: int, **values: Json) -> JsonObject:
    return {"night": series.nights[start], "run": series.runs[start], "last_night": series.nights[until - 1], **values}


def _kind_of(name: str) -> str:
    folder = name.rpartition("/")[0]
    if name.startswith("compare-"):
        return "comparison"
    if name.endswith(("index.html", "index.json", "all.list.js", f"/{Listed.file}")):
        return "overview"
    return {"series": "series", "runs": "run", MODELS: "model", "assets": "asset"}.get(folder, "overview")


def _run_names(run: RunFacts) -> list[str]:
    """The files of a run: page, twin, and of a measurement the numbers for comparisons."""
    place = f"runs/{file_name(run.run_id)}"
    return [f"{place}.html", f"{place}.json", *([] if run.is_tuning else [f"{place}.js"])]


def run_key(run: RunFacts, around: Surroundings, text: Texts) -> str:
    """A hash of everything on a run's page but its records, which the hash of its content covers."""
    return key_of(
        run_row(run), run.content, run.body, list(run.findings),
        [one and (one.run_id, one.night) for one in (around.before, around.after)],
        [(run_row(tuning), tuning.body) for tuning in around.tunings],
        changes_table(around.changes, text).rows, state_part(run, around, text),
        list(around.verdicts),
    )  # fmt: skip


def _twin_as_json(twin: Mapping[str, Any]) -> bytes:
    """The twin of a page; texts are looked at one by one only where one of them is no text."""
    try:
        return as_json(twin)
    except UnicodeEncodeError:
        return as_json(_clean(twin))


def _clean(value: Any) -> Any:
    """Texts that are text: the odd byte of a file name becomes a question mark; everything else as it is."""
    if is_dataclass(value) and not isinstance(value, type):
        return _clean(asdict(value))
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {key: _clean(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_clean(inner) for inner in value]
    return value
