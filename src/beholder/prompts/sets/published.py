"""The readers of published prompt sets: a folder or file in, prompts out, in the order of the source.

Each reader knows the files as their repository publishes them. ``catalogue.py`` says which set is read by which.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from beholder.prompts.prompt import Prompt
from beholder.prompts.sets.files import find_file, read_json, read_json_lines, read_rows, read_text

HPS_STYLES = ("anime", "concept-art", "paintings", "photo")
COMPBENCH = ("color", "shape", "texture", "spatial", "3d_spatial", "non_spatial", "numeracy", "complex")
COMPBENCH_ATTRIBUTES = ("color", "shape", "texture")
SUGAR_CREPE = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")


def read_hpsv2(root: Path) -> Iterator[Prompt]:
    """HPS v2's benchmark: one JSON lines file, or one JSON list for each of the four styles."""
    if (root / f"{HPS_STYLES[0]}.json").is_file():
        for style in HPS_STYLES:
            for index, text in enumerate(read_json(find_file(root, f"{style}.json"))):
                yield Prompt(f"{style}/{index:05d}", text, style)
        return
    for row in read_json_lines(find_file(root, "hpsv2_benchmark.jsonl"), needs=("style", "index", "prompt")):
        yield Prompt(f"{row['style']}/{row['index']:05d}", row["prompt"], row["style"])


def read_pickapic_test(root: Path) -> Iterator[Prompt]:
    """The distinct prompts of Pick-a-Pic v2's test split."""
    name = "pickapicv2_test_487.json"
    path = find_file(root, name if (root / name).is_file() or root.name == name else "prompts/papv2.json")
    for index, row in enumerate(read_json(path)):
        yield Prompt(str(index), row["prompt"])


def read_partiprompts(root: Path) -> Iterator[Prompt]:
    """PartiPrompts: category and challenge of every prompt."""
    rows = read_rows(
        find_file(root, "PartiPrompts.tsv"), delimiter="\t", needs=("Prompt", "Category", "Challenge")
    )
    for index, row in enumerate(rows):
        yield Prompt(str(index), row["Prompt"], row["Category"], labels={"challenge": row["Challenge"]})


def read_geneval(root: Path) -> Iterator[Prompt]:
    """GenEval: the objects that must be there, with their count, colour and position, as a JSON label."""
    path = find_file(root, "prompts/evaluation_metadata.jsonl")
    for index, row in enumerate(read_json_lines(path, needs=("tag", "include", "prompt"))):
        yield Prompt(f"{index:05d}", row["prompt"], row["tag"], labels={"include": json.dumps(row["include"])})


def read_compbench(root: Path) -> Iterator[Prompt]:
    """The prompts of T2I-CompBench++ that are tested: 300 of each of the eight categories."""
    yield from _compbench(root, "_val")


def read_compbench_all(root: Path) -> Iterator[Prompt]:
    """All lines of T2I-CompBench++, with those for training."""
    yield from _compbench(root, "")


def read_compbench_seen(root: Path) -> Iterator[Prompt]:
    """The tested prompts whose pairs of attribute and object also occur in training."""
    yield from _compbench(root, "_val_seen", COMPBENCH_ATTRIBUTES)


def read_compbench_unseen(root: Path) -> Iterator[Prompt]:
    """The tested prompts whose pairs of attribute and object do not occur in training."""
    yield from _compbench(root, "_val_unseen", COMPBENCH_ATTRIBUTES)


def read_dsg(root: Path) -> Iterator[Prompt]:
    """DSG-1k: one prompt for many rows of atomic questions; the label ``types`` lists their types."""
    rows = read_rows(
        find_file(root, "dsg/data/dsg-1k-anns.csv"),
        needs=("item_id", "text", "category_broad", "category_detailed"),
    )
    texts: dict[str, str] = {}
    types: dict[str, dict[str, None]] = {}
    for row in rows:
        texts[row["item_id"]] = row["text"]
        kind = f"{row['category_broad']} - {row['category_detailed']}"
        types.setdefault(row["item_id"], {})[kind] = None
    for key, text in texts.items():
        yield Prompt(key, text, key.rpartition("_")[0], labels={"types": "; ".join(types[key])})


def read_tifa(root: Path) -> Iterator[Prompt]:
    """TIFA v1.0: the category is the source of the prompt."""
    for row in read_json(find_file(root, "tifa_v1.0/tifa_v1.0_text_inputs.json")):
        yield Prompt(row["id"], row["caption"], row["id"].rpartition("_")[0])


def read_gecko(root: Path) -> Iterator[Prompt]:
    """Gecko: the category is the skill, or the source of prompts taken from other sets."""
    path = find_file(root, "prompts.csv")
    for row in read_rows(path, needs=("prompt_id", "dataset_id", "prompt", "prompt_type")):
        skill, written, _ = row["dataset_id"].partition(":")
        category = skill if written or "/" in skill else skill.rpartition("_")[0]
        reliable = row.get("max_disagreement_less_0.5", "")
        labels = {"type": row["prompt_type"], "raters_agree": reliable, "dataset": row["dataset_id"]}
        yield Prompt(row["prompt_id"], row["prompt"], category or skill, labels=labels)


def read_dpg(root: Path) -> Iterator[Prompt]:
    """DPG-Bench: one text file per prompt as in its repository, or one JSON lines file."""
    for folder in (root, root / "dpg_bench" / "prompts"):
        files = sorted(path for path in folder.glob("*.txt") if path.stem != "SOURCE") if folder.is_dir() else []
        if files:
            yield from (Prompt(path.stem, read_text(path).strip()) for path in files)
            return
    for row in read_json_lines(find_file(root, "dpg_bench_prompts.jsonl"), needs=("id", "prompt")):
        yield Prompt(row["id"], row["prompt"])


def read_heim(root: Path) -> Iterator[Prompt]:
    """HEIM: the scenarios whose prompts are in its source code."""
    path = find_file(root, "heim_inline_prompts.jsonl")
    for index, row in enumerate(read_json_lines(path, needs=("scenario", "aspect", "category", "prompt"))):
        labels = {"aspect": row["aspect"], "category": row["category"]}
        yield Prompt(str(index), row["prompt"], row["scenario"], labels=labels)


def read_sugar_crepe(root: Path) -> Iterator[Prompt]:
    """SugarCrepe: each caption and its hard negative share a group."""
    for kind in SUGAR_CREPE:
        rows: Mapping[str, Mapping[str, str]] = read_json(find_file(root, f"data/{kind}.json"))
        for index, row in rows.items():
            group = f"{kind}/{index}"
            yield Prompt(f"{group}/caption", row["caption"], kind, group)
            yield Prompt(f"{group}/negative", row["negative_caption"], kind, group)


def read_dalleval_bias(root: Path) -> Iterator[Prompt]:
    """DallEval's professions: a man, a woman or a person who works as each; the three share a group."""
    for index, text in enumerate(read_json(find_file(root, "biases/prompt_list.json"))):
        article, _, rest = text.partition(" ")
        subject, _, profession = rest.partition(" ")
        yield Prompt(str(index), text, subject, f"{article} … {profession}".rstrip())


def read_drawbench(root: Path) -> Iterator[Prompt]:
    """DrawBench as its authors share it: a CSV file with the columns Prompts and Category."""
    path = root if root.is_file() else find_file(root, "drawbench.csv")
    for index, row in enumerate(read_rows(path, needs=("Prompts", "Category"))):
        yield Prompt(str(index), row["Prompts"], row["Category"])


def _compbench(root: Path, suffix: str, categories: tuple[str, ...] = COMPBENCH) -> Iterator[Prompt]:
    for category in categories:
        path = find_file(root, f"examples/dataset/{category}{suffix}.txt")
        lines = [line.strip() for line in read_text(path).splitlines()]
        for index, line in enumerate(filter(None, lines)):
            yield Prompt(f"{category}/{index}", line, category)
