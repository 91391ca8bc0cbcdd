"""RichHF-18K as a study of rich feedback: scores, missed words and heatmaps as published.

The prompts are not in the TFRecord file. They are read from Pick-a-Pic's rows where a Parquet or JSON-lines file
with them lies beside it: the names of the images are Pick-a-Pic's.
"""

from functools import partial
from pathlib import Path

from beholder.errors import TableError
from beholder.formats import pickapic
from beholder.formats.format import Imported
from beholder.formats.imported import Shown, about_files, image_rows
from beholder.formats.reading import read_all
from beholder.formats.richhf import RichRecord, read
from beholder.formats.richhf_tables import PEOPLE, QUESTION, tables_of
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.question import Design
from beholder.study.study import Study
from beholder.tables.catalogue import TABLES

SHOWN = 5


def read_study(source: Path, *, images: Path | None = None) -> Imported:
    """A study from a TFRecord file, or from all of a folder."""
    files = sorted(source.glob("*.tfrecord")) if source.is_dir() else [source]
    if not files:
        raise TableError(str(source), ["no .tfrecord files here"])
    records = _once(
        [one for part in read_all(str(source), [partial(read, file) for file in files]) for one in part]
    )
    if not records[0]:
        raise TableError(str(source), ["no records here"])
    captions = _captions(source if source.is_dir() else source.parent)
    found = tables_of(records[0], captions)
    shown = {one.uid: Shown(captions.get(one.uid), path=one.filename) for one in records[0]}
    tables = dict(found.tables) | {"images": TABLES["images"].frame(image_rows(shown, images))}
    differences = list(records[1])
    if found.mismatched:
        named = ", ".join(
            f"{uid} ({words} words, {labels} labels)" for uid, words, labels in found.mismatched[:SHOWN]
        )
        more = f" and {len(found.mismatched) - SHOWN} more" if len(found.mismatched) > SHOWN else ""
        differences.append(f"prompts with another number of words than labels: {named}{more}")
    question = RichFeedbackQuestion(
        name=QUESTION, protocol="rich-feedback", design=Design(raters=PEOPLE, trials=len(records[0]))
    )
    notes = [
        f"No single person's feedback is published, only what {PEOPLE} people said together: scores are their "
        "means, from 0 to 1; intervals of means over images resample prompts, not people.",
        "The generator of an image is not told, so there is nothing to rank.",
        *about_files(tables["images"]),
    ]
    if len(captions.keys() & shown.keys()) < len(shown):
        lacking = len(shown) - len(captions.keys() & shown.keys())
        notes.append(
            f"The prompts of {lacking:,} of {len(shown):,} images are not here: put Pick-a-Pic's rows (.parquet "
            "or .jsonl) beside the TFRecord file to have them."
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
    said = [f"{twice:,} records of images that have one before; the first counts"] if twice else []
    return list(first.values()), said


def _captions(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.iterdir() if path.suffix in (".parquet", ".jsonl"))
    entries = [
        one for part in read_all(str(folder), [partial(pickapic.read, file) for file in files]) for one in part
    ]
    return {entry[f"image_{side}_uid"]: entry["caption"] for entry in entries for side in ("0", "1")}
