"""``beholder explain``: where images are wrong, what they missed, and how people would rate them, in full."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from beholder.api.explaining import background_of, explain_by
from beholder.cli.options import background_option
from beholder.cli.output import WIDE, show_json
from beholder.cli.progress import progress_bar
from beholder.cli.prompts import read_prompts
from beholder.feedback.image_feedback import AspectScore, ImageFeedback
from beholder.feedback.labels import MISSED
from beholder.images.sources import find_images
from beholder.measure.rich.explain import Explanations
from beholder.measure.rich.members import Member, load_members
from beholder.models.explained import Explained
from beholder.report.site.explained_page import write_page
from beholder.report.text.words import count, percent
from beholder.report.text.words import people as number_of_people
from beholder.stats.prediction.heatmap_summary import HeatmapSummary, heatmap_summary
from beholder.study.words import split_words


@click.command("explain")
@click.argument("images", nargs=-1, required=True)
@click.option(
    "--model",
    "models",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="The folder of a trained model of rich feedback; several speak as one.",
)
@click.option("--prompt", help="One prompt for all images.")
@click.option(
    "--prompts",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV with the columns `image` (name or path) and `prompt`; or a text file, a line an image in order.",
)
@click.option(
    "--study",
    type=click.Path(path_type=Path, file_okay=False),
    help="A study whose people judged some of the images: their feedback stands beside, its prompts are taken.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write a page (HTML) with pictures.")
@background_option(None)
@click.option("--device", help="Where networks run: cpu, cuda, mps. Left out: the fastest there is.")
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
    *,
    skip_broken: bool,
    as_json: bool,
) -> None:
    """What is wrong with an image, and where: a trained model.

    IMAGES are files, folders, globs, manifests, tar files or arrays.
    """
    if prompts and prompt is not None:
        raise click.UsageError("give either --prompts or --prompt")
    if prompts is None and prompt is None and study is None:
        raise click.UsageError("give prompts with --prompt or --prompts, or a study that has them with --study")
    pictures = find_images(*images)
    texts = read_prompts(prompts, prompt, pictures)
    members = load_members(models, device)
    with progress_bar("images") as progress:
        ground = background_of(study, background)
        found = explain_by(
            members, pictures, texts, study=study, background=ground, skip_broken=skip_broken, progress=progress
        )
    if out:
        write_page(out, found.explained, [member.identity for member in members], ground)
    if as_json:
        _show_json(found, members, out)
        return
    for one in found.explained:
        _show(one)
    if found.broken:
        click.echo(f"{count(len(found.broken), 'broken image')} left out", err=True)
    if out:
        click.echo(f"{out}: {count(len(found.explained), 'image')}", err=True)


def _show_json(found: Explanations, members: Sequence[Member], out: Path | None) -> None:
    show_json(
        {
            "models": [
                {"folder": one.name, "identity": one.identity, "within": dict(one.half_widths) or None}
                for one in members
            ],
            "images": [
                {
                    "image": one.picture.name,
                    "prompt": one.prompt,
                    "model": _plain(one.model, one.prompt),
                    "people": one.people and {**_plain(one.people, one.prompt), "number": one.people.people},
                    "note": one.note or None,
                }
                for one in found.explained
            ],
            "skipped": [{"image": one.name, "reason": one.reason} for one in found.broken],
            "page": str(out) if out else None,
        }
    )


def _plain(said: ImageFeedback, prompt: str) -> dict[str, object]:
    maps = {aspect: heatmap_summary(heatmap) for aspect, heatmap in said.heatmaps.items()}
    return {
        "scores": {aspect: asdict(score) for aspect, score in said.scores.items()},
        "heatmaps": {aspect: asdict(one) | {"where": one.where} for aspect, one in maps.items()},
        "words": _words(said, prompt),
    }


def _words(said: ImageFeedback, prompt: str) -> list[dict[str, object]] | None:
    if said.missed is None:
        return None
    return [
        {"word": word, "share": None if np.isnan(share) else float(share), "missed": bool(share > MISSED)}
        for word, share in zip(split_words(prompt), said.missed, strict=True)
    ]


def _show(one: Explained) -> None:
    """A small table: what the model says, and what people said in a column of its own."""
    console = Console(width=None if Console().is_terminal else WIDE, markup=False, highlight=False, emoji=False)
    console.print(Text(one.picture.name, style="bold"))
    heads = ["", "model", *([number_of_people(one.people.people)] if one.people else [])]
    table = Table(*heads, box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    table.show_header = one.people is not None
    both = [said for said in (one.model, one.people) if said is not None]
    if any(said.missed is not None for said in both):
        table.add_row("prompt", *(_marked(said, one.prompt, console) for said in both))
    else:
        table.add_row("prompt", one.prompt)
    for aspect in dict.fromkeys(aspect for said in both for aspect in said.scores):
        table.add_row(aspect, *(_score(said.scores.get(aspect)) for said in both))
    maps = [{aspect: heatmap_summary(each) for aspect, each in said.heatmaps.items()} for said in both]
    for aspect in dict.fromkeys(aspect for each in maps for aspect in each):
        table.add_row(aspect, *(_place(each.get(aspect)) for each in maps))
    console.print(table)
    if one.note:
        console.print(one.note)
    console.print()


def _marked(said: ImageFeedback, prompt: str, console: Console) -> Text:
    """The prompt with missed words struck through, or in brackets where nothing can be struck through."""
    if said.missed is None:
        return Text("–")
    strikes = console.is_terminal and not console.is_dumb_terminal and not console.no_color
    text, end = Text(), 0
    for word, share in zip(split_words(prompt), said.missed, strict=True):
        start = prompt.index(word, end)
        text.append(prompt[end:start])
        if share > MISSED:
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


def _place(found: HeatmapSummary | None) -> str:
    if found is None:
        return "–"
    if not found.above_half:
        return f"nothing above a half; at most {found.peak:.2f}, {found.where}" if found.peak else "nothing"
    return f"{percent(found.above_half)} of the image, {found.where}"
