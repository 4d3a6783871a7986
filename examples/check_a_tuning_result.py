"""Read an AOE result and hold its claims against its own times."""

from pathlib import Path

from aoe_reports import check_result_file, read_results

path = next((Path(__file__).parents[1] / "fixtures/aoe/valid/array_grouped").iterdir())
file = read_results(path)
for result in file.results:
    print(f"{result.tuning_name}: {result.status}")
    for change in result.modifications:
        if change.before is not None and change.after is not None:
            faster = (change.before / change.after - 1) * 100
            saved = (1 - change.after / change.before) * 100
            print(f"  {change.name}: claims {change.improvement}, speed-up {faster:.2f}%, time saved {saved:.2f}%")
print(f"{len(check_result_file(file))} findings")
