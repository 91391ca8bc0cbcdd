"""All stages in the order of the loop: what each step of them reads and writes.

Everything else follows from these declarations: a step that reads or writes a table it does not name is
refused (:class:`beholder.tables.store.Store`), whether a table is out of date follows from its step's inputs
(:mod:`beholder.tables.work`), and what has to be made again after answers were deleted is :func:`made_from` them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """A part of a stage that is redone by itself: the tables it reads and those it writes."""

    stage: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    guards: tuple[str, ...] = ()
    """Tables of later stages that it looks at only to refuse: trials that raters answered are not drawn again."""
    redo_on_upgrade: bool = True
    """Whether a new version of the package makes the outputs stale. Not so for what was drawn or collected."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A verb of the loop, with its steps in order."""

    name: str
    about: str
    steps: tuple[Step, ...]
    replaces: tuple[str, ...] = ()
    """Earlier stages whose tables come with data from elsewhere in their place."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The tables of other stages that it reads."""
        read = dict.fromkeys(name for step in self.steps for name in step.inputs)
        return tuple(name for name in read if name not in self.outputs)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The tables that it writes, and nobody else."""
        return tuple(name for step in self.steps for name in step.outputs)


def writer_of(table: str) -> Stage:
    """The one stage that writes a table."""
    return next(stage for stage in STAGES.values() if table in stage.outputs)


def made_from(*tables: str) -> tuple[str, ...]:
    """The tables that are made from these, and from those in turn, in the order of the loop."""
    reached = list(tables)
    for step in _steps():
        if not set(step.inputs).isdisjoint(reached):
            reached += [name for name in step.outputs if name not in reached]
    return tuple(reached[len(tables) :])


def _steps() -> Iterator[Step]:
    return (step for stage in STAGES.values() for step in stage.steps)


def _by_name(stages: Iterable[Stage]) -> dict[str, Stage]:
    return {stage.name: stage for stage in stages}


CURATE = Step(
    "curate",
    inputs=(),
    outputs=(
        *(
            "prompt_sets",
            "prompt_overlaps",
            "prompt_candidates",
            "prompt_edits",
            "prompt_findings",
            "prompt_pairs",
        ),
        *("curated_prompts", "prompt_tags", "prompt_coverage"),
    ),
    redo_on_upgrade=False,
)
GENERATE = Step(
    "generate",
    inputs=("curated_prompts",),
    outputs=("generations", "generation_costs"),
    redo_on_upgrade=False,
)
NEW = Step("new", inputs=("generations",), outputs=("prompts", "images"))
"""From folders, manifests and generations alike."""
IMPORT = Step("import", inputs=(), outputs=("totals", "published", "published_regions"))
DESIGN = Step(
    "design",
    inputs=("images", "prompts"),
    outputs=("trials",),
    guards=("sessions", "answers", "skips", "marks"),
    redo_on_upgrade=False,
)
COLLECT = Step(
    "collect",
    inputs=("images", "prompts", "trials"),
    outputs=("sessions", "answers", "skips", "marks"),
    redo_on_upgrade=False,
)
CONSOLIDATE = Step(
    "consolidate",
    inputs=(
        *("prompts", "images", "trials", "sessions", "answers", "skips", "marks"),
        *("totals", "published", "published_regions"),
    ),
    outputs=("raters", "judgements", "labels", "regions", "thresholds", "agreement"),
)
RANK = Step(
    "rank",
    inputs=("images", "trials", "totals", "published", "raters", "judgements", "thresholds"),
    outputs=("ratings", "separations", "comparisons"),
)
TRAIN = Step(
    "learn",
    inputs=("prompts", "images", "sessions", "judgements", "labels", "regions"),
    outputs=("training", "predictions"),
    redo_on_upgrade=False,
)
SECOND_LOOK = Step("learn", inputs=("labels", "predictions"), outputs=("label_errors",))
ATTACKED = Step("learn", inputs=("prompts", "images", "labels", "predictions"), outputs=("rounds",))
"""Models of adversarial rounds; what raters claimed is in folders of its own."""
MEASURE_IMAGES = Step("measure", inputs=("prompts", "images"), outputs=("scores", "features", "distances"))
MEASURE_AGREEMENT = Step(
    "measure",
    inputs=("images", "scores", "predictions", "distances", "labels", "ratings"),
    outputs=("correlations", "metric_separations"),
)
MEASURE_POWERED = Step(
    "measure", inputs=("images", "judgements", "scores", "predictions"), outputs=("powered_ratings",)
)
BOARD = Step(
    "board",
    inputs=(
        *("curated_prompts", "prompt_tags", "generations", "images"),
        *("judgements", "scores", "predictions", "distances"),
    ),
    outputs=(
        *("board", "board_pairs", "claims", "utilities", "board_agreement", "curves", "board_marks"),
        *("board_powered", "dose_responses", "dose_steps"),
    ),
)
BOARD_COSTS = Step("board", inputs=("generation_costs", "generations", "board"), outputs=("board_costs",))
"""By itself: what generating cost differs from run to run, and all else on the board does not."""
AUDIT = Step(
    "audit",
    inputs=(
        *(
            "prompt_candidates",
            "prompt_findings",
            "prompt_overlaps",
            "prompt_pairs",
            "curated_prompts",
            "prompt_tags",
        ),
        *("generations", "generation_costs", "prompts", "images", "trials", "sessions", "answers"),
        *("judgements", "labels", "label_errors", "scores", "predictions"),
        *("board", "board_pairs", "board_marks", "board_costs", "claims"),
    ),
    outputs=("audits", "audit_profiles"),
)
IMPROVE = Step(
    "improve",
    inputs=("prompts", "images", "regions"),
    outputs=("changes", "gains", "alarms", "proofs"),
    redo_on_upgrade=False,
)
"""Each improvement has a folder with tables of its own, which this step puts together."""
_BEFORE = (
    *(CURATE, GENERATE, NEW, IMPORT, DESIGN, COLLECT, CONSOLIDATE, RANK),
    *(TRAIN, SECOND_LOOK, ATTACKED, MEASURE_IMAGES, MEASURE_AGREEMENT, MEASURE_POWERED, BOARD, BOARD_COSTS),
    *(AUDIT, IMPROVE),
)
REPORT = Step("report", inputs=tuple(name for step in _BEFORE for name in step.outputs), outputs=())
"""It lists all tables that there are with their hashes, and writes a page."""

STAGES: dict[str, Stage] = _by_name(
    (
        Stage("curate", "chooses prompts from prompt sets", (CURATE,)),
        Stage("generate", "makes images from prompts", (GENERATE,)),
        Stage("new", "takes in images and prompts", (NEW,)),
        Stage("import", "imports published data", (IMPORT,), replaces=("new", "design", "collect")),
        Stage("design", "draws the trials", (DESIGN,)),
        Stage("collect", "asks raters, or simulated ones", (COLLECT,)),
        Stage("consolidate", "turns many answers into labels", (CONSOLIDATE,)),
        Stage("rank", "rates the generators by the raters' judgements", (RANK,)),
        Stage("learn", "trains models on the labels", (TRAIN, SECOND_LOOK, ATTACKED)),
        Stage(
            "measure",
            "compares metrics with the raters' judgements",
            (MEASURE_IMAGES, MEASURE_AGREEMENT, MEASURE_POWERED),
        ),
        Stage("board", "compares the entries by every measure and slice", (BOARD, BOARD_COSTS)),
        Stage("audit", "looks for gaps, bias, faults of scorers, and cost", (AUDIT,)),
        Stage("improve", "makes images better by the findings, and proves it", (IMPROVE,)),
        Stage("report", "writes the report", (REPORT,)),
    )
)
"""Name of a stage -> what it is."""
