"""All formats in which a study can be written or read. A new one is a file beside this and a line below."""

from beholder.formats import (
    agiqa,
    aigciqa,
    datasets,
    hpd,
    imagereward,
    jspsych,
    label_studio,
    layer6,
    layer6_study,
    ours,
    pickapic,
    potato,
    richhf,
    richhf_study,
)
from beholder.formats.format import Format

FORMATS: dict[str, Format] = {
    "parquet": Format("our tables, row for row", ours.write_parquet),
    "csv": Format("our tables as text", ours.write_csv),
    "layer6": Format(
        "realism: a file by rater and one by image, as Layer 6 published theirs",
        layer6.write,
        layer6_study.read_study,
    ),
    "hpd": Format("pairs and rankings as in HPD v2: train.json and test.json", hpd.write, hpd.read_study),
    "imagereward": Format(
        "rankings as in ImageReward: one agreed order per prompt", imagereward.write, imagereward.read_study
    ),
    "pickapic": Format(
        "pairs as in Pick-a-Pic: a Parquet file, one row per vote", pickapic.write, pickapic.read_study
    ),
    "agiqa": Format("mean opinion scores as in AGIQA-3K: data.csv", agiqa.write, agiqa.read_study),
    "aigciqa": Format("mean opinion scores as in AIGCIQA2023: a CSV file", aigciqa.write, aigciqa.read_study),
    "richhf": Format("rich feedback as in RichHF-18K: a TFRecord file", richhf.write, richhf_study.read_study),
    "jspsych": Format("every answer as a jsPsych trial, in JSON", jspsych.write),
    "datasets": Format(
        "images, answers and labels for Hugging Face's datasets: Parquet files and a card",
        write_images=datasets.write,
    ),
    "potato": Format(
        "pairs and ratings of a Potato project: its configuration, data and answers", read=potato.read_study
    ),
    "label-studio": Format("pairs and ratings of a Label Studio export: JSON", read=label_studio.read_study),
}

WRITABLE = {name: form for name, form in FORMATS.items() if form.is_writable}
"""The formats in which a study can be written."""

READABLE = {name: form.read for name, form in FORMATS.items() if form.read is not None}
"""The formats from which a study can be made."""
