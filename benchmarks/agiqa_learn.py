"""The Metric Transformer on AGIQA-3K, cross-validated over prompts: ``python benchmarks/agiqa_learn.py FOLDER``.

Reads the data and images below ``BEHOLDER_SHARED`` (``../shared`` by default). Makes a study in FOLDER,
computes features and trains every variant; what exists already is skipped, so it may be stopped at any moment and
resumed. ``--only NAME`` trains one variant. ``tuned`` is trained in fp32; on a processor with bf16 instructions
``--precision bf16`` is faster. With ``--show``, or once all are trained, tables of those that are done are printed
in Markdown, and charts drawn to docs/images.
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from agiqa_tables import draw, show

from beholder.consolidate.stage import run as consolidate
from beholder.formats.catalogue import READABLE
from beholder.formats.folder import write_folder
from beholder.learn.recipe import load_recipe
from beholder.learn.stage import run as learn
from beholder.learn.trained_models import FIGURES

SOURCE = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[2] / "shared")) / "data" / "agiqa-3k"
IMAGES = Path(__file__).parents[1] / "docs" / "images"
FIXED = ("data.method=published-mean", "split.folds=5", "split.seed=1")
SEEDS = (0, 1, 2)
TUNED = "metric-transformer-tuned"
"""The recipe with a fine-tuned network."""
OTHER = {"quality": "alignment", "alignment": "quality"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=[name for name, _ in variants("fp32")])
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32", help="of tuned")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    make_study(arguments.folder)
    figures_by_variant = {}
    for name, changes in variants(arguments.precision):
        done = (arguments.folder / "models" / name / FIGURES).is_file()
        if done if arguments.show else arguments.only in (None, name):
            recipe = load_recipe(TUNED if name == "tuned" else "metric-transformer", (*FIXED, *changes))
            figures_by_variant[name] = learn(arguments.folder, recipe, name=name, resume=True).figures
    if arguments.only is None:
        show(figures_by_variant, arguments.folder, load_recipe("metric-transformer", FIXED), SEEDS)
        draw(figures_by_variant, arguments.folder, IMAGES)


def variants(precision: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Return name -> changes to the recipe; the first is the unchanged recipe, and ``tuned`` has the precision."""
    for seed in SEEDS:
        yield f"joint-{seed}", (f"training.seed={seed}",)
        yield f"blind-{seed}", (f"training.seed={seed}", "model.cross=false")
    for aspect in OTHER:
        yield f"single-{aspect}", (f'data.aspects=["{aspect}"]',)
    for aspect, other in OTHER.items():
        changes = (
            f'data.aspects=["{aspect}"]',
            f"model.start={{study}}/models/single-{other}/fold-{{fold}}",
        )
        yield f"transfer-{aspect}", changes
        yield f"frozen-{aspect}", (*changes, "model.frozen=shared")
    yield "four", ("model.members=4",)
    yield "tuned", (f"training.precision={precision}",)


def make_study(folder: Path) -> None:
    """Import the published mean opinion scores as a study with labels."""
    if (folder / "study.toml").is_file():
        return
    write_folder(
        READABLE["agiqa"](SOURCE / "data.csv", images=SOURCE / "image"), folder, form="agiqa", source=SOURCE
    )
    consolidate(folder)


if __name__ == "__main__":
    main()
