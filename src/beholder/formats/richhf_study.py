"""RichHF-18K as a study of rich feedback: scores, misaligned keywords and heatmaps as published.

The prompts are not in the TFRecord file. They are read from Pick-a-Pic's rows where a Parquet or JSON-lines file
with them lies beside it: the names of the images are Pick-a-Pic's.
"""

from functools import partial
from pathlib import Path

from beholder.errors import TableError
from beholder.formats import pickapic
from beholder.formats.format import Imported
from beholder.formats.imported import ImageRecord, about_files, image_rows
from beholder.formats.reading import read_all
from beholder.formats.richhf import RichRecord, read
from beholder.formats.richhf_tables import QUESTION, RATERS, tables_of
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.question import Design
from beholder.study.study import Study
from beholder.tables.catalogue import TABLES

LISTED = 5


def read_study(source: Path, *, images: Path | None = None) -> Imported:
    """A study from a TFRecord file, or from all of a folder."""
    files = sorted(source.glob("*.tfrecord")) if source.is_dir() else [source]
    if not files:
        raise TableError(str(source), ["no .tfrecord files here"])
    records = _once(
        [record for part in read_all(str(source), [partial(read, file) for file in files]) for record in part]
    )
    if not records[0]:
        raise TableError(str(source), ["no records here"])
    captions = _captions(source if source.is_dir() else source.parent)
    rich = tables_of(records[0], captions)
    image_records = {
        record.uid: ImageRecord(captions.get(record.uid), path=record.filename) for record in records[0]
    }
    tables = dict(rich.tables) | {"images": TABLES["images"].frame(image_rows(image_records, images))}
    differences = list(records[1])
    if rich.mismatched:
        named = ", ".join(
            f"{uid} ({words} words, {labels} labels)" for uid, words, labels in rich.mismatched[:LISTED]
        )
        more = f" and {len(rich.mismatched) - LISTED} more" if len(rich.mismatched) > LISTED else ""
        differences.append(f"prompts with another number of words than labels: {named}{more}")
    question = RichFeedbackQuestion(
        name=QUESTION, protocol="rich-feedback", design=Design(raters=RATERS, trials=len(records[0]))
    )
    notes = [
        f"No single rater's feedback is published, only what {RATERS} raters said together: scores are their "
        "means, from 0 to 1; confidence intervals of means over images resample prompts, not raters.",
        "The generator of an image is not published, so there is nothing to rank.",
        *about_files(tables["images"]),
    ]
    if len(captions.keys() & image_records.keys()) < len(image_records):
        lacking = len(image_records) - len(captions.keys() & image_records.keys())
        notes.append(
            f"The prompts of {lacking:,} of {len(image_records):,} images are not here: put Pick-a-Pic's rows "
            "(.parquet or .jsonl) beside the TFRecord file to have them."
        )
    study = Study(
        name=QUESTION,
        title="RichHF-18K",
        description="Rich feedback as published; who gave which is not known.",
        questions=(question,),
    )
    return Imported(study, tables, tuple(notes), tuple(differences))


def _once(records: list[RichRecord]) -> tuple[list[RichRecord], list[str]]:
    """The first record of each image, and a sentence on the others."""
    first: dict[str, RichRecord] = {}
    for record in records:
        first.setdefault(record.uid, record)
    twice = len(records) - len(first)
    differences = [f"{twice:,} records of images that have one before; the first counts"] if twice else []
    return list(first.values()), differences


def _captions(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.iterdir() if path.suffix in (".parquet", ".jsonl"))
    entries = [
        entry for part in read_all(str(folder), [partial(pickapic.read, file) for file in files]) for entry in part
    ]
    return {entry[f"image_{side}_uid"]: entry["caption"] for entry in entries for side in ("0", "1")}
