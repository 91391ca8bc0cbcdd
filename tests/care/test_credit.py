"""Credit: PageRank against networkx-like power iteration, rings of several kinds, and votes of the board."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.care.credit import credit_statement, polished_standing, share_credit
from beholder.care.governance import Choice, GovernanceError, Role, count_votes
from beholder.errors import StatisticsError
from beholder.simulate.panels.rings import RingKind, simulate_ring

BOARD: dict[str, Role] = dict.fromkeys(("r1", "r2", "r3"), "rater")
BOARD |= dict.fromkeys(("s1", "s2", "s3"), "researcher")
BOARD["i"] = "independent"


class TestCredit:
    def test_by_hand(self) -> None:
        # three who give alike: everybody gets a third, and nobody is flagged
        credit = share_credit("abc", np.ones((3, 3)))
        assert credit.proportion == pytest.approx(np.full(3, 1 / 3))
        assert not credit.flagged.any()

    def test_plain_pagerank_is_that_of_power_iteration(self) -> None:
        rng = np.random.default_rng(0)
        points = rng.random((6, 6))
        np.fill_diagonal(points, 0)
        rows = points / points.sum(axis=1, keepdims=True)
        rank = np.full(6, 1 / 6)
        for _ in range(300):
            rank = 0.85 * rank @ rows + 0.15 / 6
        assert share_credit("abcdef", points).plain == pytest.approx(rank)

    def test_what_one_gives_oneself_does_not_count(self) -> None:
        points = np.ones((4, 4))
        selfish = points + 1000 * np.eye(4)
        assert share_credit("abcd", selfish).proportion == pytest.approx(share_credit("abcd", points).proportion)

    def test_a_standing_ignores_a_minority(self) -> None:
        rows = np.tile([0.4, 0.3, 0.2, 0.1, 0.0001, 0.0001], (6, 1))
        rows[4] = rows[5] = [0, 0, 0, 0, 0.5, 0.5]
        assert polished_standing(rows, np.ones(6, bool))[:4] == pytest.approx([0.4, 0.3, 0.2, 0.1], abs=0.02)

    @given(st.integers(0, 10_000), st.floats(0.1, 50))
    def test_scale_and_order_do_not_matter(self, seed: int, scale: float) -> None:
        rng = np.random.default_rng(seed)
        points, order = rng.random((7, 7)) + 0.1, rng.permutation(7)
        plain = share_credit("abcdefg", points)
        moved = share_credit("abcdefg", scale * points[np.ix_(order, order)])
        assert moved.proportion == pytest.approx(plain.proportion[order])
        assert plain.proportion.sum() == pytest.approx(1)

    @pytest.mark.parametrize("kind", ["clique", "cycle", "half"])
    def test_a_ring_gains_nothing(self, kind: RingKind) -> None:
        runs = [simulate_ring(20, 4, kind, np.random.default_rng(seed)) for seed in range(8)]
        assert np.mean([run.plain for run in runs]) > 1.4
        assert np.mean([run.protected for run in runs]) < 1.1
        assert np.mean([run.flagged_honest for run in runs]) < 0.02

    def test_the_statement_is_in_order(self) -> None:
        credit = share_credit(["ada", "bo", "cy"], [[0, 1, 9], [1, 0, 9], [5, 5, 0]])
        assert credit_statement(credit, {"cy": ["software"]}).splitlines()[0] == "cy (46 %): software"

    def test_too_few(self) -> None:
        with pytest.raises(StatisticsError, match="at least 3"):
            share_credit("ab", np.ones((2, 2)))


class TestVotes:
    def test_no_side_decides_alone(self) -> None:
        assert count_votes(BOARD, dict.fromkeys(("r1", "r2", "r3"), "yes")).status == "open"
        assert count_votes(BOARD, dict.fromkeys(("r1", "r2", "r3", "i"), "yes")).status == "adopted"
        assert count_votes(BOARD, dict.fromkeys(("s1", "s2", "s3", "i"), "no")).status == "rejected"

    def test_faults_are_listed_at_once(self) -> None:
        with pytest.raises(GovernanceError, match="2 faults"):
            count_votes(BOARD, {"stranger": "yes", "r1": "maybe"})  # type: ignore[dict-item]
        with pytest.raises(GovernanceError, match="4 rater seats; 3 are the most"):
            count_votes(BOARD | {"r4": "rater"}, {})

    def test_an_empty_seat_keeps_a_proposal_open(self) -> None:
        six: dict[str, Role] = {name: role for name, role in BOARD.items() if name != "r1"}
        against: dict[str, Choice] = {"s1": "no", "s2": "no", "s3": "no"}
        assert count_votes(six, against).status == "open"  # three left and an empty seat can still adopt it
        assert count_votes(six, against | {"i": "no"}).status == "rejected"
        assert count_votes({}, {}).status == "open"
