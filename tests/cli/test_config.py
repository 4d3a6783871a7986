"""The configuration file: what it says holds, what the command line says wins, what is wrong in it is told with its line."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from commandline import FIXTURES, ROOT, Cli
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.cli.configuration import is_of_analysis, known_options
from aoe_reports.cli.configuration_files import find_configuration, read_configuration
from aoe_reports.cli.main import app
from aoe_reports.formats.sources import expand
from aoe_reports.locale import languages
from aoe_reports.model.errors import UsageError

PROFILE = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"
PAGE = (ROOT / "docs" / "configuration.md").read_text()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AOE_REPORTS_STORE", raising=False)
    return tmp_path


def write(folder: Path, text: str, name: str = "aoe-reports.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def in_force(cli: Cli, *before: object) -> dict[tuple[str, str], Any]:
    rows = cli(*before, "doctor", "--options", "--format", "json").json["rows"]
    return {(row["command"], row["option"]): row["value"] for row in rows}


def rows(cli: Cli, *more: object) -> list[dict[str, Any]]:
    return cli("hotspots", PROFILE, "--rank", 0, "--format", "json", *more).json["rows"]


def test_the_command_line_wins_over_the_file(cli: Cli, folder: Path) -> None:
    write(folder, "[hotspots]\ntop = 2\nby = 'op_name'\n")
    assert len(rows(cli)) == 2
    assert "op_name" in rows(cli)[0]
    assert len(rows(cli, "--top", 1)) == 1
    assert len(rows(cli, "--by", "op_type", "--top", 20)) > 2
    assert len(cli("--isolated", "hotspots", PROFILE, "--rank", 0, "--format", "json").json["rows"]) > 2


def test_the_environment_wins_over_the_file(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(folder, 'store = "of-file"\n', "mine.toml")
    assert cli("--config", file, "ingest", PROFILE).code == 0
    assert (folder / "of-file" / "_delta_log").is_dir()
    monkeypatch.setenv("AOE_REPORTS_STORE", str(folder / "of-environment"))
    assert in_force(cli, "--config", file)["ingest", "store"] == str(folder / "of-environment")
    assert cli("--config", file, "ingest", PROFILE).code == 0
    assert (folder / "of-environment" / "_delta_log").is_dir()
    assert cli("--config", file, "ingest", PROFILE, "--store", "of-command").code == 0
    assert (folder / "of-command" / "_delta_log").is_dir()


def test_the_nearest_folder_counts_and_our_own_file_first(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = folder / "a" / "b"
    write(folder, "[hotspots]\ntop = 1\n")
    write(folder / "a", "[tool.aoe-reports.hotspots]\ntop = 2\n", "pyproject.toml")
    write(below, "[tool.other]\nname = 'aoe-reports'\n", "pyproject.toml")
    monkeypatch.chdir(below)
    assert in_force(cli) == {("hotspots", "top"): 2}
    write(folder / "a", "", "aoe-reports.toml")
    assert in_force(cli) == {}
    assert in_force(cli, "--config", folder / "aoe-reports.toml") == {("hotspots", "top"): 1}
    assert in_force(cli, "--config", folder / "a" / "pyproject.toml") == {("hotspots", "top"): 2}


def test_paths_are_those_of_the_file(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(folder, 'store = "history"\n[nightly]\nsite = "site"\n', "mine.toml")
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    found = in_force(cli, "--config", file)
    assert found["nightly", "store"] == str(folder / "history")
    assert found["nightly", "site"] == str(folder / "site")
    assert cli("--config", file, "nightly", PROFILE).code == 0
    assert (folder / "site" / "report.json").is_file()


def test_a_shared_option_holds_where_it_means_the_same(cli: Cli, folder: Path) -> None:
    file = write(folder, "workload = 'net'\nstrict = true\nmax_expanded = 5\n[check]\nstrict = false\n", "mine.toml")
    found = in_force(cli, "--config", file)
    assert {command for command, option in found if option == "workload"} == {
        "ab", "ingest", "nightly", "plan", "verify",
    }  # fmt: skip
    assert found["check", "strict"] is False
    assert found["hotspots", "strict"] is True
    assert found["hotspots", "max-expanded"] == 5


def test_the_language_of_the_file_holds_for_every_command(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AOE_REPORTS_LANG", raising=False)
    write(folder, "lang = 'zh'\n")
    asked = {command for command, option in in_force(cli) if option == "lang"}
    assert {"inspect", "nightly", "store verify"} <= asked
    assert "没有存储" in cli("store", "history").err
    assert "没有存储" in cli("store", "info").err
    assert "the store does not exist" in cli("store", "history", "--lang", "en").err
    monkeypatch.setenv("AOE_REPORTS_LANG", "en")
    assert "the store does not exist" in cli("store", "history").err
    write(folder, "lang = 'xx'\n")
    assert f"lang: Value error, 'xx' is not one of {', '.join(map(repr, languages()))}." in cli("store", "history").err


def test_lists_are_replaced_by_the_command_line(cli: Cli, folder: Path, aoe: Path) -> None:
    write(folder, '[check]\nselect = ["schema"]\nignore = ["segment-kind"]\n')
    assert cli("check", aoe).code == 0
    write(folder, '[check]\nignore = ["no-such-rule"]\n')
    assert "no rule 'no-such-rule'" in cli("check", aoe).err
    assert cli("check", aoe, "--ignore", "schema").code == 0


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("[hotspots]\n\ntpo = 3\n", ":3", "[hotspots] tpo: no such option; did you mean top?"),
        ("[hotspot]\ntop = 3\n", ":1", "hotspot: no such option or command; did you mean hotspots?"),
        ("stor = 'x'\n", ":1", "stor: no such option or command; did you mean store?"),
        ("top = 3\n", ":1", "top: belongs in the table of a command: [advise], [bank-list], [communication], [compare], [critical-path], [explain], [host], [hotspots], [memory], [plan], [roofline], [stacks]"),
        ("[hotspots]\ntop = '3'\n", ":2", "[hotspots] top: expected a whole number, not '3'"),
        ("[hotspots]\ntop = true\n", ":2", "[hotspots] top: expected a whole number, not True"),
        ("[hotspots]\ntop = 0\n", ":2", "[hotspots] top: "),
        ("[hotspots]\nby = 'colour'\n", ":2", "[hotspots] by: "),
        ("[hotspots]\nstrict = 'yes'\n", ":2", "[hotspots] strict: expected true or false, not 'yes'"),
        ("hotspots = { top = 'x' }\n", ":1", "[hotspots] top: expected a whole number"),
        ("hotspots.top = 'x'\n", ":1", "[hotspots] top: expected a whole number"),
        ("[check]\nignore = 'schema'\n", ":2", "[check] ignore: expected a list of strings, not 'schema'"),
        ("[hotspots]\noutput = 'x'\n", ":2", "[hotspots] output: where output is written can only be given on the command line"),
        ("[compare]\nforce = true\n", ":2", "[compare] force: what is forced can only be given on the command line"),
        ("max-expanded = 5\nmax_expanded = 6\n", ":2", "max_expanded: given twice (max-expanded)"),
        ("store = 5\n", ":1", "store: expected a quoted string, not 5"),
        ("tz = 1979-05-27\n", ":1", "tz: expected a quoted string, not datetime.date"),
        ("[store]\nx = 1\n", ":1", "store: expected a quoted string, not a table"),
        ("hotspots = 3\n", ":1", "hotspots: expected a table"),
        ("thresholds = 3\n", ":1", "thresholds: expected a table"),
        ("[thresholds]\na = nan\n", ":2", "[thresholds] a: expected a number, not nan"),
        ("[thresholds]\na = true\n", ":2", "[thresholds] a: expected a number, not True"),
        ("[thresholds]\nbound_ratios = 1\n", ":2", "[thresholds] bound_ratios: no such threshold; did you mean bound_ratio?"),
        (
            "[thresholds]\nmemory_gb_per_s = 0\n",
            ":2",
            "[thresholds] memory_gb_per_s: expected a number above 0; omit the key for no threshold",
        ),
        ("[thresholds]\nmany-shapes = -1\n", ":2", "[thresholds] many-shapes: expected a number of 0 or more, not -1"),
        ("x = \n", ":1:5", "not TOML: Invalid value"),
        ("x = " + "[" * 9999, "", "not TOML: nested too deeply"),
        ("x = " + "9" * 9999, "", "not TOML: "),
        ("a." * 5000 + "a = 1", "", "a key of more than 200 parts"),
        ("#" * (1 << 20) + "\n", "", "more than 1048576 bytes"),
    ],
    ids=lambda value: value[:20],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(cli: Cli, folder: Path, text: str, where: str, message: str) -> None:
    file = write(folder, text)
    ended = cli("collect", "--framework", "pytorch")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"aoe-reports: error: {file}{where}: {message}")
    assert cli("hotspots", "--help").code == 0
    assert cli("--isolated", "collect", "--framework", "pytorch").code == 0


def test_a_line_is_found_in_a_pyproject(cli: Cli, folder: Path) -> None:
    file = write(folder, "[tool.x]\ntpo = 1\n[tool.aoe-reports.hotspots]\ntpo = 2\n", "pyproject.toml")
    assert f"{file}:4: [hotspots] tpo" in cli("collect", "--framework", "pytorch").err


@pytest.mark.parametrize(
    "text",
    [
        "[ tool . 'aoe-reports' . hotspots ]\ntop = 2\n", '["tool".aoe-reports]\nhotspots.top = 2\n', "tool.aoe-reports.hotspots.top = 2\n",
        "[tool]\naoe-reports.hotspots.top = 2\n", "tool = {'aoe-reports' = {hotspots = {top = 2}}}\n", "'tool'.\t'aoe-reports'.hotspots.top = 2\n",
        '["to\\u006fl".aoe-reports.hotspots]\ntop = 2\n',
    ],
)  # fmt: skip
def test_a_table_is_found_however_toml_lets_it_be_named(cli: Cli, folder: Path, text: str) -> None:
    write(folder, text, "pyproject.toml")
    assert in_force(cli) == {("hotspots", "top"): 2}


def test_odd_files_are_told_or_passed_over(cli: Cli, folder: Path) -> None:
    (folder / "pyproject.toml").write_bytes(b"\xff not ours, not TOML")
    assert cli("doctor", "--options").code == 0
    (folder / "pyproject.toml").write_bytes(b"# \xff\naoe-reports")
    assert f"{folder / 'pyproject.toml'}:1: not UTF-8" in cli("doctor", "--options").err
    (folder / "aoe-reports.toml").mkdir()
    (folder / "pyproject.toml").write_text("[tool]\naoe-reports = 3\n")
    assert "tool.aoe-reports: expected a table" in cli("doctor", "--options").err
    (folder / "pyproject.toml").write_text("tool = 3 # aoe-reports\n")
    assert cli("doctor", "--options").code == 0
    assert cli("--config", folder / "pyproject.toml", "doctor").code == 2
    assert cli("--config", folder / "none.toml", "doctor").code == 2
    assert cli("--config", folder / "none.toml", "--isolated", "doctor").code == 2


def test_a_folder_that_is_gone_has_no_configuration(folder: Path) -> None:
    gone = folder / "gone"
    gone.mkdir()
    script = "import os, sys; os.rmdir(os.getcwd()); sys.argv = ['x', 'doctor', '--options']; from aoe_reports.cli.main import main; main()"
    ended = subprocess.run([sys.executable, "-c", script], cwd=gone, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_page_is_a_configuration(cli: Cli, folder: Path) -> None:
    (text,) = re.findall(r"<!-- tested: aoe-reports.toml -->\n```toml\n(.*?)```", PAGE, re.DOTALL)
    file = write(folder, text, "mine.toml")
    found = in_force(cli, "--config", file)
    assert found["hotspots", "top"] == 50
    assert found["store vacuum", "days"] == 30
    assert found["check", "ignore"] == ["unknown-key", "op-type-unknown"]
    assert found["nightly", "tz"] == "Asia/Shanghai"
    assert cli("--config", file, "check", PROFILE).code == 0


def test_the_page_names_what_may_not_stand_in_a_file_and_what_is_shared() -> None:
    known = list(known_options(SimpleNamespace(command=typer.main.get_command(app))))
    assert [one.key for one in known if one.what.only_here and f"--{one.key}`" not in PAGE] == []
    assert [one.key for one in known if one.what.shared and f"`{one.key}`" not in PAGE] == []


@dataclass(frozen=True)
class Thresholds:
    least_share: float = 0.5
    most_calls: int = 3


def test_thresholds_are_numbers_by_name(folder: Path) -> None:
    found = read_configuration(write(folder, "[thresholds]\nleast-share = 1\nmost_calls = 7\n")).thresholds(Thresholds)
    assert found == {"least_share": 1.0, "most_calls": 7}
    assert [type(value) for value in found.values()] == [float, int]
    assert Thresholds(**found) == Thresholds(1.0, 7)  # type: ignore[arg-type]
    for text, message in (
        ("least_shar = 1", ":2: [thresholds] least_shar: no such threshold; did you mean least_share?"),
        ("most_calls = 1.5", ":2: [thresholds] most_calls: expected a whole number, not 1.5"),
        ("least_share = 1\nleast-share = 2", ":3: [thresholds] least-share: given twice"),
    ):
        path = write(folder, f"[thresholds]\n{text}\n")
        with pytest.raises(UsageError, match=re.escape(f"{path}{message}")):
            read_configuration(path).thresholds(Thresholds)
    assert read_configuration(write(folder, "")).thresholds(Thresholds) == {}


def test_a_threshold_changes_what_is_advised(cli: Cli, folder: Path, msprof: Path) -> None:
    def rules() -> list[str]:
        return [
            row["rule"]
            for row in cli("advise", msprof / "communication_of_four_ranks", "--format", "json").json["rows"]
        ]

    usual = rules()
    assert "communication-not-overlapped" in usual
    write(folder, "[thresholds]\nleast-step-share = 1\nmemory_gb_per_s = 1200\n")
    assert rules() == []


@given(st.binary(max_size=200) | st.text(alphabet="[]{}=\"'.,#ab1\n -_\\", max_size=60).map(str.encode))
def test_no_bytes_are_a_traceback(data: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "aoe-reports.toml"
        file.write_bytes(data)
        try:
            found, message = find_configuration(Path(name)), ""
        except UsageError as error:
            found, message = None, str(error)
        assert message.startswith(str(file)) == (found is None)
        assert found is None or all((found.line_of(key) or 1) >= 1 for key in found.table)


@pytest.mark.parametrize(
    "line",
    ['store = "x"', '[nightly]\nsite = "x"', '[report]\npng = "x"', '[plan]\nbank = "s3://bucket/x"', "jobs = 2"],
)
@pytest.mark.parametrize("name", ["aoe-reports.toml", "pyproject.toml"])
def test_a_file_that_came_with_the_data_names_no_place_and_no_process(
    cli: Cli, folder: Path, name: str, line: str
) -> None:
    head = "" if name == "aoe-reports.toml" else "[tool.aoe-reports]\n"
    text = head + line.replace("[", "[tool.aoe-reports.") if head else line
    file = write(folder, text, name)
    for command in (["nightly", PROFILE], ["report"], ["inspect", PROFILE]):
        ended = cli(*command)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith(f"aoe-reports: error: {file}:{text.count(chr(10)) + 1}: ")
        assert ": a project file cannot set this (the file may have come with the data)" in ended.err
    assert list(folder.iterdir()) == [file]


def test_what_the_user_wrote_names_any_place(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f'store = "s3://bucket/x"\nmax-expanded = {1 << 50}\n[nightly]\nsite = "{folder}/site"\n[report]\npng = "../png"\n'
    file = write(folder / "settings", text, "night.toml")
    expected = {("nightly", "site"): f"{folder}/site", ("report", "png"): f"{folder}/settings/../png"}
    found = in_force(cli, "--config", file)
    assert {key: found[key] for key in expected} == expected
    assert found["nightly", "store"] == "s3://bucket/x"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "settings"))
    assert in_force(cli) == {}
    (folder / "settings" / "aoe-reports").mkdir()
    file.rename(folder / "settings" / "aoe-reports" / "aoe-reports.toml")
    expected["report", "png"] = f"{folder}/settings/aoe-reports/../png"
    found = in_force(cli)
    assert {key: found[key] for key in expected} == expected
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(folder))
    (folder / "settings").rename(folder / ".config")
    assert in_force(cli)["nightly", "site"] == f"{folder}/site"
    assert in_force(cli, "--isolated") == {}


def test_a_projects_file_sets_no_limit(cli: Cli, folder: Path) -> None:
    for text, key in (
        (f"max-expanded = {1 << 50}", "max-expanded"),
        (f"max-expanded = {1 << 30}", "max-expanded"),  # the built-in one
        ("[inspect]\nmax-expanded = 1", "[inspect] max-expanded"),
        (f"[check]\nmax_size = {1 << 50}", "[check] max_size"),
        ("[check]\nmax_size = 1000", "[check] max_size"),
    ):
        file = write(folder, text)
        ended = cli("inspect", PROFILE)
        line = text.count("\n") + 1
        assert ended.code == 2
        assert ended.err.startswith(f"aoe-reports: error: {file}:{line}: {key}: a project file cannot set this")
        assert cli("--config", file, "inspect", PROFILE).code == 0


def test_a_file_that_came_with_a_bomb_does_not_let_it_expand(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expand, "RATIO_FROM_BYTES", 1 << 20)
    text = next(PROFILE.rglob("kernel_details.csv")).read_bytes().splitlines(keepends=True)[0]
    (folder / "kernel_details.csv.gz").write_bytes(gzip.compress(text + b"x" * (8 << 20)))
    file = write(folder, f"max-expanded = {1 << 30}\n")
    assert cli("check", folder).code == 2
    file.unlink()
    refused = cli("check", folder)
    assert (refused.code, "expands to more than 200 times its size" in refused.out + refused.err) == (1, True)
    own = write(folder / "mine", f"max-expanded = {1 << 30}\n")
    allowed = cli("--config", own, "check", folder)
    assert "expands to more than" not in allowed.out + allowed.err


def test_no_path_and_no_text_is_set_by_a_projects_file_unless_somebody_has_said_what_it_names() -> None:
    known = list(known_options(SimpleNamespace(command=typer.main.get_command(app))))
    unknown = [one for one in known if not one.what.only_here and one.what.names is None and not is_of_analysis(one)]
    assert [one.key for one in unknown if not one.what.protects] == []
    paths = [one for one in known if one.option.type_descriptor.is_path and not one.what.only_here]
    assert [one.key for one in paths if one.what.names != "place"] == []


def test_the_nearest_file_wins_over_the_users_own_key_by_key(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "settings"))
    own = write(
        folder / "settings" / "aoe-reports",
        "store = '/srv/history'\n[hotspots]\ntop = 5\nby = 'shape'\n[history]\nstore = '/srv/old'\n"
        "[thresholds]\nbound_ratio = 0.5\nmany-shapes = 4\n",
    )
    project = write(folder / "project", "workload = 'net'\n[hotspots]\ntop = 9\n[thresholds]\nmany_shapes = 7\n")
    monkeypatch.chdir(folder / "project")
    told = cli("doctor", "--options", "--format", "json").json
    assert told["inputs"] == [str(project), str(own)]
    rows = {(row["command"], row["option"]): (row["value"], row["path"], row["line"]) for row in told["rows"]}
    assert rows["hotspots", "top"] == (9, str(project), 3)
    assert rows["hotspots", "by"] == ("shape", str(own), 4)
    assert rows["ingest", "workload"] == ("net", str(project), 1)
    assert rows["store history", "store"] == ("/srv/old", str(own), 6)
    assert rows["thresholds", "bound_ratio"] == (0.5, str(own), 8)
    assert rows["thresholds", "many_shapes"] == (7, str(project), 5)
    assert ("thresholds", "many-shapes") not in rows
    assert in_force(cli, "--config", project)["hotspots", "top"] == 9
    assert ("hotspots", "by") not in in_force(cli, "--config", project)
    own.write_text("[hotspots]\ntpo = 1\n")
    assert cli("hotspots", PROFILE).err.startswith(f"aoe-reports: error: {own}:2: [hotspots] tpo: no such option")
    monkeypatch.chdir(own.parent)
    own.write_text("store = '/srv/history'\n")
    assert in_force(cli)["store history", "store"] == "/srv/history"
