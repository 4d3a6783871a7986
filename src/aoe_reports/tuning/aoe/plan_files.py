"""What AOE is told by files of a plan's folder: the list of operators, the configuration that a TensorFlow script names."""

from __future__ import annotations

from pathlib import Path

from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import ReadError
from aoe_reports.model.texts import say
from aoe_reports.tuning.aoe.command import AOE_CONFIG, TUNE_OPS
from aoe_reports.tuning.plan import TuneOps, tune_ops_of_document
from aoe_reports.tuning.plan_folder import read_json


def read_tune_ops(folder: Path) -> TuneOps | None:
    """What a folder's tune_ops.json asks for; None where there is none. ReadError for what AOE would not take."""
    path = folder / TUNE_OPS
    if not path.exists():
        return None
    form = '{"tune_ops_name": [...], "tune_ops_type": [...]}'
    expected = say("expected {form} without other content, and not empty", form=form)
    asked = tune_ops_of_document(read_json(path, None, expected))
    if asked is None:
        raise ReadError(path, say("not a list of operators and types"), expected)
    return asked


def read_config(folder: Path) -> JsonObject:
    """A folder's aoe_config.json, which a TensorFlow script names; empty where there is none."""
    path = folder / AOE_CONFIG
    if not path.exists():
        return {}
    expected = say("expected the aoe_config_file of a TensorFlow script: a JSON object")
    document = read_json(path, None, expected)
    if not isinstance(document, dict):
        raise ReadError(path, say("not a JSON object"), expected)
    return document
