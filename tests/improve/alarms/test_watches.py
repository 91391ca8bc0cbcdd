"""Alarms: silent where nothing changed, and raised by each kind of damage alone."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.improve.alarms.alarm import raised
from beholder.improve.alarms.statistics import STATISTICS, image_statistics
from beholder.improve.alarms.watches import Watches
from beholder.simulate.grammar import draw_requests
from beholder.simulate.painter import Policy, paint

Images = NDArray[np.uint8]
COUNT = 40


def painted(seed: int) -> Images:
    rng = np.random.default_rng(seed)
    policy = Policy("some", implausible=0.5, misaligned=0.1, composition=0.1, haze=0.2)
    return np.stack([paint(request, policy, size=32, rng=rng).pixels for request in draw_requests(COUNT, rng)])


def small(images: Images) -> NDArray[np.float32]:
    """The means of 4 × 4 blocks, as features."""
    blocks = images.reshape(len(images), 4, 8, 4, 8, 3).mean((2, 4)).reshape(len(images), -1)
    return np.asarray(blocks + 1, dtype=np.float32)


@pytest.fixture(scope="module")
def watches() -> Watches:
    prompts = tuple(f"prompt {number}" for number in range(COUNT))

    def light(images: Images, _: object) -> NDArray[np.float64]:
        return np.asarray(images.mean((1, 2, 3)) / 255, dtype=np.float64)

    return Watches(prompts, painted(1), painted(2), small, painted(3), {"light": light})


def names(watches: Watches, images: Images) -> set[str]:
    return {alarm.watch for alarm in raised(watches.look(images))}


def test_no_change_and_other_seeds_raise_nothing(watches: Watches) -> None:
    assert names(watches, watches.before) == set()
    same = {alarm.watch: alarm.value for alarm in watches.look(watches.before)}
    assert same["diversity"] == same["realism"] == 1
    assert same["distance"] == same["colour"] == same["held-out light"] == 0
    assert names(watches, watches.others) <= {"held-out light"}


def dots(images: Images) -> Images:
    steps = np.arange(32)
    grid = 40 * np.cos(steps * 2 * np.pi / 4)[:, None] * np.cos(steps * 2 * np.pi / 4)[None, :]
    return np.asarray(np.clip(images + grid[..., None], 0, 255), dtype=np.uint8)


def reddened(images: Images) -> Images:
    return np.asarray(np.clip(images * np.array([1.5, 0.75, 0.75]), 0, 255), dtype=np.uint8)


def alike(images: Images) -> Images:
    return np.clip(0.1 * images + 0.9 * images[:1], 0, 255).astype(np.uint8)


def darker(images: Images) -> Images:
    return (images * 0.9).astype(np.uint8)


def inverted(images: Images) -> Images:
    return (255 - images).astype(np.uint8)


@pytest.mark.parametrize(
    ("damage", "watch"),
    [
        (dots, "frequency"),
        (reddened, "colour"),
        (alike, "diversity"),
        (darker, "held-out light"),
        (inverted, "realism"),
        (inverted, "distance"),
    ],
)
def test_each_kind_of_damage_raises_its_alarm(
    watches: Watches, damage: Callable[[Images], Images], watch: str
) -> None:
    assert watch in names(watches, damage(watches.before))


def test_an_interval_contains_its_value_and_a_sentence_says_it(watches: Watches) -> None:
    for alarm in watches.look(darker(watches.before)):
        assert alarm.low <= alarm.value <= alarm.high
        assert alarm.sentence
        assert alarm.row(3)["step"] == 3


def test_statistics_by_hand() -> None:
    grey = np.full((1, 32, 32, 3), 51, np.uint8)
    red = np.zeros((1, 32, 32, 3), np.uint8)
    red[..., 0] = 255
    rows = image_statistics(np.concatenate([grey, red]))
    light, red_green = STATISTICS.index("light"), STATISTICS.index("red–green")
    assert rows[0, light] == pytest.approx(0.2)
    assert rows[1, light] == pytest.approx(1 / 3)
    assert rows[0, red_green] == 0
    assert rows[1, red_green] == 1
    assert rows[:, STATISTICS.index("light spread")] == pytest.approx(0)
    regular = dots(np.full((1, 32, 32, 3), 128, np.uint8))
    assert image_statistics(regular)[0, -1] > image_statistics(painted(1)).max(axis=0)[-1]
