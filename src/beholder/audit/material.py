"""What audits look at: the study, its tables, its measures, and the prompts with their tags."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import polars as pl

from beholder.audit.finding import Row
from beholder.judgements.measures import PREFERENCE, Measure, collect_measures
from beholder.prompts.tags.tagger import tag_prompt
from beholder.study.kinds.catalogue import kind_of
from beholder.study.study import Study
from beholder.tables.schemas.learn import OUT_OF_FOLD
from beholder.tables.store import Store

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Which scorers are audited, with which weights, on how many images; by default as the study says."""

    scorers: tuple[str, ...] = ()
    weights: Mapping[str, str] = field(default_factory=dict)
    images: int | None = None


@dataclass(frozen=True, eq=False)
class Material:
    """A study as its audits see it; every table is read once, where it is needed."""

    store: Store
    study: Study
    options: AuditOptions = AuditOptions()
    progress: Progress = lambda _part, _done, _all: None
    profiles: list[Row] = field(default_factory=list)
    """Rows of ``audit_profiles``, which the audit of profiles adds."""

    @property
    def level(self) -> float:
        """Level of all intervals."""
        return self.study.analysis.level

    @property
    def fewest(self) -> int:
        """Prompts below which a slice is described in words."""
        return self.study.board.fewest_prompts

    def table(self, name: str) -> pl.DataFrame:
        """Return a table; one without rows where it is absent."""
        return self.store.read_or_empty(name)

    @cached_property
    def images(self) -> pl.DataFrame:
        """Images of entries: neither real ones nor those that check raters."""
        return self.table("images").filter(~pl.col("real") & ~pl.col("gold"))

    @cached_property
    def measures(self) -> dict[str, Measure]:
        """Measures with a better end, by name: those by raters first."""
        scales = {question.name: kind_of(question).scale(question) for question in self.study.questions}
        measures = collect_measures(
            self.table("judgements"),
            self.table("images"),
            self.table("scores"),
            self.table("predictions"),
            {name: scale.ends for name, scale in scales.items() if scale is not None},
        )
        return {measure.name: measure for measure in measures if measure.better is not None}

    @cached_property
    def within_prompts(self) -> dict[str, Measure]:
        """The same measures, fit to be compared between prompts.

        A score that was trained on preferences says which image of one prompt is better; its level means nothing
        from one prompt to another. Of such scores the mean of each prompt is taken away, as votes have none.
        """
        named = [("scores", "scorer", ""), ("predictions", "model", OUT_OF_FOLD)]
        relative = {
            f"{name}{suffix}"
            for table, column, suffix in named
            for name in self.table(table).filter(pl.col("aspect") == PREFERENCE)[column].unique()
        }
        return {
            name: _centred(measure) if name in relative else measure for name, measure in self.measures.items()
        }

    @cached_property
    def texts(self) -> dict[str, str]:
        """Text of every prompt that has images."""
        texts = dict(self.table("curated_prompts").select("prompt", "text").iter_rows())
        texts |= dict(self.table("prompts").select("prompt", "text").iter_rows())
        used = set(self.images["prompt"].drop_nulls())
        return {prompt: text for prompt, text in texts.items() if prompt in used}

    @cached_property
    def tags(self) -> pl.DataFrame:
        """Tag and label of every prompt; of prompts that were not curated, tagged here."""
        curated = self.table("prompt_tags").select("prompt", "tag", "label")
        others = set(self.texts) - set(self.table("curated_prompts")["prompt"])
        rows = [
            {"prompt": prompt, "tag": tag.name, "label": tag.label}
            for prompt in sorted(others)
            for tag in tag_prompt(self.texts[prompt])
        ]
        return pl.concat([curated, pl.DataFrame(rows, schema=curated.schema)]).unique(maintain_order=True)

    @cached_property
    def held_out(self) -> set[str]:
        """Prompts that were held out."""
        return set(self.table("curated_prompts").filter("held_out")["prompt"])


def _centred(measure: Measure) -> Measure:
    """Return scores less the mean of their prompt, of prompts with images of every entry."""
    entries = measure.rows["entry"].n_unique()
    complete = pl.col("entry").n_unique().over("prompt") == entries
    rows = measure.rows.filter(complete).with_columns(
        value=pl.col("value") - pl.col("value").mean().over("prompt")
    )
    return replace(measure, rows=rows)
