"""What rules say of themselves is in the catalogues."""

from __future__ import annotations

import json
from pathlib import Path

from catalogues import CHINESE
from commandline import FIXTURES, Cli

from aoe_reports.jobs.rules import list_rules
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import Text, in_language
from aoe_reports.topics.files.check import check


def test_every_reason_is_in_the_catalogue() -> None:
    texts = [text for one in list_rules() for text in (one.on, one.reason) if isinstance(text, Text)]
    assert len(texts) == 2 * len(list_rules())
    assert [text for text in texts if text.template not in CHINESE] == []


def test_rules_are_listed_in_chinese_and_stay_english_in_json(cli: Cli) -> None:
    listed = cli("check", "--rules", "--lang", "zh").out
    assert "文件末尾没有换行符" in listed
    assert "the file does not end with a line end" not in listed
    assert cli("check", "--rules", "--lang", "zh", "--format", "json").out == (
        cli("check", "--rules", "--format", "json").out
    )


def test_a_schema_speaks_chinese_with_the_names_of_the_file(cli: Cli, tmp_path: Path) -> None:
    record = tmp_path / "records.json"
    record.write_text('[{"workload": 3, "runtime_ms_mean": "a} {b"}]')
    said = cli("check", str(record), "--lang", "zh").out
    assert '3 的类型不是 "string"' in said
    assert '缺少必需的属性 "engine"' in said
    assert '"a} {b" 的类型不是' in said
    assert "is a required" not in said


def test_findings_that_were_laid_aside_are_said_as_before() -> None:
    """Thousands of findings are kept as JSON until they are printed."""
    findings = list(check([FIXTURES]).findings)
    back = [Finding.from_fields(json.loads(json.dumps(finding.as_fields()))) for finding in findings]
    assert back == findings
    said = [[in_language(finding.as_text(), "zh") for finding in some] for some in (findings, back)]
    assert said[0] == said[1]
    assert len(findings) > 50
