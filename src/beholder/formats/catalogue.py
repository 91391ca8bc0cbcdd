"""All formats in which a study can be written. A new one is a file beside this and a line below."""

from beholder.formats import hpd, imagereward, jspsych, layer6, ours, richhf
from beholder.formats.format import Format

FORMATS: dict[str, Format] = {
    "parquet": Format("our tables, row for row", ours.write_parquet),
    "csv": Format("our tables as text", ours.write_csv),
    "layer6": Format("realism: a file by person and one by image, as Layer 6 published theirs", layer6.write),
    "hpd": Format("pairs and rankings as in HPD v2: train.json and test.json", hpd.write),
    "imagereward": Format("rankings as in ImageReward: one agreed order a prompt", imagereward.write),
    "richhf": Format("rich feedback as in RichHF-18K: a TFRecord file", richhf.write),
    "jspsych": Format("every answer as a jsPsych trial, in JSON", jspsych.write),
}
