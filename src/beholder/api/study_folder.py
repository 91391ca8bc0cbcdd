"""A study in Python: its tables as data frames, its stages, its leaderboards and figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import polars as pl

from beholder.api.leaderboard import Leaderboard, as_leaderboard
from beholder.api.results import Results, load_results
from beholder.api.run import RunOutcome, run_study
from beholder.api.stages import load_stage
from beholder.errors import MissingTableError, UserError, unknown_name
from beholder.report.sections.summary import too_few_raters
from beholder.report.tables.leaderboard import ALL_IMAGES, Board
from beholder.report.text.words import end_sentence
from beholder.study.study import Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.store import Store

if TYPE_CHECKING:
    import altair as alt
    import datasets

    from beholder.report.board_site.pictures import ImageChoice


def folder_of(study: "str | Path | StudyFolder") -> Path:
    """Return the folder of a study that is named by its path, or open."""
    return study.folder if isinstance(study, StudyFolder) else Path(study)


@dataclass(frozen=True, repr=False)
class StudyFolder:
    """A study on disk. Every table is an attribute, read from disk and checked whenever it is asked for.

    Args:
        folder: The study folder; :func:`beholder.open_study` also checks that there is one.
        notes: What was said when the study was made: numbers fitted to the images, what an import lacks.

    Example:
        >>> import beholder as bh
        >>> study = bh.open_study("my-study")
        >>> study.labels.columns[:4]
        ['question', 'aspect', 'method', 'image']
        >>> study.correlations
        Traceback (most recent call last):
        beholder.errors.MissingTableError: my-study has no table 'correlations' yet: beholder measure my-study
    """

    folder: Path
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def settings(self) -> Study:
        """All settings, as ``study.toml`` has them now."""
        return load_study(self.folder)

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables that the study has."""
        store = Store(self.folder)
        return tuple(name for name in TABLES if store.has(name))

    def __getattr__(self, name: str) -> pl.DataFrame:
        """Return a table as a data frame."""
        if name not in TABLES:
            close = get_close_matches(name, [*TABLES, *vars(type(self))], n=1)
            hint = f". Did you mean '{close[0]}'?" if close and not name.startswith("_") else ""
            raise AttributeError(f"a study has no table or attribute '{name}'{hint}")
        return self.table(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables]

    def table(self, name: str) -> pl.DataFrame:
        """Return a table by name, checked.

        Args:
            name: Such as ``labels``; :attr:`tables` lists those that exist.

        Returns:
            The table as Polars holds it; ``.to_pandas()`` and ``.to_arrow()`` give other libraries' frames.
        """
        if name not in TABLES:
            raise UserError(unknown_name("table", name, TABLES))
        store = Store(self.folder)
        if not store.has(name):
            stage = TABLES[name].stage
            raise MissingTableError(f"{self.folder} has no table '{name}' yet: beholder {stage} {self.folder}")
        return store.read(name)

    def run(
        self,
        *,
        simulate: int | None = None,
        bad: int = 0,
        measure: bool = False,
        include_excluded: bool = False,
        force: bool = False,
    ) -> RunOutcome:
        """Run the stages that have something to do, from design to report, as ``beholder run`` does.

        Args:
            simulate: Collect from so many simulated raters; by default the answers that there are.
            bad: Of the simulated raters, how many have bad habits.
            measure: Also compute metrics of the images, and compare them with raters.
            include_excluded: Count the answers of raters whom screening excludes; all results are marked.
            force: Do every stage even if nothing has changed.

        Returns:
            What each stage did, and where the report is.
        """
        return run_study(
            self.folder,
            raters=simulate,
            bad=bad,
            measure=measure,
            include_excluded=include_excluded,
            force=force,
        )

    def report(self, *, force: bool = False) -> Path:
        """Write the report, unless it is up to date.

        Args:
            force: Write it even if nothing has changed.

        Returns:
            The path of ``report.html``.
        """
        load_stage("report").run(self.folder, force=force)
        return self.folder / "report.html"

    def site(
        self,
        out: str | Path,
        *,
        images: "ImageChoice" = "thumbnails",
        authors: Sequence[str] = (),
        licence: str | None = None,
        url: str | None = None,
        force: bool = False,
    ) -> Path:
        """Compute the board and write it as a site, as ``beholder site`` does, unless both are up to date.

        Args:
            out: The folder of the site: one that does not exist, is empty, or is a site, which is replaced.
            images: ``none``, ``thumbnails``, or ``full``: thumbnails that lead to the files themselves.
            authors: For the citation.
            licence: Of the data, such as ``CC-BY-4.0``.
            url: Where the site will be, for the citation.
            force: Write it even if nothing has changed.

        Returns:
            The path of its front page.

        Example:
            >>> import beholder as bh
            >>> study = bh.open_study("my-study")
            >>> study.site("public").name
            'index.html'
        """
        # Templates and charts take a second to load, and only the site needs them.
        from beholder.api.publishing import SiteOptions, publish_board  # noqa: PLC0415

        options = SiteOptions(images=images, authors=tuple(authors), licence=licence, url=url)
        publish_board(self.folder, Path(out), options, force=force)
        return Path(out) / "index.html"

    def leaderboards(self) -> tuple[Leaderboard, ...]:
        """Return the leaderboards of all questions, as ``beholder run`` prints them.

        Returns:
            One per question and aspect, by its main measure; none before ``rank``, or where judgements have
            changed since.
        """
        results = load_results(self.folder)
        return tuple(as_leaderboard(board, notes=_notes(results, board)) for board in results.headlines)

    def leaderboard(
        self,
        question: str | None = None,
        *,
        aspect: str | None = None,
        method: str | None = None,
        style: str = ALL_IMAGES,
    ) -> Leaderboard:
        """Return one leaderboard: ratings with confidence intervals and ranges of ranks.

        Args:
            question: Its name; may be left out where the study has one.
            aspect: Of the question, where it has several.
            method: Such as ``d-prime``; by default the main measure of the question.
            style: A slice of the images, by style; by default all of them.

        Returns:
            The leaderboard.
        """
        results = load_results(self.folder)
        boards = [
            board
            for board in results.boards
            if question in (None, board.question)
            and aspect in (None, board.aspect)
            and (board.measure.headline if method is None else method == board.method)
            and style == board.slice
        ]
        if len(boards) != 1:
            raise UserError(self._which_board(boards, results.boards))
        return as_leaderboard(boards[0], notes=_notes(results, boards[0]))

    def _which_board(self, boards: list[Board], all_boards: tuple[Board, ...]) -> str:
        if not all_boards:
            return f"{self.folder} has no ratings of the judgements as they are now: beholder rank {self.folder}"
        listed = "\n".join(
            f"  {own.question!r}, aspect={own.aspect!r}, method={own.method!r}, style={own.slice!r}"
            for own in boards or all_boards
        )
        return f"{'several leaderboards' if boards else 'no such leaderboard'}; choose one of:\n{listed}"

    def figures(self, *, width: int = 560) -> "Mapping[str, alt.LayerChart]":
        """Return all charts of the report.

        Args:
            width: Pixels of a chart.

        Returns:
            Altair charts by name: a notebook shows them, ``chart.save("figure.pdf")`` writes them for a paper.
        """
        # Altair takes a second to load, and only figures need it.
        from beholder.api.figures import study_figures  # noqa: PLC0415

        return study_figures(self.folder, width=width)

    def to_datasets(self) -> "dict[str, datasets.Dataset]":
        """Return all tables as datasets of Hugging Face's library, which has to be installed.

        Returns:
            By name of the table; ``images`` has a column ``file`` with the pictures themselves, decoded on demand.
        """
        # An optional library, which takes a second to load.
        from beholder.api.as_datasets import study_datasets  # noqa: PLC0415

        return study_datasets(self.folder, self.tables)

    def __repr__(self) -> str:
        return "\n".join(
            [f"study '{self.settings.name}' in {self.folder}", *(f"  {line}" for line in self._lines())]
        )

    def _repr_html_(self) -> str:
        part = ElementTree.Element("div")
        head = ElementTree.SubElement(part, "p")
        ElementTree.SubElement(head, "b").text = self.settings.name
        ElementTree.SubElement(head, "code", {"style": "margin-left: 1em"}).text = str(self.folder)
        listing = ElementTree.SubElement(part, "ul")
        for line in self._lines():
            ElementTree.SubElement(listing, "li").text = line
        return ElementTree.tostring(part, encoding="unicode", method="html")

    def _lines(self) -> list[str]:
        """What it holds: questions, images, sessions, tables."""
        store = Store(self.folder)
        questions = ", ".join(f"{question.name} ({question.kind})" for question in self.settings.questions)
        lines = [f"questions: {questions}"]
        if store.has("images"):
            counts = store.read("images").group_by("generator", maintain_order=True).len()
            total = int(counts["len"].sum())
            listed = ", ".join(f"{count:,} {name}" for name, count in counts.iter_rows())
            lines.append(f"images: {total:,} ({listed})")
        sessions = store.read_or_empty("sessions")
        if sessions.height:
            simulated = int(sessions["simulated"].sum())
            lines.append(f"sessions: {sessions.height:,}" + (f", {simulated:,} simulated" if simulated else ""))
        lines.append(f"tables: {', '.join(self.tables) or 'none yet'}")
        return lines


def _notes(results: Results, board: Board) -> tuple[str, ...]:
    """Return what has to be known of a leaderboard: simulated raters, included ones, too few of them."""
    return (*results.caveats(), *map(end_sentence, too_few_raters([board])))
