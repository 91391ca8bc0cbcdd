"""Who is held out is a matter of the name alone, and a target names its model."""

import pytest

from beholder.rounds.attacks import Attack, AttackRounds, RoundCounts, held_out_attackers, model_name
from beholder.rounds.pair_claims import PLACES, place_of, placed_name


def test_somebody_is_held_out_and_stays_so_when_others_come() -> None:
    people = [f"rater-{number}" for number in range(80)]
    before, after = held_out_attackers(people[:40]), held_out_attackers(people)
    assert before == after & set(people[:40])
    for count in range(1, 12):  # few people: at least one, and not all of several
        assert 1 <= len(held_out_attackers(people[:count])) <= max(count - 1, 1)


def test_about_three_in_ten_are_held_out() -> None:
    people = [f"rater-{number}" for number in range(2000)]
    assert len(held_out_attackers(people)) == pytest.approx(600, abs=60)  # 3 standard errors of 20


def test_a_target_names_its_model() -> None:
    assert model_name("models/tiny") == model_name("models/tiny/fold-0") == "tiny"
    assert model_name("sharpness") == "sharpness"


def test_attacks_of_held_out_people_are_never_trained_on() -> None:
    attacks = tuple(Attack(number, who, "a", "b") for number in (1, 2) for who in ("ann", "bob"))
    counts = tuple(RoundCounts(number, f"models/m{number}", 3, 2, 0, 1.0) for number in (1, 2))
    rounds = AttackRounds(counts, attacks, (1,), frozenset({"bob"}))
    assert [(attack.round, attack.attacker) for attack in rounds.training] == [(1, "ann")]
    assert [(attack.round, attack.attacker) for attack in rounds.testing] == [(1, "bob"), (2, "bob")]
    assert rounds.parent == "m1"


def test_the_claimed_image_stands_in_either_place() -> None:
    claims = [f"{number:024x}" for number in range(100)]
    assert {place_of(claim) for claim in claims} == set(PLACES)
    assert placed_name("c1", "second") == "c1-second"
