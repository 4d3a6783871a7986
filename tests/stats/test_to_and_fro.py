"""Two modes that stay: who was there and back three times has them, and in a workload that is known for it once is enough."""

from __future__ import annotations

import numpy as np

from aoe_reports.stats import noise
from aoe_reports.stats.to_and_fro import LASTING, LASTING_ALONE, Path, find_paths, go_to_and_fro


def levels(*stays: tuple[int, float], seed: int = 0) -> np.ndarray:
    """Logarithms of so many nights on each level, with noise of 1 %."""
    steps = np.concatenate([np.full(nights, level) for nights, level in stays])
    return np.asarray(steps + 0.01 * np.random.default_rng(seed).standard_normal(len(steps)))


def paths_of(logs: np.ndarray) -> dict[int, Path]:
    lengths = np.full(len(logs), logs.shape[1])
    sigma, _ = noise.estimate(logs, lengths)
    return find_paths(logs, noise.clip(logs, lengths, sigma), lengths, sigma)


THRICE = ((30, 0.0), (15, 0.05), (20, 0.0), (10, 0.05), (10, 0.0), (10, 0.05), (15, 0.0))
ONCE = ((50, 0.0), (25, 0.05), (35, 0.0))


def test_there_and_back_three_times_is_to_and_fro_and_what_came_for_the_third_time_is_not() -> None:
    third = (*THRICE[:5], (25, 0.05))
    paths = paths_of(np.stack([levels(*THRICE), levels(*third)]))
    assert {row: path.switches for row, path in paths.items()} == {0: 6, 1: 5}
    assert go_to_and_fro(paths, None) == [0]


def test_a_path_moves_all_nights_to_the_newest_mode() -> None:
    logs = levels(*THRICE)
    path = paths_of(logs[None])[0]
    assert path.newest.night == 95
    assert abs(path.newest.step + 0.05) < 0.005
    moved = path.in_newest_mode(logs)
    assert abs(moved.mean()) < 0.005
    assert moved.std() < 0.0125


def test_once_is_enough_where_a_quarter_of_the_workload_was_there_three_times() -> None:
    thrice, once = [levels(*THRICE, seed=seed) for seed in (1, 2)], [levels(*ONCE, seed=seed) for seed in range(3, 10)]
    paths = paths_of(np.stack([*thrice, *once]))
    assert sorted(paths) == list(range(9))
    assert sorted(go_to_and_fro(paths, [0, 0, 0, 0, 0, 0, 0, 0, 1])) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert sorted(go_to_and_fro(paths, [0] * 9)) == [0, 1]
    # one series alone is no habit of a workload
    assert sorted(go_to_and_fro(paths, [0, 1, 0, 1, 2, 2, 2, 2, 2])) == [0, 1]


def test_who_hardly_stays_has_modes_only_where_its_workload_has() -> None:
    path = paths_of(levels(*THRICE)[None])[0]
    hardly = path._replace(lasting=(LASTING + LASTING_ALONE) / 2)
    assert path.lasting > LASTING_ALONE
    assert go_to_and_fro({0: hardly, 1: path}, None) == [1]
    assert go_to_and_fro({0: hardly, 1: path}, [0, 1]) == [1]
    assert go_to_and_fro({0: hardly, 1: path}, [0, 0]) == [0, 1]


def test_who_comes_back_to_another_level_has_no_modes() -> None:
    others = ((30, 0.0), (15, 0.2), (20, 0.04), (15, 0.25), (10, 0.08))
    assert not paths_of(levels(*others)[None])


def test_one_step_and_plain_noise_have_no_path() -> None:
    assert not paths_of(np.stack([levels((90, 0.0)), levels((50, 0.0), (40, 0.05))]))
