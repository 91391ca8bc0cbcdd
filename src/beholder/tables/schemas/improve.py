"""What was changed because of the findings."""

from beholder.tables.schema import FLAG, NUMBER, TEXT, Column, Reference, Table

CHANGES = Table(
    name="changes",
    about="One row per change made to an image, a prompt or a generator because of judgements or scores.",
    stage="improve",
    columns=(
        Column("change", TEXT, "Id of the change."),
        Column("method", TEXT, "filter, repair, guide, finetune, reword."),
        Column("image", TEXT, "The image before.", nullable=True),
        Column("result", TEXT, "The image after.", nullable=True),
        Column("scorer", TEXT, "The scorer that suggested it.", nullable=True),
        Column("before", NUMBER, "Its score before.", nullable=True),
        Column("after", NUMBER, "Its score after.", nullable=True),
        Column("kept", FLAG, "Whether the change was kept."),
    ),
    key=("change",),
    references=(Reference(("image",), "images", ("image",)), Reference(("result",), "images", ("image",))),
)
