"""What raters answered: sessions, answers, skips and marks."""

from beholder.tables.schema import FLAG, INTEGER, INTEGERS, MOMENT, NUMBER, TEXT, Column, Reference, Table

STATUSES = ("complete", "running", "screened-out", "withdrawn", "returned", "no-consent", "failed-checks")
"""How a session stands. *screened-out*: the rater did not pass the qualification."""

MARK_KINDS = ("point", "word", "press", "tag")

SESSIONS = Table(
    name="sessions",
    about="One row per session: one rater going through one slot of one question.",
    stage="collect",
    columns=(
        Column("session", TEXT, "Id of the session."),
        Column("rater", TEXT, "Pseudonym of the rater, the same in all sessions of that rater."),
        Column("question", TEXT, "Name of the question."),
        Column("slot", INTEGER, "The slot; empty where the rater got none.", nullable=True, low=0),
        Column("status", TEXT, "How the session stands.", allowed=STATUSES),
        Column("started", MOMENT, "When it began."),
        Column("ended", MOMENT, "When it ended, if it has.", nullable=True),
        Column("simulated", FLAG, "Whether the rater is simulated."),
        Column("platform", TEXT, "Where the rater came from.", nullable=True),
        Column("language", TEXT, "Language of the consent text and the pages.", nullable=True),
        Column("consent", TEXT, "Hash of the consent text that was agreed to.", nullable=True),
        Column("frame_ms", NUMBER, "Measured period of a screen frame.", nullable=True, low=0),
        Column("pay", NUMBER, "What was paid, in the study's currency.", nullable=True, low=0),
    ),
    key=("session",),
)

ANSWERS = Table(
    name="answers",
    about=(
        "One row per answer to one aspect of one trial. `choice`, `value` or `ranking` holds it, "
        "by the kind of the question."
    ),
    stage="collect",
    columns=(
        Column("trial", TEXT, "The trial answered."),
        Column("session", TEXT, "The session it was answered in."),
        Column("rater", TEXT, "The rater, as in `sessions`."),
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged: realism, preference, quality, alignment, …"),
        Column("attempt", INTEGER, "1, or more where a spoiled trial was asked again.", low=1),
        Column("choice", TEXT, "A choice: real, generated, left, right, tie, …", nullable=True),
        Column("value", NUMBER, "A number on the aspect's scale.", nullable=True),
        Column("ranking", INTEGERS, "Rank of each image of the trial, 1 the best; ties share one.", nullable=True),
        Column("seconds", NUMBER, "From the moment an answer was possible to the answer.", low=0),
        Column("exposure_ms", NUMBER, "How long the image was actually shown, if limited.", nullable=True, low=0),
        Column("intended_ms", NUMBER, "How long it should have been shown.", nullable=True, low=0),
        Column("dropped_frames", INTEGER, "Frames missed during the exposure.", nullable=True, low=0),
        Column("valid", FLAG, "False for a spoiled trial; such an answer never counts."),
        Column("answered", MOMENT, "When the answer was given."),
    ),
    key=("trial", "session", "aspect", "attempt"),
    references=(
        Reference(("trial",), "trials", ("trial",)),
        Reference(("session", "rater"), "sessions", ("session", "rater")),
    ),
)

SKIP_REASONS = ("disturbing", "broken", "other", "spoiled")
"""Why a trial was left. *spoiled*: it could not be shown as planned, again and again."""

SKIPS = Table(
    name="skips",
    about="One row per trial that was left unanswered: skipped by the rater, or spoiled too often.",
    stage="collect",
    columns=(
        Column("trial", TEXT, "The trial skipped."),
        Column("session", TEXT, "The session it was skipped in."),
        Column("rater", TEXT, "The rater, as in `sessions`."),
        Column("question", TEXT, "Name of the question."),
        Column("reason", TEXT, "Why.", allowed=SKIP_REASONS),
        Column("skipped", MOMENT, "When."),
    ),
    key=("trial", "session"),
    references=(
        Reference(("trial",), "trials", ("trial",)),
        Reference(("session", "rater"), "sessions", ("session", "rater")),
    ),
)

MARKS = Table(
    name="marks",
    about="One row per mark: a point set on an image, a prompt word clicked, or a key pressed during a sweep.",
    stage="collect",
    columns=(
        Column("trial", TEXT, "The trial it was made in."),
        Column("session", TEXT, "The session it was made in."),
        Column("aspect", TEXT, "What it marks: implausibility, misalignment, hit."),
        Column("number", INTEGER, "Counts the marks of a trial, from 0.", low=0),
        Column("kind", TEXT, "Point, word, press or tag.", allowed=MARK_KINDS),
        Column("image", TEXT, "The image marked.", nullable=True),
        Column(
            "x", NUMBER, "Of a point: fraction of the image width, from the left.", nullable=True, low=0, high=1
        ),
        Column(
            "y", NUMBER, "Of a point: fraction of the image height, from the top.", nullable=True, low=0, high=1
        ),
        Column("word", INTEGER, "Of a word: its position in the prompt, from 0.", nullable=True, low=0),
        Column("at_ms", NUMBER, "Of a press: time since the sweep began.", nullable=True, low=0),
    ),
    key=("trial", "session", "aspect", "number"),
    references=(
        Reference(("trial",), "trials", ("trial",)),
        Reference(("session",), "sessions", ("session",)),
        Reference(("image",), "images", ("image",)),
    ),
)
