"""``beholder explain``: predicted rich feedback on images: heatmaps, misaligned keywords and scores."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from beholder.cli.options import background_option, engine_options, keep_option
from beholder.cli.output import WIDE, show_json
from beholder.cli.progress import progress_bar
from beholder.cli.prompts import read_prompts
from beholder.engines.engine import open_engine
from beholder.feedback.image_feedback import AspectScore, ImageFeedback
from beholder.feedback.labels import MISSED
from beholder.images.sources import captions, find_images
from beholder.report.site.explained_page import write_page
from beholder.report.text.words import count, count_raters, percent
from beholder.stats.prediction.heatmap_summary import HeatmapSummary, heatmap_summary
from beholder.study.words import split_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beholder.models.explained import Explained
    from beholder.scorers.rich.explain import Explanations
    from beholder.scorers.rich.members import Member


@click.command("explain")
@click.argument("images", nargs=-1, required=True)
@click.option(
    "--model",
    "models",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="The folder of a trained model of rich feedback; several are averaged.",
)
@click.option("--prompt", help="One prompt for all images.")
@click.option(
    "--prompts",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV with the columns `image` (name or path) and `prompt`; or a text file, one line per image in order.",
)
@click.option(
    "--study",
    type=click.Path(path_type=Path, file_okay=False),
    help="A study whose raters judged some of the images: their feedback is added, its prompts are used.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write a page (HTML) with pictures.")
@background_option(None)
@click.option("--device", help="Where networks run: cpu, cuda, mps. Left out: the fastest there is.")
@engine_options
@keep_option
@click.option("--skip-broken", is_flag=True, help="Leave broken images out, and say how many.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, heatmaps in a few numbers.")
def explain_images(
    images: tuple[str, ...],
    models: tuple[Path, ...],
    prompt: str | None,
    prompts: Path | None,
    study: Path | None,
    out: Path | None,
    background: str | None,
    device: str | None,
    engine: str,
    address: str | None,
    workers: int | None,
    gpus: float | None,
    keep: Path | None,
    *,
    skip_broken: bool,
    as_json: bool,
) -> None:
    """Predict what is wrong with an image, and where, by a trained model.

    IMAGES are files, folders, globs, manifests, tar or Parquet files, or arrays.
    """
    from beholder.api.explaining import background_of, explain_by  # late: they need torch
    from beholder.scorers.rich.members import load_members

    if prompts and prompt is not None:
        raise click.UsageError("give either --prompts or --prompt")
    pictures = find_images(*images)
    if prompts is None and prompt is None and study is None and None in captions(pictures):
        raise click.UsageError("give prompts with --prompt or --prompts, or a study that has them with --study")
    texts = read_prompts(prompts, prompt, pictures)
    members = load_members(models, device)
    with (
        open_engine(engine, address=address, workers=workers, gpus=gpus) as opened,
        progress_bar("images") as progress,
    ):
        ground = background_of(study, background)
        explanations = explain_by(
            members,
            pictures,
            texts,
            study=study,
            background=ground,
            skip_broken=skip_broken,
            progress=progress,
            engine=opened if engine != "local" else None,
            device=device,
            keep=keep,
        )
    if out:
        write_page(
            out, explanations.explained, [member.identity for member in members], ground, explanations.notes
        )
    if as_json:
        _show_json(explanations, members, out)
        return
    for explained in explanations.explained:
        _show(explained)
    for note in explanations.notes:
        click.echo(note, err=True)
    if explanations.broken:
        click.echo(f"{count(len(explanations.broken), 'broken image')} left out", err=True)
    if out:
        click.echo(f"{out}: {count(len(explanations.explained), 'image')}", err=True)


def _show_json(explanations: Explanations, members: Sequence[Member], out: Path | None) -> None:
    show_json(
        {
            "models": [
                {"folder": member.name, "identity": member.identity, "within": dict(member.half_widths) or None}
                for member in members
            ],
            "images": [
                {
                    "image": image.picture.name,
                    "prompt": image.prompt,
                    "model": _plain(image.model, image.prompt),
                    "people": image.people
                    and {**_plain(image.people, image.prompt), "number": image.people.people},
                    "note": image.note or None,
                    "shift": image.shift,
                }
                for image in explanations.explained
            ],
            "skipped": [{"image": image.name, "reason": image.reason} for image in explanations.broken],
            "notes": list(explanations.notes),
            "page": str(out) if out else None,
        }
    )


def _plain(feedback: ImageFeedback, prompt: str) -> dict[str, object]:
    maps = {aspect: heatmap_summary(heatmap) for aspect, heatmap in feedback.heatmaps.items()}
    return {
        "scores": {aspect: asdict(score) for aspect, score in feedback.scores.items()},
        "heatmaps": {aspect: asdict(summary) | {"where": summary.where} for aspect, summary in maps.items()},
        "words": _words(feedback, prompt),
    }


def _words(feedback: ImageFeedback, prompt: str) -> list[dict[str, object]] | None:
    if feedback.missed is None:
        return None
    return [
        {"word": word, "share": None if np.isnan(rate) else float(rate), "missed": bool(rate > MISSED)}
        for word, rate in zip(split_words(prompt), feedback.missed, strict=True)
    ]


def _show(explained: Explained) -> None:
    """Print a small table: the model's feedback and, in a column of its own, the raters'."""
    console = Console(width=None if Console().is_terminal else WIDE, markup=False, highlight=False, emoji=False)
    console.print(Text(explained.picture.name, style="bold"))
    heads = ["", "model", *([count_raters(explained.people.people)] if explained.people else [])]
    table = Table(*heads, box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    table.show_header = explained.people is not None
    both = [feedback for feedback in (explained.model, explained.people) if feedback is not None]
    if any(feedback.missed is not None for feedback in both):
        table.add_row("prompt", *(_marked(feedback, explained.prompt, console) for feedback in both))
    else:
        table.add_row("prompt", explained.prompt)
    for aspect in dict.fromkeys(aspect for feedback in both for aspect in feedback.scores):
        table.add_row(aspect, *(_score(feedback.scores.get(aspect)) for feedback in both))
    maps = [{aspect: heatmap_summary(each) for aspect, each in feedback.heatmaps.items()} for feedback in both]
    for aspect in dict.fromkeys(aspect for each in maps for aspect in each):
        table.add_row(aspect, *(_place(each.get(aspect)) for each in maps))
    console.print(table)
    if explained.note:
        console.print(explained.note)
    console.print()


def _marked(feedback: ImageFeedback, prompt: str, console: Console) -> Text:
    """Return the prompt with misaligned keywords struck through, or in brackets on a plain terminal."""
    if feedback.missed is None:
        return Text("–")
    strikes = console.is_terminal and not console.is_dumb_terminal and not console.no_color
    text, end = Text(), 0
    for word, rate in zip(split_words(prompt), feedback.missed, strict=True):
        start = prompt.index(word, end)
        text.append(prompt[end:start])
        if rate > MISSED:
            text.append(word if strikes else f"[{word}]", style="strike red" if strikes else "")
        else:
            text.append(word)
        end = start + len(word)
    return text.append(prompt[end:])


def _score(score: AspectScore | None) -> str:
    if score is None:
        return "–"
    if score.low is None or score.high is None:
        return f"{score.value:.2f}"
    return f"{score.value:.2f}  {score.low:.2f} to {score.high:.2f}"


def _place(summary: HeatmapSummary | None) -> str:
    if summary is None:
        return "–"
    if not summary.above_half:
        return f"nothing above a half; at most {summary.peak:.2f}, {summary.where}" if summary.peak else "nothing"
    return f"{percent(summary.above_half)} of the image, {summary.where}"
