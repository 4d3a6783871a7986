"""What is built and shipped."""

from __future__ import annotations

import ast
import gettext
import importlib
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import jsonschema
import pytest
from commandline import ROOT
from hatchling.build import build_wheel

from aoe_reports.formats.native import LIBRARY
from aoe_reports.formats.schemas import SCHEMA_NAMES, load_schema
from aoe_reports.model.errors import SchemaMissingError
from aoe_reports.model.version import __version__

HEAVY = ("polars", "pandas", "pyarrow", "matplotlib", "duckdb", "jsonschema", "numpy", "deltalake", "jinja2")


@pytest.mark.slow
def test_the_wheel_holds_the_schemas_the_template_the_catalogues_and_the_type_marker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    wheel = zipfile.ZipFile(tmp_path / build_wheel(str(tmp_path)))
    names = wheel.namelist()
    for name in SCHEMA_NAMES:
        assert f"aoe_reports/json_schemas/{name}.schema.json" in names
    for name in ("templates/report.html.j2", "assets/style.css"):
        assert f"aoe_reports/present/{name}" in names
    assert "aoe_reports/py.typed" in names
    assert "aoe_reports/assistants/SKILL.md" in names
    for name in ("options", "recipes"):
        assert f"aoe_reports/formats/ascend/profiling_{name}.toml" in names
    for name in ("templates/index.html.j2", "assets/uPlot.iife.min.js", "assets/uPlot.LICENSE.txt"):
        assert f"aoe_reports/site/{name}" in names
    assert not [name for name in names if name.endswith(".po")]
    has_reader = "aoe_reports/formats/libreader.so" in names
    assert has_reader == LIBRARY.is_file()  # as this installation
    assert wheel.filename is not None
    assert wheel.filename.endswith("-any.whl") != has_reader
    assert not [name for name in names if name.endswith((".rs", "Cargo.toml"))]
    with wheel.open("aoe_reports/locale/zh.mo") as catalogue:
        assert gettext.GNUTranslations(catalogue).gettext("yes") == "是"


def test_a_reader_that_was_built_elsewhere_is_in_the_wheel_and_one_that_is_not_there_ends_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    built = tmp_path / "libreader.so"
    monkeypatch.delenv("AOE_REPORTS_WITHOUT_READER", raising=False)
    monkeypatch.setenv("AOE_REPORTS_READER", str(built))
    with pytest.raises(FileNotFoundError):
        build_wheel(str(tmp_path))
    built.write_bytes(b"made elsewhere")
    wheel = zipfile.ZipFile(tmp_path / build_wheel(str(tmp_path)))
    assert wheel.read("aoe_reports/formats/libreader.so") == b"made elsewhere"
    assert wheel.filename is not None
    assert not wheel.filename.endswith("-any.whl")


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_schemas_are_valid_and_ask_for_nothing_from_outside(name: str) -> None:
    schema = load_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    refs = re.findall(r'"\$ref": "([^"]*)"', json.dumps(schema))
    assert all(ref.startswith("#/") for ref in refs)


def test_a_schema_that_is_not_shipped_is_an_error() -> None:
    with pytest.raises(SchemaMissingError):
        load_schema("nothing")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['aoe-reports', '--help']\n"
        "from aoe_reports.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        f"loaded = [m for m in {HEAVY!r} if m in sys.modules]\n"
        "from aoe_reports import locale\n"
        "loaded += ['catalogue'] * locale._catalogue.cache_info().misses\n"
        "sys.stderr.write(','.join(loaded))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    assert "nightly" in ended.stdout


@pytest.mark.slow
def test_no_command_loads_pandas_which_pyarrow_looks_for_and_doctor_finds_it(tmp_path: Path) -> None:
    profile = ROOT / "fixtures" / "msprof" / "valid" / "merged_two_devices"
    command = [
        sys.executable,
        "-X",
        "importtime",
        "-m",
        "aoe_reports",
        "ingest",
        str(profile),
        "--store",
        str(tmp_path / "store"),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "pyarrow.lib\n" in ended.stderr
    assert "pandas._libs" not in ended.stderr
    doctor = subprocess.run(
        [sys.executable, "-m", "aoe_reports", "doctor"], capture_output=True, text=True, check=False
    )
    (line,) = (line for line in doctor.stdout.splitlines() if line.startswith("pandas "))
    assert line.split()[1] == "ok"


def test_python_m_is_the_same_command() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "aoe_reports", "--version"], capture_output=True, text=True, check=True
    )
    assert re.fullmatch(r"aoe-reports \d+\.\d+\.\d+\n", ended.stdout)


def test_public_names_are_there_and_documented() -> None:
    import aoe_reports

    for name in aoe_reports.__all__:
        assert getattr(aoe_reports, name).__doc__, name
    with pytest.raises(AttributeError):
        aoe_reports.nothing  # noqa: B018


@pytest.mark.parametrize("path", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda path: path.stem)
def test_a_benchmark_finds_all_that_it_measures(path: Path) -> None:
    names = [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("aoe_reports")
        for alias in node.names
    ]
    assert [name for module, name in names if not hasattr(importlib.import_module(str(module)), name)] == []


def test_the_citation_has_what_its_format_requires_and_is_of_this_version() -> None:
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cited["cff-version"] == "1.2.0"
    assert all(isinstance(cited[key], str) and cited[key] for key in ("message", "title", "version", "license"))
    assert all(author.keys() >= {"name"} or author.keys() >= {"family-names"} for author in cited["authors"])
    assert (cited["title"], cited["version"], cited["license"]) == (project["name"], __version__, project["license"])
    assert set(cited["keywords"]) <= set(project["keywords"])
