"""The answers that other people's formats hold: those that count in our results."""

import polars as pl

from beholder.formats.format import Tables
from beholder.judgements.joined import join_trials


def answered_tests(tables: Tables, question: str) -> pl.DataFrame:
    """Valid answers to a question's test trials, with images, prompt and expected answer of the trial."""
    texts = tables["prompts"].select("prompt", "text")
    sessions = tables["sessions"]
    answers = tables["answers"].filter(pl.col("question") == question)
    return (
        join_trials(answers, tables["trials"], sessions)
        .join(sessions.select("session", "status", "started"), on="session", maintain_order="left")
        .filter(pl.col("role") == "test")
        .join(texts, on="prompt", how="left", maintain_order="left")
        .with_columns(pl.col("text").fill_null(""))
    )


def public_paths(images: pl.DataFrame) -> dict[str, str]:
    """Image → its path in the study folder; a file that lies elsewhere is named by its id, not by its place."""
    return {
        image: image if path.startswith(("/", "\\")) or path[1:3] in (":\\", ":/") else path
        for image, path in images.select("image", "path").iter_rows()
    }


def competition_ranks(scores: list[float]) -> list[int]:
    """Rank of each score, 1 the least; equal scores share the better rank: 1, 2, 2, 4."""
    return [1 + sum(other < score for other in scores) for score in scores]
