"""All prompt sets by name: version, licence, source, parts with the number of their prompts, and readers.

A new set is a reader in ``published.py`` and an entry below. The version is that of the files whose hashes are
listed: a file with other bytes is read all the same, and the version says that it differs.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from beholder.errors import PromptsError, unknown_name
from beholder.prompts.prompt import MAIN, Prompt, PromptSet
from beholder.prompts.sets import published
from beholder.prompts.sets.files import find_file, hash_start


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a set: how it is read, and how many prompts its paper or its files have."""

    read: Callable[[Path], Iterator[Prompt]]
    count: int | None
    """``None`` where the files are the user's."""


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """What is known about a prompt set."""

    about: str
    licence: str
    source: str
    version: str
    parts: Mapping[str, Part]
    files: Mapping[str, str] = field(default_factory=dict)
    """Path within the repository -> start of the SHA-256 of the file of this version."""


def read_set(name: str, root: Path, part: str = MAIN) -> PromptSet:
    """Read a part of a published prompt set.

    Args:
        name: a name of :data:`PROMPT_SETS`.
        root: a clone of the repository that publishes it, or a folder with its files.
        part: ``main``, or another part of the set.

    Returns:
        The prompts in the order of the files, with version, licence and source.
    """
    if name not in PROMPT_SETS:
        raise PromptsError("prompt set", [unknown_name("set", name, PROMPT_SETS)])
    entry = PROMPT_SETS[name]
    if part not in entry.parts:
        raise PromptsError(f"prompt set {name}", [unknown_name("part", part, entry.parts)])
    if not root.exists():
        raise PromptsError(str(root), ["no such file or folder"], advice=f"{name} is published at {entry.source}")
    prompts = tuple(entry.parts[part].read(root))
    empty = [f"prompt {prompt.key} has no text" for prompt in prompts if not prompt.text.strip()]
    if empty:
        raise PromptsError(str(root), empty)
    return PromptSet(name, part, _version(entry, root), entry.licence, entry.source, prompts)


def _version(entry: CatalogueEntry, root: Path) -> str:
    """Return the version of the files, as far as their hashes are known."""
    try:
        differing = [
            path.rpartition("/")[2]
            for path, start in entry.files.items()
            if hash_start(find_file(root, path)) != start
        ]
    except PromptsError:  # a part of the files, or another layout: nothing to compare
        return "unverified"
    if not entry.files:
        return entry.version
    return entry.version if not differing else f"differs from {entry.version} ({', '.join(differing)})"


PROMPT_SETS: dict[str, CatalogueEntry] = {
    "hpsv2-benchmark": CatalogueEntry(
        "HPS v2's benchmark: 4 styles × 800 prompts; pickapic-test: Pick-a-Pic v2's test prompts",
        "Apache-2.0",
        "https://github.com/tgxs002/HPSv2",
        "2025-11-11 (AIDC-AI/Diffusion-SDPO 84fb241)",
        {MAIN: Part(published.read_hpsv2, 3200), "pickapic-test": Part(published.read_pickapic_test, 487)},
        {"hpsv2_benchmark.jsonl": "b4888ebd3a29b731"},
    ),
    "partiprompts": CatalogueEntry(
        "PartiPrompts: 12 categories, 11 challenges",
        "Apache-2.0",
        "https://github.com/google-research/parti",
        "2022-06-28 (5a65797)",
        {MAIN: Part(published.read_partiprompts, 1632)},
        {"PartiPrompts.tsv": "fab29e41bb512a16"},
    ),
    "geneval": CatalogueEntry(
        "GenEval: objects, counts, colours and positions with a machine-readable specification",
        "MIT",
        "https://github.com/djghosh13/geneval",
        "2025-03-03 (af4902f)",
        {MAIN: Part(published.read_geneval, 553)},
        {"prompts/evaluation_metadata.jsonl": "5c48e0813e812e3c"},
    ),
    "t2i-compbench": CatalogueEntry(
        "T2I-CompBench++: 8 categories; all: with training prompts; seen, unseen: pairs of attribute and object",
        "MIT",
        "https://github.com/Karine-Huang/T2I-CompBench",
        "2026-05-07 (1b70949)",
        {
            MAIN: Part(published.read_compbench, 2400),
            "all": Part(published.read_compbench_all, 7860),
            "seen": Part(published.read_compbench_seen, 600),
            "unseen": Part(published.read_compbench_unseen, 300),
        },
        {"examples/dataset/color.txt": "e3034f86a70c3422", "examples/dataset/color_val.txt": "1634259756dbc77d"},
    ),
    "dsg-1k": CatalogueEntry(
        "DSG-1k: prompts of 10 sources with the types of their atomic questions",
        "Apache-2.0",
        "https://github.com/j-min/DSG",
        "2024-12-09 (7330119)",
        {MAIN: Part(published.read_dsg, 1060)},
        {"dsg/data/dsg-1k-anns.csv": "b7ce06ea8a0478cc"},
    ),
    "tifa": CatalogueEntry(
        "TIFA v1.0: prompts of COCO, PartiPrompts, PaintSkills and DrawBench",
        "Apache-2.0",
        "https://github.com/Yushi-Hu/tifa",
        "2024-04-28 (8e37050)",
        {MAIN: Part(published.read_tifa, 4081)},
        {"tifa_v1.0/tifa_v1.0_text_inputs.json": "650281d508b056ac"},
    ),
    "gecko": CatalogueEntry(
        "Gecko2K: prompts by skill, and prompts of other sets",
        "CC-BY-4.0",
        "https://github.com/google-deepmind/gecko_benchmark_t2i",
        "2024-06-13 (e5f8ac2)",
        {MAIN: Part(published.read_gecko, 1546)},
        {"prompts.csv": "81058b468d1bef5b"},
    ),
    "dpg-bench": CatalogueEntry(
        "DPG-Bench: dense prompts",
        "Apache-2.0",
        "https://github.com/TencentQQGYLab/ELLA",
        "2024-07-17 (3c228f1)",
        {MAIN: Part(published.read_dpg, 1065)},
        {"dpg_bench_prompts.jsonl": "dbacb0c4d651df58"},
    ),
    "heim-inline": CatalogueEntry(
        "HEIM: the nine scenarios whose prompts are in its source code",
        "Apache-2.0",
        "https://github.com/stanford-crfm/helm",
        "2026-06-05 (63754d0)",
        {MAIN: Part(published.read_heim, 484)},
        {"heim_inline_prompts.jsonl": "54305b274ea6dd84"},
    ),
    "sugar-crepe": CatalogueEntry(
        "SugarCrepe: 7,511 captions, each with a hard negative",
        "MIT",
        "https://github.com/RAIVNLab/sugar-crepe",
        "2024-02-13 (0047054)",
        {MAIN: Part(published.read_sugar_crepe, 15022)},
        {"data/add_att.json": "012d88d729693d19", "data/swap_obj.json": "073cdb8e253d0536"},
    ),
    "dalleval-bias": CatalogueEntry(
        "DallEval: 84 professions × man, woman, person: counterfactual triples",
        "MIT",
        "https://github.com/j-min/DallEval",
        "2023-11-26 (36b273b)",
        {MAIN: Part(published.read_dalleval_bias, 252)},
        {"biases/prompt_list.json": "2527bc6f02d95764"},
    ),
    "drawbench": CatalogueEntry(
        "DrawBench, from your own copy",
        "none found: ask its authors",
        "https://imagen.research.google",
        "unverified",
        {MAIN: Part(published.read_drawbench, None)},
    ),
}
"""Name of a set -> what is known about it."""
