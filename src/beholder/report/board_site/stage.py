"""Writing the site of a board: a folder of static pages, replaced as one."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from beholder.errors import FaultsError
from beholder.report.board_site.content import ALL, READ, READ_IF_THERE, Content, read_content
from beholder.report.board_site.croissant import Publication
from beholder.report.board_site.data_files import data_page, write_data
from beholder.report.board_site.entry_pages import entry_page, extreme_prompts
from beholder.report.board_site.front_page import front_page
from beholder.report.board_site.other_pages import methods_page, prompt_pages, slice_page
from beholder.report.board_site.pictures import (
    ImageChoice,
    Picture,
    Progress,
    choose_prompts,
    image_sources,
    write_pictures,
)
from beholder.report.board_site.prompt_list import prompt_list
from beholder.report.board_site.rendering import assets
from beholder.report.board_site.replacing import faults_of_target, recorded, replaced_folder
from beholder.study.study import FILE_NAME, Study, load_study
from beholder.tables.provenance import Plain, Provenance, file_hash
from beholder.tables.store import Store
from beholder.tables.work import Outcome

STAGE = "site"

MOST_IMAGES = 5000
"""Images of a site, unless more are asked for."""

ALSO_READ = ("scores", "predictions")


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """What a site shows, and what is stated about it."""

    images: ImageChoice = "thumbnails"
    most_images: int = MOST_IMAGES
    authors: tuple[str, ...] = ()
    licence: str | None = None
    url: str | None = None
    published: date | None = None
    """Today, where it is not stated."""


def run(
    folder: Path,
    out: Path,
    options: SiteOptions | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Write the site of a study's board, unless the site there was made from the same tables and options.

    Args:
        folder: The study folder, with the tables of ``beholder board``.
        out: The folder of the site: one that does not exist, is empty, or is a site, which is replaced as one.
        options: What it shows.
        force: Write it even if nothing has changed.
        progress: Called with what is being done, how much of it is done, and how much there is.

    Returns:
        How many pages, images and bytes were written.

    Raises:
        FaultsError: If there is no board, or the folder is not one to write to.
    """
    began = time.monotonic()
    options = options or SiteOptions()
    study = load_study(folder)
    store = Store(folder)
    faults = [] if store.has("board") else [f"there is no board yet: beholder board {folder}"]
    faults += faults_of_target(out, folder)
    faults += [f"at least 1 image must be allowed; found {options.most_images}"] if options.most_images < 1 else []
    if faults:
        raise FaultsError("the site was not written", faults)
    record = _record(folder, study, options)
    earlier = recorded(out)
    if not force and earlier is not None and earlier.same_work(record, heed_version=True):
        return Outcome(STAGE, skipped=True)
    content = read_content(folder, study)
    with replaced_folder(out, record) as site:
        rows = _write(content, options, site, out, progress or _ignore)
    return Outcome(STAGE, skipped=False, rows=rows, seconds=time.monotonic() - began)


def _record(folder: Path, study: Study, options: SiteOptions) -> Provenance:
    settings: dict[str, Plain] = {
        "images": options.images,
        "most_images": options.most_images,
        "authors": list(options.authors),
        "licence": options.licence,
        "url": options.url,
        "published": options.published.isoformat() if options.published else None,
    }
    store = Store(folder)
    inputs = {name: store.hash(name) for name in (*READ, *READ_IF_THERE, *ALSO_READ)}
    return Provenance(STAGE, settings, study.seed, {FILE_NAME: file_hash(folder / FILE_NAME), **inputs})


def _write(content: Content, options: SiteOptions, site: Path, out: Path, progress: Progress) -> dict[str, int]:
    study = content.study
    publication = Publication(
        title=study.title,
        description=study.description or f"A board of generators of images: {study.title}",
        published=options.published or datetime.now(UTC).date(),
        authors=options.authors,
        licence=options.licence,
        url=options.url,
    )
    extremes = extreme_prompts(content)
    examples = [extreme.prompt for groups in extremes.values() for group in groups for extreme in group]
    pictures = _pictures(content, options, examples, site, out, progress)
    files = write_data(content, publication, site)
    pages = 0
    everything = 4 + len(content.entries) + len(content.slices) + len(content.prompts)

    def texts() -> Iterator[tuple[str, str]]:
        yield "index.html", front_page(content)
        for entry in content.entries:
            yield f"entries/{entry.page}.html", entry_page(content, entry, extremes[entry.name], pictures)
        for part in content.slices:
            if part.family != ALL:
                yield f"slices/{part.page}.html", slice_page(content, part)
        for prompt, page in prompt_pages(content, pictures, len({key for key, _ in pictures})):
            yield f"prompts/{prompt.page}.html", page
        yield from prompt_list(content)
        yield "methods.html", methods_page(content)
        yield "data.html", data_page(content, publication, files)

    for address, text in assets().items():
        _write_text(site / address, text)
    for address, text in texts():
        _write_text(site / address, text)
        pages += address.endswith(".html")
        progress("pages", pages, max(everything, pages))
    return {"pages": pages, "images": len({picture.address for picture in pictures.values()}), "files": len(files)}


def _pictures(
    content: Content, options: SiteOptions, examples: Sequence[str], site: Path, out: Path, progress: Progress
) -> Mapping[tuple[str, str], Picture]:
    if options.images == "none":
        return {}
    names = {entry.name for entry in content.entries}
    sources = image_sources(content.tables["images"], content.folder)
    sources = {key: source for key, source in sources.items() if key[1] in names}
    chosen = choose_prompts([p.key for p in content.prompts], examples, sources, options.most_images)
    return write_pictures(
        {key: source for key, source in sources.items() if key[0] in chosen},
        site,
        content.study.images.background,
        full=options.images == "full",
        earlier=out if out.is_dir() else None,
        progress=progress,
    )


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _ignore(part: str, done: int, total: int) -> None:  # noqa: ARG001 - nobody looks
    return None
