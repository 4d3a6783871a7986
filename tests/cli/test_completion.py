"""What shells offer: through the protocol that the scripts of typer speak, and in a real bash. Never a line on stderr."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from commandline import Cli
from shells import PROGRAM, SHELLS, completed

from aoe_reports.cli.completion import is_harmless
from aoe_reports.history.named import names_in
from aoe_reports.store import History
from aoe_reports.store.layout import table_of

BASH = shutil.which("bash")
Offered = Callable[..., list[str]]


def asked(words: Sequence[str], shell: str = "bash") -> dict[str, str]:
    """What a shell says in the environment when it asks for the last word."""
    line = shlex.join(words[:-1]) + " " + words[-1]
    said = {
        "bash": {"COMP_WORDS": "\n".join(["aoe-reports", *words]), "COMP_CWORD": str(len(words))},
        "zsh": {"_TYPER_COMPLETE_ARGS": f"aoe-reports {line}"},
        "fish": {"_TYPER_COMPLETE_ARGS": f"aoe-reports {line}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    return {**said, "_AOE_REPORTS_COMPLETE": f"complete_{shell}"}


def offered(*words: str, shell: str = "bash", where: Path | None = None, **environment: str) -> list[str]:
    """What is offered for the last word, by a process as a shell starts it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AOE_REPORTS_")}
    ended = subprocess.run(
        [PROGRAM],
        env={**kept, **asked(words, shell), **environment},
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stderr == ""
    return [line for line in ended.stdout.splitlines() if line]


@pytest.fixture
def offered_here(cli: Cli) -> Offered:
    """The same in bash, by the command line in this process."""

    def offered(*words: str, where: Path | None = None, **environment: str) -> list[str]:
        with pytest.MonkeyPatch.context() as patched:
            for name in [name for name in os.environ if name.startswith("AOE_REPORTS_")]:
                patched.delenv(name)
            for name, value in {**asked(words), **environment}.items():
                patched.setenv(name, value)
            if where is not None:
                patched.chdir(where)
            ended = cli()
        assert ended.err == ""
        return [line for line in ended.out.splitlines() if line]

    return offered


@pytest.fixture
def runs(small_store: Path) -> list[str]:
    return names_in(str(small_store), "runs")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_runs_of_the_store_that_is_named_are_offered(small_store: Path, runs: list[str], shell: str) -> None:
    found = offered("store", "history", "--store", str(small_store), "--run", "2026", shell=shell)
    assert len(runs) > 10
    if shell == "zsh":
        assert "\n".join(found) == "_arguments '*: :((" + "\n".join(f'"{run}"' for run in runs) + "))'"
    else:
        assert found == runs


def test_only_names_that_begin_as_what_was_typed_are_offered(
    offered_here: Offered, small_store: Path, runs: list[str]
) -> None:
    begin = runs[0][:9]
    found = offered_here("store", "undo", "--store", str(small_store), begin)
    assert found == [run for run in runs if run.startswith(begin)] != runs


def test_every_kind_of_name_is_offered_where_it_is_taken(offered_here: Offered, small_store: Path) -> None:
    store = ("--store", str(small_store))
    assert {"net", "bert", "net/step"} <= set(offered_here("store", "history", *store, "--workload", ""))
    assert {"net", "bert"} <= set(offered_here("store", "expect", *store, ""))
    assert {"net", "bert"} <= set(offered_here("ingest", *store, "--workload", ""))
    assert len(offered_here("store", "ack", *store, "")) > 10
    assert offered_here("report", *store, "--night", "2026-03-0")[:2] == ["2026-03-01", "2026-03-02"]
    assert "tuning-failed" in offered_here("check", "--select", "tuning")
    assert "tuning-failed" in offered_here("check", "x", "--ignore", "tuning")
    assert "op_summary" in offered_here("table", "op_s")
    assert offered_here("hotspots", "--by", "op_")[:2] == ["op_type", "op_name"]


def test_tags_acknowledgements_and_incidents_are_offered(
    offered_here: Offered, small_store: Path, runs: list[str]
) -> None:
    said = [
        ("ack", "tagged", "release-1", '{"run": "x", "night": "2026-03-02"}'),
        ("ack", "acknowledged", "s", '{"id": "ack-17"}'),
        ("change", "confirmed", "s", '{"incident": "20260314-abcdef01"}'),
        ("change", "confirmed", "s", "[1]"),
    ]
    rows = [
        {"kind": kind, "month": "2026-03", "timestamp_ns": n, "state": state, "subject": subject, "body": body}
        for n, (kind, state, subject, body) in enumerate(said, 10**18)
    ]
    History.open(str(small_store)).add_extra(table_of(rows))
    found = offered_here("regressions", "--store", str(small_store), "--baseline", "")
    assert found == sorted(["segment", "nights:", "window:", "tag:release-1", *(f"run:{run}" for run in runs)])
    assert offered_here("regressions", "--store", str(small_store), "--baseline", "tag:") == ["tag:release-1"]
    subjects = set(offered_here("store", "ack", "--store", str(small_store), ""))
    assert {"ack-17", "20260314-abcdef01"} <= subjects
    assert offered_here("store", "ack", "--store", str(small_store), "20260314-") == ["20260314-abcdef01"]


def test_the_store_of_the_environment_and_of_configuration_files_is_asked(
    offered_here: Offered, small_store: Path, runs: list[str], tmp_path: Path
) -> None:
    asked = ("store", "tag", "x", "--run", "2026")
    assert offered_here(*asked, where=tmp_path) == []
    assert offered_here(*asked, where=tmp_path, AOE_REPORTS_STORE="store") == runs
    (tmp_path / "other.toml").write_text("store = 'store'\n")
    assert offered_here("--config", "other.toml", *asked, where=tmp_path) == runs
    (tmp_path / "aoe-reports").mkdir()
    (tmp_path / "aoe-reports" / "aoe-reports.toml").write_text("store = '../store'\n")
    own = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert offered_here(*asked, where=tmp_path, **own) == runs
    assert offered_here("--isolated", *asked, where=tmp_path, **own) == []
    assert offered_here(*asked, where=tmp_path, AOE_REPORTS_STORE="nowhere", **own) == []
    small_store.rename(tmp_path / "aoe-history")
    assert offered_here(*asked, where=tmp_path) == runs


HOSTILE = (
    "$(touch pwned)", "`touch pwned`", "a b", "a'b", 'a"b', "a\\b", "a;b", "a|b", "a&b", "a>b", "a*b", "a?b", "a[b]", "a{b,c}", "~root",
    "!!", "a\x1b[31mb", "a\nb", "a\tb", "a\u202eb", "#x", "a$HOME", "(a)", "<(a)",
)  # fmt: skip
HARMLESS = ("名称/步骤", "a.b-c_d/e+f:g@h%i,j=k")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_nothing_is_offered_that_a_shell_or_terminal_would_execute(tmp_path: Path, shell: str) -> None:
    store = tmp_path / "odd"
    history = History.open(str(store), create=True)
    rows = [
        {"kind": "ack", "month": "2026-03", "timestamp_ns": n, "state": "tagged", "subject": name, "body": "{}"}
        for n, name in enumerate((*HOSTILE, *HARMLESS), 10**18)
    ]
    history.add_extra(table_of(rows))
    told = "\n".join(offered("regressions", "--store", str(store), "--baseline", "", shell=shell, where=tmp_path))
    assert not any(f"tag:{name}" in told for name in HOSTILE)
    assert all(name in told.replace("\\\\:", ":") for name in HARMLESS)
    assert "$" not in told
    assert "`" not in told
    assert "\x1b" not in told


@pytest.mark.parametrize("name", ["-rf", "=ls", "@x", "%1", ""])
def test_what_means_something_at_the_beginning_of_a_word_is_no_name(name: str) -> None:
    assert not is_harmless(name)
    assert is_harmless(f"a{name}")


@pytest.mark.parametrize("damage", ["no store", "truncated", "empty log", "a file", "odd configuration"])
def test_nothing_is_said_where_a_store_cannot_be_read(
    offered_here: Offered, small_store: Path, damage: str, tmp_path: Path
) -> None:
    if damage == "no store":
        shutil.rmtree(small_store)
    elif damage == "truncated":
        for part in small_store.rglob("kind=run/**/*.parquet"):
            part.write_bytes(part.read_bytes()[:50])
    elif damage == "empty log":
        for one in (small_store / "_delta_log").iterdir():
            one.write_bytes(b"")
    elif damage == "a file":
        shutil.rmtree(small_store)
        small_store.write_text("")
    else:
        (tmp_path / "aoe-reports.toml").write_text("stoer = [")
        assert offered_here("store", "history", "--run", "", where=tmp_path) == []
        return
    asked = offered if damage == "truncated" else offered_here
    assert asked("store", "history", "--store", "store", "--run", "", where=tmp_path) == []


def test_no_network_is_asked_for_names() -> None:
    assert (
        offered(
            "store", "history", "--store", "s3://no-such-bucket/x", "--run", "", AWS_ENDPOINT_URL="http://127.0.0.1:9"
        )
        == []
    )


def test_odd_words_of_a_shell_are_no_traceback() -> None:
    for words, number in (
        ("aoe-reports", "x"),
        ("", "99"),
        ("aoe-reports\nhistory\n'", "2"),
        ("aoe-reports\n--lang", "2"),
    ):
        environment = {
            **os.environ,
            "_AOE_REPORTS_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": number,
        }
        ended = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, check=False)
        assert (ended.stderr, "Traceback" in ended.stdout) == ("", False)


@pytest.fixture(scope="module")
def odd_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose models and tags are called as nobody would call them."""
    names = (*HOSTILE, *HARMLESS, "rel:1.0", "user@host")
    told = [{"kind": "ack", "state": "tagged", "subject": name, "body": "{}"} for name in names]
    told += [
        {**dict.fromkeys(("run_id", "run_kind", "path"), "r"), "kind": "run", "model": name, "body": "{}"}
        for name in names
    ]
    rows = [{**row, "month": "2026-03", "timestamp_ns": n} for n, row in enumerate(told, 10**18)]
    folder = tmp_path_factory.mktemp("odd")
    History.open(str(folder / "odd"), create=True).add_extra(table_of(rows))
    return folder


def test_without_the_private_classes_of_typer_completion_is_its_own() -> None:
    without = "import sys; sys.argv = ['aoe-reports']; sys.modules['aoe_reports.cli.shells'] = None; from aoe_reports.cli.main import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", without],
        env={**os.environ, **asked(("hotspots", "--by", "op_t"))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.stdout, ended.stderr) == ("op_type\n", "")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("store expect --store=odd rel:", "store expect --store=odd rel:1.0 "),
        ("store expect --store odd 名", "store expect --store odd 名称/步骤 "),
        ("regressions --store odd --baseline tag:rel:", "regressions --store odd --baseline tag:rel:1.0 "),
        ("regressions --store=odd --baseline=tag:us", "regressions --store=odd --baseline=tag:user@host "),
        ("hotspots --by=op_t", "hotspots --by=op_type "),
        ("store expect --store odd '$(touch pwned)", "store expect --store odd '$(touch pwned)"),
    ],
)
def test_a_real_shell_continues_what_was_typed(odd_store: Path, shell: str, typed: str, line: str) -> None:
    assert completed(shell, f"aoe-reports {typed}", odd_store) == f"aoe-reports {line}"
    assert not (odd_store / "pwned").exists()


@pytest.mark.skipif("zsh" not in SHELLS, reason="there is no zsh here")
@pytest.mark.parametrize(
    ("typed", "line"), [("site --store=od", "site --store=odd/"), ("site --store od", "site --store odd/")]
)
def test_zsh_offers_files_behind_an_option_and_its_sign(odd_store: Path, typed: str, line: str) -> None:
    assert completed("zsh", f"aoe-reports {typed}", odd_store) == f"aoe-reports {line}"


@pytest.mark.skipif("zsh" not in SHELLS, reason="there is no zsh here")
@pytest.mark.parametrize("words", [[""], ["hotspots", "--"], ["check", "--"], ["regressions", "--"], ["store", ""]])
def test_zsh_evaluates_what_it_is_offered_to_the_same_words(words: list[str], tmp_path: Path) -> None:
    told = "\n".join(offered(*words, shell="zsh"))
    twice = """_arguments() { eval "ws=( ${1[7,-3]} )"; print -rl -- $ws }; eval $told"""
    ended = subprocess.run(
        ["zsh", "-f", "-c", twice], env={**os.environ, "told": told}, cwd=tmp_path, capture_output=True, text=True, check=False
    )  # fmt: skip
    names = [line.partition(":")[0] for line in ended.stdout.splitlines()]
    assert (ended.stderr, names) == ("", offered(*words, shell="bash"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
def test_a_real_bash_completes_with_the_script_that_is_installed(
    small_store: Path, runs: list[str], tmp_path: Path
) -> None:
    assert BASH is not None
    environment = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    script = subprocess.run(
        [PROGRAM],
        env={**environment, "_AOE_REPORTS_COMPLETE": "source_bash"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (tmp_path / "completion.sh").write_text(script)
    asked = f"""
        source completion.sh
        complete -p aoe-reports | grep -q _aoe_reports_completion || exit 9
        COMP_WORDS=(aoe-reports store history --store {small_store} --run 2026) COMP_CWORD=6
        _aoe_reports_completion aoe-reports
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    ended = subprocess.run(
        [BASH, "--norc", "-c", asked], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr, ended.stdout.splitlines()) == (0, "", runs)
