"""Which images each rater is shown: the trials."""

from beholder.tables.schema import INTEGER, NUMBER, TEXT, TEXTS, Column, Reference, Table

ROLES = ("training", "qualification", "test", "gold", "attention", "repeat")
"""What a trial is for. Only *test* trials enter the results; the others train or check the rater: *gold* trials
have a known answer, *attention* trials say which answer to give, *repeat* trials ask again."""

TRIALS = Table(
    name="trials",
    about=(
        "One row per trial: one screen for one rater. A rater who takes part takes a *slot* and answers its "
        "trials in order; each test trial is answered once, so k test trials of an item are k answers."
    ),
    stage="design",
    columns=(
        Column("trial", TEXT, "Id of the trial."),
        Column("question", TEXT, "Name of the question, as in the study file."),
        Column("kind", TEXT, "Kind of the question."),
        Column(
            "slot",
            INTEGER,
            "The slot that this trial belongs to, numbered from 0 in each question.",
            low=0,
        ),
        Column("position", INTEGER, "Order within the slot, from 0.", low=0),
        Column("block", INTEGER, "Part of the session, from 0; breaks and staircases are by block.", low=0),
        Column("role", TEXT, "What the trial is for.", allowed=ROLES),
        Column("images", TEXTS, "Images in the order shown: left to right, or first to last."),
        Column("prompt", TEXT, "The prompt shown with them, where there is one.", nullable=True),
        Column("expected", TEXT, "The right answer, where one is known: never sent to the page.", nullable=True),
        Column("repeats", TEXT, "The trial that this one repeats, with the sides flipped.", nullable=True),
        Column("propensity", NUMBER, "Probability with which the item was drawn for the slot.", low=0, high=1),
    ),
    key=("trial",),
    references=(
        Reference(("images",), "images", ("image",)),
        Reference(("prompt",), "prompts", ("prompt",)),
        Reference(("repeats",), "trials", ("trial",)),
    ),
)
