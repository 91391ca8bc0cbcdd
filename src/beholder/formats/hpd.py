"""HPD v2: ``train.json`` holds one person's choice between two images, ``test.json`` rankings by several people.

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
from beholder.formats.format import Tables, Written, questions_of
from beholder.formats.imported import Judged, tables_from
from beholder.formats.reading import Entry, check_entries, numbers, read_all, read_list, texts
from beholder.study.study import Study

PAIRS, RANKINGS = "hpd-pairs", "hpd-ranking"
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
    return tables_from(read_judged(source), platform="hpd", images=images)


def read_judged(source: Path) -> list[Judged]:
    """All judgments of a file, or of ``train.json`` and ``test.json`` in a folder, with all faults at once."""
    files = [source] if source.is_file() else [source / name for name in ("train.json", "test.json")]
    readers = [partial(_read_file, file) for file in files if file.is_file()]
    judged = [one for part in read_all(str(source), readers) for one in part]
    if not judged:
        raise TableError(str(source), ["neither train.json nor test.json is here, or both are empty"])
    return judged


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
    """One entry a set of images, each person's ranks put into the order of the paths."""
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[str, list[int]]]] = {}
    for text, images, ranking, rater in answers.select("text", "images", "ranking", "rater").iter_rows():
        shown = sorted(zip((paths[image] for image in images), ranking, strict=True))
        place = (text, tuple(path for path, _ in shown))
        groups.setdefault(place, []).append((rater, [rank for _, rank in shown]))
    return [
        {
            "prompt": text,
            "image_path": list(shown),
            "rank": competition_ranks(
                [sum(column) / len(given) for column in zip(*(r for _, r in given), strict=True)]
            ),
            "raw_annotations": [{"rank": ranks, "user_hash": rater} for rater, ranks in given],
        }
        for (text, shown), given in groups.items()
    ]


def _read_file(path: Path) -> list[Judged]:
    """Choices where any entry has a preference, otherwise rankings."""
    entries = read_list(path)
    if any(isinstance(entry, dict) and "human_preference" in entry for entry in entries):
        check_entries(path, entries, _train_faults)
        return [_choice(entry) for entry in entries]
    check_entries(path, entries, _test_faults)
    return [_ranking(entry, given) for entry in entries for given in _annotations(entry)]


def _choice(entry: Entry) -> Judged:
    side = next(side for side, value in SIDES.items() if value == entry["human_preference"])
    rater = str(entry.get("user_hash", NOBODY))
    return Judged(PAIRS, "pair", rater, entry["prompt"], tuple(_files(entry)), choice=side)


def _ranking(entry: Entry, given: Entry) -> Judged:
    rater, ranks = str(given.get("user_hash", NOBODY)), tuple(competition_ranks(given["rank"]))
    return Judged(RANKINGS, "ranking", rater, entry["prompt"], tuple(entry["image_path"]), ranking=ranks)


def _files(entry: Entry) -> list[str]:
    found: list[str] = entry["file_path"] if "file_path" in entry else entry["image_path"]
    return found


def _annotations(entry: Entry) -> list[Entry]:
    """Everyone's ranks; the release says ``raw_annotations``, its README ``raw_annotation``."""
    found: list[Entry] = entry.get("raw_annotations") or entry.get("raw_annotation") or []
    return found or [{"rank": entry["rank"], "user_hash": CONSENSUS}]


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
    given = entry.get("raw_annotations", entry.get("raw_annotation", []))
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        return [*faults, "raw_annotations: a list of objects was expected"]
    for what, ranks in (
        ("rank", entry.get("rank")),
        *((f"raw_annotations[{i}].rank", g.get("rank")) for i, g in enumerate(given)),
    ):
        if not numbers(ranks) or len(ranks) != len(files):
            faults.append(f"{what}: {len(files)} whole numbers were expected; found {ranks!r}")
    return faults
