"""What a study is about: its images and their prompts."""

from beholder.tables.schema import FLAG, INTEGER, TEXT, Column, Reference, Table

PROMPTS = Table(
    name="prompts",
    about="One row per prompt: the text that images were generated from.",
    stage="new",
    columns=(
        Column("prompt", TEXT, "Id of the prompt."),
        Column("text", TEXT, "The prompt as it was given to the generators and is shown to raters."),
    ),
    key=("prompt",),
)

IMAGES = Table(
    name="images",
    about="One row per image that raters may be shown.",
    stage="new",
    columns=(
        Column("image", TEXT, "Id of the image."),
        Column("path", TEXT, "Path of the file: relative to the study folder, or absolute."),
        Column("generator", TEXT, "What made the image; `real` for photographs and other real images."),
        Column("real", FLAG, "Whether the image is real."),
        Column("gold", FLAG, "Whether it serves only to check raters (training, qualification, gold trials)."),
        Column("prompt", TEXT, "The prompt it was made for, where there is one.", nullable=True),
        Column("style", TEXT, "Slice by which results are broken down: a style or a category.", nullable=True),
        Column("width", INTEGER, "Width in pixels.", low=1),
        Column("height", INTEGER, "Height in pixels.", low=1),
        Column("sha256", TEXT, "Hash of the file's bytes."),
    ),
    key=("image",),
    references=(Reference(("prompt",), "prompts", ("prompt",)),),
)
