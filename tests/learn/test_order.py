import numpy as np

from beholder.learn.order import places_at, random_at, steps_an_epoch


def test_an_epoch_sees_every_example_once() -> None:
    assert steps_an_epoch(12, 4) == 3
    for epoch in range(2):
        steps = range(3 * epoch, 3 * epoch + 3)
        parts = [places_at(step, part, examples=12, batch=4, parts=2, seed=5) for step in steps for part in (0, 1)]
        assert sorted(np.concatenate(parts)) == list(range(12))
    first, second = (places_at(step, 0, examples=12, batch=12, parts=1, seed=5) for step in (0, 1))
    assert first.tolist() != second.tolist()


def test_an_incomplete_batch_is_left_out_and_no_part_is_empty() -> None:
    assert steps_an_epoch(11, 4) == 2
    assert steps_an_epoch(3, 4) == 1
    parts = [places_at(0, part, examples=3, batch=4, parts=5, seed=0) for part in range(5)]
    assert all(len(part) == 1 for part in parts)


def test_step_and_part_have_random_states_of_their_own() -> None:
    drawn = {random_at(step, part, 3).integers(2**63) for step in range(3) for part in range(2)}
    assert len(drawn) == 6
    assert random_at(1, 1, 3).integers(2**63) in drawn
