import numpy as np
import torch

from beholder.models.rich_feedback.keywords import IGNORED, decoder_targets, mark_prompt, misaligned_probabilities
from beholder.models.rich_feedback.tokenizer import PromptTokenizer, collect_vocabulary, word_tokenizer

TOKENIZER = word_tokenizer(("a", "cat", "red"))  # 4, 5, 6
WORDS = [(4,), (6,), (5,)]  # a red cat


def test_written_by_hand() -> None:
    text = mark_prompt(WORDS, [False, True, False], TOKENIZER)
    assert text.token_ids == [4, 6, 3, 5, 1]
    assert text.word_ends == [1, 2, 4]
    decoder_ids, target_ids = decoder_targets([text, mark_prompt([(5,)], [True], TOKENIZER)], TOKENIZER)
    assert decoder_ids.tolist() == [[0, 4, 6, 3, 5], [0, 5, 3, 0, 0]]
    assert target_ids.tolist() == [[4, 6, 3, 5, 1], [5, 3, 1, IGNORED, IGNORED]]


def test_words_of_several_pieces() -> None:
    text = mark_prompt([(4, 5), (6,)], [True, False], PromptTokenizer(8, 0, 1, (3, 7), _words={}))
    assert text.token_ids == [4, 5, 3, 7, 6, 1]
    assert text.word_ends == [2, 5]


def one_word_at_a_time(words: list[tuple[int, ...]], decode: torch.nn.Module) -> list[float]:
    """The same choices, made the slow way: a pass for each word."""
    numbers, chances = [TOKENIZER.pad], []
    successors = [*(word[0] for word in words[1:]), TOKENIZER.end][: len(words)]
    for word, after in zip(words, successors, strict=True):
        numbers += word
        logits = decode(torch.tensor([numbers]))[0, -1].double()
        chances.append(float(torch.sigmoid(logits[3] - logits[after])))
        if chances[-1] > 0.5:
            numbers += TOKENIZER.mark
    return chances


class Causal(torch.nn.Module):
    """A fake decoder: the next token depends on all tokens so far, in their order."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.table = torch.randn(7, 7, generator=torch.Generator().manual_seed(seed)) * 3

    def forward(self, decoder_ids: torch.Tensor) -> torch.Tensor:
        steps = torch.arange(1, decoder_ids.shape[1] + 1)[None, :, None]
        return torch.sin(torch.cumsum(self.table[decoder_ids] * steps, 1)) * 4


def test_few_passes_make_the_same_choices_as_many() -> None:
    rng = np.random.default_rng(0)
    passes, marks = 0, 0
    for seed in range(20):
        causal = Causal(seed)
        words = [[(int(rng.integers(4, 7)),) for _ in range(rng.integers(0, 9))] for _ in range(4)]

        def margins(
            decoder_ids: torch.Tensor, successors: torch.Tensor, rows: torch.Tensor, causal: Causal = causal
        ) -> torch.Tensor:
            nonlocal passes
            passes += 1
            assert len(decoder_ids) == len(successors) == len(rows)
            logits = causal.forward(decoder_ids).double()
            return logits[..., TOKENIZER.mark[0]] - logits.gather(-1, successors[..., None])[..., 0]

        probabilities = misaligned_probabilities(words, TOKENIZER, margins)
        for prompt_words, word_probabilities in zip(words, probabilities, strict=True):
            np.testing.assert_allclose(
                word_probabilities, one_word_at_a_time(list(prompt_words), causal), rtol=1e-12
            )
            marks += int((word_probabilities > 0.5).sum())
    assert marks > 100
    assert passes < 20 * 9


def test_marks_that_do_not_depend_on_each_other_take_two_passes() -> None:
    passes = 0

    def margins(decoder_ids: torch.Tensor, successors: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        nonlocal passes
        passes += 1
        assert len(rows) == len(successors)
        return torch.where(decoder_ids == 6, 1.0, -1.0)  # after each "red", whatever stands elsewhere

    probabilities = misaligned_probabilities([[(6,), (4,), (6,), (6,), (5,)], [(4,)]], TOKENIZER, margins)
    assert [(word_probabilities > 0.5).tolist() for word_probabilities in probabilities] == [
        [True, False, True, True, False],
        [False],
    ]
    assert passes == 2


def test_vocabulary() -> None:
    assert collect_vocabulary(["A red cat, red!"], "alignment score") == ("a", "alignment", "cat", "red", "score")
    assert TOKENIZER.encode_word("RED") == (6,)
    assert TOKENIZER.encode_word("dog") == TOKENIZER.encode_word("ネコ") == (2,)
    assert TOKENIZER.encode_prompt("a red cat", 3) == ([4, 6, 1], [(4,), (6,)])
    assert TOKENIZER.encode_prompt("", 8) == ([1], [])
