"""The ground truth of several images, as one trial shows them."""

import pytest

from beholder.simulate.sight import ASPECTS, View, sight_of


def test_images_in_the_order_shown() -> None:
    first = View(0.5, dict.fromkeys(ASPECTS, 0.9), {"implausibility": ((0.1, 0.2),)}, words=(2,))
    second = View(1.5, dict.fromkeys(ASPECTS, 0.4), {"misalignment": ((0.3, 0.4),)}, words=(7,))
    sight = sight_of([first, second])
    assert sight.detectability.tolist() == [0.5, 1.5]
    assert set(sight.quality) == set(ASPECTS)
    assert sight.quality["overall"].tolist() == [0.9, 0.4]
    assert sight.points == {"implausibility": (((0.1, 0.2),), ()), "misalignment": ((), ((0.3, 0.4),))}
    assert sight.words == (2,)  # of the first: only one image is asked about its words


def test_an_aspect_that_is_not_known_is_an_error() -> None:
    with pytest.raises(KeyError, match="overall"):
        sight_of([View(0.0, dict.fromkeys(ASPECTS[:3], 1.0))])
