import torch

from beholder.models.rich_feedback.grounded.word_maps import Naming, WordMaps, cell_positions
from beholder.models.rich_feedback.grounded.words import Offsets, WordLayer


def test_padding_changes_no_word() -> None:
    torch.manual_seed(0)
    layer = WordLayer(16, 2, dropout=0.0)
    words = torch.randn(1, 5, 16)
    mask = torch.tensor([[1, 1, 1, 0, 0]])
    torch.testing.assert_close(layer(words, mask)[:, :3], layer(words[:, :3], mask[:, :3]))
    changed = layer(torch.randn(1, 5, 16), mask)[:, :3]
    assert not torch.allclose(changed, layer(words, mask)[:, :3])


def test_a_word_depends_on_the_distance_of_the_others() -> None:
    torch.manual_seed(0)
    layer = WordLayer(16, 2, dropout=0.0)
    torch.nn.init.normal_(layer.distance.logits)
    words, mask = torch.randn(1, 4, 16), torch.ones(1, 4, dtype=torch.int64)
    swapped = layer(words[:, [0, 2, 1, 3]], mask)
    assert not torch.allclose(swapped[:, 0], layer(words, mask)[:, 0])


def test_offsets_are_of_a_word_before_and_a_word_after() -> None:
    torch.manual_seed(0)
    offsets = Offsets(8, pointers=1)
    words, mask = torch.randn(1, 3, 8), torch.ones(1, 3, dtype=torch.int64)
    positions = torch.tensor([[[-0.5, 0.0], [0.9, 0.9], [0.5, 0.0]]])
    evidence = offsets(words, positions, mask)[:, 1]
    # the middle word has one word on either side, so its offset is (−0.5, 0) − (0.5, 0) = (−1, 0)
    expected = offsets.evidence(offsets.offset(torch.tensor([[-1.0, 0.0]])) * offsets.word(words[:, 1]))
    torch.testing.assert_close(evidence, expected)
    mirrored = offsets(words, positions * torch.tensor([-1.0, 1.0]), mask)[:, 1]
    bias = offsets.evidence.bias
    torch.testing.assert_close(mirrored - bias, -(evidence - bias))


def test_the_logit_of_a_named_word_is_that_of_its_best_cells() -> None:
    torch.manual_seed(0)
    naming = Naming(5, 8)
    similarity = torch.zeros(1, 2, 4)
    similarity[0, 0, 2] = 10.0
    logits = naming.logits(similarity, torch.tensor([1, 2]))
    # ln(3 + e¹⁰) − ln 4 − 2 and ln 4 − ln 4 − 2
    torch.testing.assert_close(logits, torch.tensor([[10.000136 - 1.386294 - 2, -2.0]]))


def test_the_position_of_a_word_is_that_of_the_cells_that_show_it() -> None:
    torch.manual_seed(0)
    maps = WordMaps(8, channels=2, pointers=2, grid=4)
    naming = torch.zeros(1, 1, 16)
    naming[0, 0, 7] = 60.0  # second row, last column
    trunk, words = torch.randn(1, 8, 4, 4) / 100, torch.randn(1, 1, 8)
    _, positions, evidence = maps(trunk, words, naming, torch.zeros(1, 1))
    torch.testing.assert_close(positions, torch.tensor([[[0.75, -0.25, 0.75, -0.25]]]), atol=1e-4, rtol=0)
    assert evidence.shape == (1, 1, 8)


def test_cells_are_numbered_row_by_row() -> None:
    expected = [[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [0.5, 0.5]]
    torch.testing.assert_close(cell_positions(2), torch.tensor(expected))
