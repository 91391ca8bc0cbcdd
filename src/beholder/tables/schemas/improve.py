"""What was changed because of the findings, what it gained, what gave warning, and what raters say of it."""

from beholder.tables.schema import FLAG, INTEGER, NUMBER, TEXT, Column, Reference, Table

METHODS = ("filter", "repair", "guide", "tune", "words")
"""How images, prompts or generators are changed."""

MEASURES = ("own", "held-out", "forecast", "ground truth", "control")
"""By what a gain is measured: the scorer that chose, another one, what is expected of unseen prompts, the
synthetic world's ground truth, and the ground truth of the same change made at random."""

_IMPROVEMENT = Column("improvement", TEXT, "Name of the improvement, and of its folder in `improvements`.")

CHANGES = Table(
    name="changes",
    about="One row per change made to an image, a prompt or a generator because of judgements or scores.",
    stage="improve",
    columns=(
        _IMPROVEMENT,
        Column("change", TEXT, "Id of the change within the improvement."),
        Column("method", TEXT, "How it was changed.", allowed=METHODS),
        Column("generator", TEXT, "The generator of the image, or the one that was tuned.", nullable=True),
        Column("prompt", TEXT, "Text of the prompt.", nullable=True),
        Column("image", TEXT, "The image of the study that was changed.", nullable=True),
        Column("before", TEXT, "Path of the image before, in the study folder.", nullable=True),
        Column("after", TEXT, "Path of the image after, in the study folder.", nullable=True),
        Column("mask", TEXT, "Path of the mask outside which no pixel was changed.", nullable=True),
        Column("heatmap", TEXT, "Path of the heatmap that the mask comes from.", nullable=True),
        Column("area", NUMBER, "Proportion of the image that the mask covers.", nullable=True, low=0, high=1),
        Column("tries", INTEGER, "Images that were tried.", nullable=True, low=0),
        Column("scorer", TEXT, "The scorer by which the change was chosen.", nullable=True),
        Column("own_before", NUMBER, "Its score before.", nullable=True),
        Column("own_after", NUMBER, "Its score after.", nullable=True),
        Column("margin", NUMBER, "Least gain at which the change is kept.", nullable=True),
        Column("held_out_scorer", TEXT, "A scorer that had no say in it.", nullable=True),
        Column("held_out_before", NUMBER, "Its score before.", nullable=True),
        Column("held_out_after", NUMBER, "Its score after.", nullable=True),
        Column("truth_before", NUMBER, "Ground truth before, where it is known.", nullable=True),
        Column("truth_after", NUMBER, "Ground truth after, where it is known.", nullable=True),
        Column("kept", FLAG, "Whether the change was kept."),
        Column("reason", TEXT, "Why it was kept, or not."),
    ),
    key=("improvement", "change"),
    references=(Reference(("image",), "images", ("image",)),),
)

GAINS = Table(
    name="gains",
    about="One row per improvement and measure: how much better the images are, with a confidence interval.",
    stage="improve",
    columns=(
        _IMPROVEMENT,
        Column("step", TEXT, "Which of several steps gained it, such as repair; empty where there is one."),
        Column("measure", TEXT, "By what it is measured.", allowed=MEASURES),
        Column("name", TEXT, "Scorer, or aspect of the ground truth."),
        Column("before", NUMBER, "Mean before.", nullable=True),
        Column("after", NUMBER, "Mean after.", nullable=True),
        Column("gain", NUMBER, "Mean after less mean before."),
        Column("low", NUMBER, "Lower end of its confidence interval.", nullable=True),
        Column("high", NUMBER, "Upper end.", nullable=True),
        Column("level", NUMBER, "Its level.", low=0, high=1),
        Column("method", TEXT, "How the confidence interval was computed."),
        Column("possible", NUMBER, "Gain if nothing were wrong any more, where it is known.", nullable=True),
        Column("worse", NUMBER, "Proportion of images that are worse after.", nullable=True, low=0, high=1),
        Column("images", INTEGER, "Images.", low=0),
        Column("prompts", INTEGER, "Prompts.", low=0),
    ),
    key=("improvement", "step", "measure", "name"),
)

ALARMS = Table(
    name="alarms",
    about="One row per improvement, step and watch: whether images grew worse while the scorer's score rose.",
    stage="improve",
    columns=(
        _IMPROVEMENT,
        Column("step", INTEGER, "Step of tuning or guidance; 0 before the first.", low=0),
        Column("watch", TEXT, "What was watched, such as diversity, or a scorer of another kind."),
        Column("value", NUMBER, "What it was."),
        Column("low", NUMBER, "Lower end of its confidence interval.", nullable=True),
        Column("high", NUMBER, "Upper end.", nullable=True),
        Column("threshold", NUMBER, "Where it raises an alarm.", nullable=True),
        Column("raised", FLAG, "Whether it did."),
        Column("sentence", TEXT, "The finding in one sentence."),
    ),
    key=("improvement", "step", "watch"),
)

PROOFS = Table(
    name="proofs",
    about="One row per blind comparison of images after with images before, and per method of analysis.",
    stage="improve",
    columns=(
        _IMPROVEMENT,
        Column("comparison", TEXT, "Which images were compared, such as repaired against original."),
        Column("method", TEXT, "How net preference and its confidence interval were computed."),
        Column("study", TEXT, "Folder of the comparison, in the study folder.", nullable=True),
        Column("much_better", INTEGER, "Answers: after is much better.", low=0),
        Column("better", INTEGER, "Answers: after is better.", low=0),
        Column("same", INTEGER, "Answers: about the same.", low=0),
        Column("worse", INTEGER, "Answers: after is worse.", low=0),
        Column("much_worse", INTEGER, "Answers: after is much worse.", low=0),
        Column("net", NUMBER, "Net preference: proportion better less proportion worse.", low=-1, high=1),
        Column("low", NUMBER, "Lower end of its confidence interval.", nullable=True),
        Column("high", NUMBER, "Upper end.", nullable=True),
        Column("level", NUMBER, "Its level.", low=0, high=1),
        Column("raters", INTEGER, "Raters whose answers are used.", low=0),
        Column("prompts", INTEGER, "Prompts.", low=0),
        Column("simulated", FLAG, "Whether raters were simulated."),
    ),
    key=("improvement", "comparison", "method"),
)
