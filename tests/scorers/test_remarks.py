"""Sentences on training images and on domain shift, and how often they are said by mistake."""

import numpy as np

from beholder.scorers.remarks import shift_remark, shift_remarks, training_remark


def test_what_was_trained_on() -> None:
    assert training_remark("s", "D", 0, 10) is None
    assert "all of these images (D)" in str(training_remark("s", "D", 10, 10))
    assert "1,500 of these 2,000 images (D)" in str(training_remark("s", "D", 1500, 2000))
    assert "the other 500, which are held out" in str(training_remark("s", "D", 1500, 2000))


def test_single_images_and_sets() -> None:
    assert shift_remark("s", []) is None
    assert shift_remark("s", [0.9]) is None
    assert "the image is unlike" in str(shift_remark("s", [1.1]))
    assert shift_remark("s", [1.1, 0.5]) is None
    assert "2 of 2 images (100 %)" in str(shift_remark("s", [1.1, 1.5, float("nan")]))
    assert shift_remarks({"s": "t", "u": "v"}, {"t": [1.2]}) == [shift_remark("s", [1.2])]


def test_false_alarms_and_power_for_sets() -> None:
    # Images like the training set exceed 1 in 5 % of cases; a set of 100 must then hardly ever be reported.
    rng = np.random.default_rng(0)

    def is_reported(proportion: float) -> bool:
        return shift_remark("s", (0.5 + (rng.random(100) < proportion)).tolist()) is not None

    alarms = [np.mean([is_reported(proportion) for _ in range(500)]) for proportion in (0.05, 0.3)]
    assert alarms[0] <= 0.02
    assert alarms[1] >= 0.99
