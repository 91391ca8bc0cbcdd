"""HPD v2: ``train.json`` holds one rater's choice between two images, ``test.json`` rankings by several raters.

train: ``{human_preference: [1, 0], prompt, file_path: [a, b], user_hash}``, 1 the preferred image.
test: ``{prompt, image_path: […], rank: […], raw_annotations: [{rank: […], user_hash}]}``; the rank at a place is
that of the image at the same place, 1 the best; ``rank`` is the order of the mean ranks.
"""

import json
from functools import partial
from pathlib import Path

import polars as pl

from beholder.errors import TableError
from beholder.formats.answered import answered_tests, competition_ranks, public_paths
from beholder.formats.format import Imported, Tables, Written, questions_of
from beholder.formats.imported import ImportedJudgement, about_files, tables_from
from beholder.formats.ranked import NO_GENERATORS, NO_TIMES, differences_in, notes_on, question_of
from beholder.formats.reading import Entry, check_entries, numbers, read_all, read_list, texts
from beholder.study.study import Study

PAIRS, RANKINGS = "hpd-pairs", "hpd-ranking"
PROTOCOLS = {PAIRS: "hpd-pairs", RANKINGS: "hpd-ranking"}
SIDES = {"left": [1, 0], "right": [0, 1]}
NOBODY, CONSENSUS = "hpd-unknown", "hpd-mean"


def write(study: Study, tables: Tables, folder: Path) -> Written:
    """Pairs as ``train.json``, rankings as ``test.json``; ties have no place in a preference and are left out."""
    kinds = {question.name: question.kind for question in study.questions}
    paths, files, notes = public_paths(tables["images"]), [], list[str]()
    choices, rankings = list[Entry](), list[Entry]()
    for name in questions_of(study, ("pair", "ranking"), "HPD v2"):
        answers = answered_tests(tables, name)
        if kinds[name] == "ranking":
            rankings += _rankings(answers, paths)
            continue
        decided = answers.filter(pl.col("choice").is_in(list(SIDES)))
        choices += _choices(decided, paths)
        if decided.height < answers.height:
            notes.append(f"{name}: {answers.height - decided.height} ties are not in train.json")
    for file, entries in (("train.json", choices), ("test.json", rankings)):
        if entries:
            (folder / file).write_text(json.dumps(entries, ensure_ascii=False, indent=1), encoding="utf-8")
            files.append(folder / file)
    return Written(tuple(files), tuple(notes or ([] if files else ["no answers yet"])))


def read(source: Path, *, images: Path | None = None) -> dict[str, pl.DataFrame]:
    """Our tables from ``train.json``, ``test.json`` or the folder with them."""
    return tables_from(read_judgements(source), platform="hpd", images=images)


def read_study(source: Path, *, images: Path | None = None) -> Imported:
    """A study from ``train.json``, ``test.json`` or the folder with either or both."""
    judgements = read_judgements(source)
    tables = tables_from(judgements, platform="hpd", images=images)
    names = dict.fromkeys(judgement.question for judgement in judgements)
    study = Study(
        name="hpd-v2",
        title="HPD v2",
        description="Published choices and rankings.",
        questions=tuple(question_of(name, judgements, PROTOCOLS[name]) for name in names),
    )
    notes = [NO_GENERATORS, NO_TIMES, *notes_on(judgements), *about_files(tables["images"])]
    raters = {judgement.rater for judgement in judgements}
    if NOBODY in raters:
        notes.append(
            "Choices without user_hash count as one rater's, so they have no confidence interval over raters."
        )
    if CONSENSUS in raters:
        notes.append("Rankings without raw_annotations are the raters' mean order and count as one rater's.")
    return Imported(study, tables, tuple(notes), tuple(differences_in(judgements)))


def read_judgements(source: Path) -> list[ImportedJudgement]:
    """All judgements of a file, or of ``train.json`` and ``test.json`` in a folder, with all faults at once."""
    files = [source] if source.is_file() else [source / name for name in ("train.json", "test.json")]
    readers = [partial(_read_file, file) for file in files if file.is_file()]
    judgements = [judgement for part in read_all(str(source), readers) for judgement in part]
    if not judgements:
        raise TableError(str(source), ["neither train.json nor test.json is here, or both are empty"])
    return judgements


def read_prompts(path: Path) -> pl.DataFrame:
    """Style, number and text of the benchmark's prompts: image ``number`` of a style is ``style/00number.jpg``."""
    content = json.loads(path.read_text(encoding="utf-8"))
    faults = [f"'{style}' holds no list of texts" for style, part in content.items() if not texts(part)]
    if faults:
        raise TableError(str(path), faults)
    rows = [(style, number, text) for style, part in content.items() for number, text in enumerate(part)]
    return pl.DataFrame(rows, schema={"style": pl.String, "number": pl.Int64, "text": pl.String}, orient="row")


def _choices(answers: pl.DataFrame, paths: dict[str, str]) -> list[Entry]:
    return [
        {
            "human_preference": SIDES[choice],
            "prompt": text,
            "file_path": [paths[image] for image in images],
            "user_hash": rater,
        }
        for choice, text, images, rater in answers.select("choice", "text", "images", "rater").iter_rows()
    ]


def _rankings(answers: pl.DataFrame, paths: dict[str, str]) -> list[Entry]:
    """One entry per set of images, each rater's ranks in the order of the paths."""
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[str, list[int]]]] = {}
    for text, images, ranking, rater in answers.select("text", "images", "ranking", "rater").iter_rows():
        ranked = sorted(zip((paths[image] for image in images), ranking, strict=True))
        place = (text, tuple(path for path, _ in ranked))
        groups.setdefault(place, []).append((rater, [rank for _, rank in ranked]))
    return [
        {
            "prompt": text,
            "image_path": list(files),
            "rank": competition_ranks(
                [sum(column) / len(rankings) for column in zip(*(r for _, r in rankings), strict=True)]
            ),
            "raw_annotations": [{"rank": ranks, "user_hash": rater} for rater, ranks in rankings],
        }
        for (text, files), rankings in groups.items()
    ]


def _read_file(path: Path) -> list[ImportedJudgement]:
    """Choices where any entry has a preference, otherwise rankings."""
    entries = read_list(path)
    if any(isinstance(entry, dict) and "human_preference" in entry for entry in entries):
        check_entries(path, entries, _train_faults)
        return [_choice(entry) for entry in entries]
    check_entries(path, entries, _test_faults)
    return [_ranking(entry, annotation) for entry in entries for annotation in _annotations(entry)]


def _choice(entry: Entry) -> ImportedJudgement:
    side = next(side for side, value in SIDES.items() if value == entry["human_preference"])
    rater = str(entry.get("user_hash", NOBODY))
    return ImportedJudgement(PAIRS, "pair", rater, entry["prompt"], tuple(_files(entry)), choice=side)


def _ranking(entry: Entry, annotation: Entry) -> ImportedJudgement:
    rater, ranks = str(annotation.get("user_hash", NOBODY)), tuple(competition_ranks(annotation["rank"]))
    files = tuple(entry["image_path"])
    return ImportedJudgement(RANKINGS, "ranking", rater, entry["prompt"], files, ranking=ranks)


def _files(entry: Entry) -> list[str]:
    files: list[str] = entry["file_path"] if "file_path" in entry else entry["image_path"]
    return files


def _annotations(entry: Entry) -> list[Entry]:
    """Everyone's ranks; the release says ``raw_annotations``, its README ``raw_annotation``."""
    annotations: list[Entry] = entry.get("raw_annotations") or entry.get("raw_annotation") or []
    return annotations or [{"rank": entry["rank"], "user_hash": CONSENSUS}]


def _train_faults(entry: Entry) -> list[str]:
    faults = [] if isinstance(entry.get("prompt"), str) else ["prompt: a text was expected"]
    files = entry.get("file_path", entry.get("image_path"))
    if not texts(files) or len(files) != 2:
        faults.append("file_path: two paths were expected")
    if entry.get("human_preference") not in list(SIDES.values()):
        faults.append(f"human_preference: [1, 0] or [0, 1] was expected; found {entry.get('human_preference')!r}")
    return faults


def _test_faults(entry: Entry) -> list[str]:
    faults = [] if isinstance(entry.get("prompt"), str) else ["prompt: a text was expected"]
    files = entry.get("image_path")
    if not texts(files):
        return [*faults, "image_path: a list of paths was expected"]
    annotations = entry.get("raw_annotations", entry.get("raw_annotation", []))
    if not isinstance(annotations, list) or not all(isinstance(annotation, dict) for annotation in annotations):
        return [*faults, "raw_annotations: a list of objects was expected"]
    for what, ranks in (
        ("rank", entry.get("rank")),
        *((f"raw_annotations[{i}].rank", g.get("rank")) for i, g in enumerate(annotations)),
    ):
        if not numbers(ranks) or len(ranks) != len(files):
            faults.append(f"{what}: {len(files)} whole numbers were expected; found {ranks!r}")
    return faults
