"""The curate stage: from prompt sets to the prompts that images are to be generated from."""

from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from beholder.curate.candidate import Candidate
from beholder.curate.rows import curated_tables
from beholder.curate.settings import Curation, load_curation
from beholder.curate.sources import candidates_of, fingerprint, read_sources
from beholder.curate.steps import (
    CHOSEN,
    HELD_OUT,
    check_candidates,
    choose_candidates,
    clean_candidates,
    compare_candidates,
    hold_out_candidates,
    tag_candidates,
    write_candidates,
)
from beholder.errors import StageError
from beholder.prompts.checks.word_lists import read_word_list
from beholder.prompts.duplicates.paraphrases import SentenceEncoder
from beholder.prompts.prompt import PromptSet
from beholder.tables.provenance import file_hash
from beholder.tables.stages import CURATE, STAGES
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, perform
from beholder.workers.sentences import WorkerSentenceEncoder

STAGE = STAGES["curate"]
REASONS = 5
"""Reasons named where no prompt is left; the others are counted."""


def run(folder: Path, *, force: bool = False, encoder: SentenceEncoder | None = None) -> Outcome:
    """Choose prompts as ``curate.toml`` says, unless that was done with the same settings and sets already.

    Args:
        folder: the study folder, with ``curate.toml``.
        force: do it even if nothing has changed.
        encoder: computes sentence embeddings where paraphrases are to be reported; by default MiniLM in a worker.

    Returns:
        The rows that were written; nothing is written where anything is wrong.
    """
    settings, store = load_curation(folder), Store(folder)
    sets = read_sources(settings.sets, folder)
    word_lists = {name: read_word_list(folder / path) for name, path in settings.checks.word_lists.items()}
    files = {each.full_name: fingerprint(each) for each in sets}
    files |= {f"word list {name}": file_hash(folder / path) for name, path in settings.checks.word_lists.items()}
    work = Work(CURATE, settings.model_dump(mode="json", exclude={"seed"}), settings.seed, files)

    def compute(_store: Store) -> dict[str, pl.DataFrame]:
        with ExitStack() as closing:
            used = encoder
            if settings.duplicates.paraphrases and used is None:
                used = closing.enter_context(WorkerSentenceEncoder())
            return _curate(settings, sets, word_lists, used if settings.duplicates.paraphrases else None)

    outcome = perform(store, work, compute, force=force)
    return replace(outcome, note=_note(store))


def _curate(
    settings: Curation,
    sets: list[PromptSet],
    word_lists: dict[str, tuple[str, ...]],
    encoder: SentenceEncoder | None,
) -> dict[str, pl.DataFrame]:
    writing, choosing = np.random.default_rng(settings.seed).spawn(2)
    candidates = candidates_of(sets)
    clean_candidates(candidates, settings.clean)
    check_candidates(candidates, settings.checks, word_lists)
    written = write_candidates(candidates, settings.write, writing)
    check_candidates(written, settings.checks, word_lists)
    candidates += written
    pairs = compare_candidates(candidates, settings.duplicates, encoder)
    tag_candidates(candidates)
    choose_candidates(candidates, settings.choose, choosing)
    hold_out_candidates(candidates, pairs, settings.choose)
    if not any(candidate.status in (CHOSEN, HELD_OUT) for candidate in candidates):
        raise _nothing_left(candidates)
    return curated_tables(sets, candidates, pairs)


def _note(store: Store) -> str:
    """Say how many candidates became what."""
    counts = Counter(store.read("prompt_candidates")["status"])
    return ", ".join(f"{count:,} {status}" for status, count in counts.most_common())


def _nothing_left(candidates: list[Candidate]) -> StageError:
    reasons = Counter(candidate.reason.partition(":")[0] for candidate in candidates).most_common()
    lines = [f"  - {count:,} × {reason}" for reason, count in reasons[:REASONS]]
    return StageError("\n".join(["no prompt is left to choose from: all were dropped", *lines]))
