"""Images that generators made from prompts, and what each of them cost."""

from beholder.tables.schema import INTEGER, NUMBER, TEXT, Column, Reference, Table

DONE, REFUSED, FAILED = "done", "refused", "failed"
GENERATION_STATUSES = (DONE, REFUSED, FAILED)
"""There is an image; the generator declines the prompt by its own rules; anything else."""

GENERATIONS = Table(
    name="generations",
    about="One row per image that a generator was asked for, also where it refused or failed.",
    stage="generate",
    columns=(
        Column("generator", TEXT, "The generator, by its name in the study."),
        Column("prompt", TEXT, "Id of the prompt."),
        Column("sample", INTEGER, "Which of several images of the prompt, from 0.", low=0),
        Column("text", TEXT, "The prompt."),
        Column("style", TEXT, "Slice by which results are broken down: a style or a category.", nullable=True),
        Column("sent", TEXT, "The prompt as it was sent to the generator."),
        Column("rewritten", TEXT, "The prompt that the generator says it used instead.", nullable=True),
        Column("seed", INTEGER, "The seed; empty for images that existed already.", nullable=True, low=0),
        Column("width", INTEGER, "Requested width in pixels.", nullable=True, low=1),
        Column("height", INTEGER, "Requested height in pixels.", nullable=True, low=1),
        Column("status", TEXT, "What became of it.", allowed=GENERATION_STATUSES),
        Column("fault", TEXT, "In a word why there is no image: timeout, crashed, wrong-size …", nullable=True),
        Column("reason", TEXT, "Why there is no image, as the generator or the check says.", nullable=True),
        Column("path", TEXT, "The image, relative to the folder.", nullable=True),
        Column("sha256", TEXT, "Hash of the file's bytes.", nullable=True),
        Column("kind", TEXT, "How the generator was reached: worker, http, command …"),
        Column("model", TEXT, "Who the generator says it is.", nullable=True),
        Column("weights", TEXT, "Hash of its weights, where known.", nullable=True),
        Column("settings", TEXT, "All else that it says changes its images, as JSON.", nullable=True),
    ),
    key=("generator", "prompt", "sample"),
)

GENERATION_COSTS = Table(
    name="generation_costs",
    about="One row per image that a generator was asked for: what it cost. Differs from run to run.",
    stage="generate",
    columns=(
        Column("generator", TEXT, "The generator."),
        Column("prompt", TEXT, "Id of the prompt."),
        Column("sample", INTEGER, "Which of several images of the prompt.", low=0),
        Column("seconds", NUMBER, "From the request to the checked image.", low=0),
        Column("cpu_seconds", NUMBER, "Processor time of the generator's process.", nullable=True, low=0),
        Column("peak_memory_mb", NUMBER, "Its largest memory so far, in megabytes.", nullable=True, low=0),
        Column("energy_wh", NUMBER, "Energy in watt hours; never without its method.", nullable=True, low=0),
        Column("energy_method", TEXT, "How the energy was measured or estimated.", nullable=True),
        Column("cost", NUMBER, "Price, from the generator's settings.", nullable=True, low=0),
        Column("currency", TEXT, "Currency of the price.", nullable=True),
    ),
    key=("generator", "prompt", "sample"),
    references=(Reference(("generator", "prompt", "sample"), "generations", ("generator", "prompt", "sample")),),
    varies=True,
)
