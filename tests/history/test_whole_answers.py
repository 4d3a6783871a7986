"""What the commands on a small store answer, whole: lists of what is stored, changes, and what people say of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from commandline import Cli, Ended
from whole_texts import assert_recorded, rounded, rounded_text

EXPECTED = Path(__file__).with_name("whole_answers")
STEP = "b2fad839f96dfe0f"
SLOW, QUICK = "20260313T020000-6b8c3998", "20260312T020000-272513ae"
LISTS = {
    "runs": "store history",
    "runs.csv": "store history runs --workload net --since 2026-03-14",
    "runs.json": "store history --last 4",
    "run.json": f"store history --run {SLOW}",
    "records.json": f"store history records --run {SLOW}",
    "records.csv": "store history records --workload net/step --last 3",
    "records.jsonl": "store history records --scope op_type --since 2026-03-16",
    "advice.json": f"store history advice --run {SLOW}",
    "advice": f"store history advice --run {SLOW}",
    "verdicts.json": "store history verdicts",
    "verdicts": "store history verdicts",
}
CHANGES = {
    "regressions.json": "regressions",
    "regressions.csv": "regressions --all",
    "regressions": "regressions --all",
    "of-operators.json": "regressions --scope op --workload net --gate scope=op,effect>=60%",
    "whole.json": "regressions --whole-history --scope step",
    "whole": "regressions --whole-history",
    "nights-5.json": "regressions --baseline nights:5 --scope step --all",
    "of-a-run.json": f"regressions --baseline run:{QUICK} --scope step",
    "window": "regressions --baseline window:2026-03-02..2026-03-08 --workload net",
    "few.json": "regressions --workload bert --strict-data",
}
SAID = {
    "recorded.json": "regressions --record --scope step",
    "changes.json": "store history changes",
    "changes": "store history changes --workload net --since 2026-03-01",
    "tag.json": f"store tag good --run {QUICK} --who me",
    "tagged": "regressions --baseline tag:good --scope step",
    "ack.json": f"store ack {STEP} --reason slower --who me",
    "ack-again.json": f"store ack {STEP} --reason slower --who you",
    "expect.json": "store expect bert --from 2026-03-17 --until 2026-03-20 --change 0..5% --reason larger --who me",
    "acks.json": "store history acks",
    "acks": "store history acks",
    "accepted.json": "regressions --scope step",
    "accepted": "regressions",
    "again": "regressions --record --gate scope=op,effect>=10%",
    "revoked.json": f"store ack {STEP} --revoke --reason mistaken --who me",
    "revoked-again.json": f"store ack {STEP} --revoke --reason mistaken --who me",
    "nothing.json": "store ack 0123456789abcdef --reason slower",
    "compact": "store compact",
    "vacuum": "store vacuum",
    "verify": "store verify",
    "undo": f"store undo {QUICK}",
    "undone": "store history changes",
}


def told(ended: Ended, form: str) -> str:
    """What a command printed, and how it ended; NOW is the time at which somebody said something, ID what it is called."""
    text = ended.out if form == "json" else rounded_text(ended.out)
    if form == "json" and text:
        text = json.dumps(rounded(json.loads(text)), indent=1, ensure_ascii=False) + "\n"
    text = f"{text.rstrip()}\n{ended.err}exit code {ended.code}\n"
    text = re.sub(r"20(?!26-03)\d\d-\d\d-\d\dT[\d:]+\+00:00", "NOW", text)
    text = re.sub(r"\b1(?!772|773)\d{18}\b", "NOW", text)
    return re.sub(r"\b(?=\w*[a-f])(?=\w*\d)[0-9a-f]{12}\b|\b\d{12}\b", "ID", text)


def test_each_command_says_all_of_this(cli: Cli, small_store: Path) -> None:
    found = {}
    for name, command in {**LISTS, **CHANGES, **SAID}.items():
        form = name.partition(".")[2] or "text"
        found[name] = told(cli(*command.split(), "--store", small_store, "--format", form), form)
    assert_recorded(EXPECTED, found, all_of_it=True)
