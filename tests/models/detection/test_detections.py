"""Which boxes remain, worked by hand."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from beholder.models.detection.detections import LEAST, OVERLAP, overlaps, suppress


def test_a_box_goes_where_a_better_one_of_its_class_is() -> None:
    boxes = torch.tensor([[0.0, 0.0, 0.4, 0.4], [0.1, 0.0, 0.5, 0.4], [0.6, 0.6, 0.9, 0.9]])
    # the first two share .3 × .4 = .12 of .16 + .16 − .12 = .20: .6, more than .45
    confidences = torch.tensor([[0.5, 0.0], [0.8, 0.3], [0.6, 0.04]])
    found = suppress(boxes, confidences)
    assert found.confidences.round(6).tolist() == [0.8, 0.6, 0.3]
    assert found.classes.tolist() == [0, 0, 1]
    assert found.boxes.round(6).tolist() == [[0.1, 0, 0.5, 0.4], [0.6, 0.6, 0.9, 0.9], [0.1, 0, 0.5, 0.4]]


def test_nothing_is_found_in_nothing() -> None:
    assert suppress(torch.zeros(3, 4), torch.zeros(3, 2)).confidences.tolist() == []


@given(st.integers(0, 2**32 - 1))
def test_what_remains_is_confident_and_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners = rng.random((12, 2)) * 0.6
    boxes = np.concatenate([corners, corners + rng.random((12, 2)) * 0.4 + 0.01], axis=1)
    found = suppress(torch.from_numpy(boxes), torch.from_numpy(rng.random((12, 3))))
    assert (found.confidences > LEAST).all()
    assert (np.diff(found.confidences) <= 0).all()
    for which in range(3):
        same = found.boxes[found.classes == which]
        for place in range(1, len(same)):
            assert overlaps(same[place], same[:place]).max() < OVERLAP
