"""The JSON Schemas need nothing of this package: any draft 2020-12 validator will do."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[1]
schema = json.loads((ROOT / "schemas" / "opat.schema.json").read_text(encoding="utf-8"))
for path in sorted((ROOT / "fixtures" / "aoe").glob("*/*/aoe_result_opat_*.json")):
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        continue
    errors = list(Draft202012Validator(schema).iter_errors(document))
    print(f"{path.parent.name}: {errors[0].json_path + ' ' + errors[0].message[:80] if errors else 'fits the schema'}")
