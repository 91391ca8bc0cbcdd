"""Correlation of distances with AGIQA-3K's ratings of generators: ``python benchmarks/agiqa_distances.py FOLDER``.

The set has no real images. Each generator's images are compared with those of all the others, so that a distance
measures the dissimilarity to them; diversity metrics use the generator's images alone. FOLDER is the study that
``benchmarks/agiqa.py`` keeps. Prints Spearman's ρ with the generators' mean opinion scores, with the sign chosen
so that positive means agreement, and its confidence interval over generators.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from beholder.distances.catalogue import DISTANCES, Sets
from beholder.images.sources import find_images
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import encode
from beholder.stats.correlation.coefficients import correlation
from beholder.tables.store import Store

LEFT_OUT = {"ct": "needs the images that a generator was trained on", "inception_score": "see agiqa.md"}
SIGN = {"lower": -1.0, "higher": 1.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--encoder", default="efficientnet-lite2")
    arguments = parser.parse_args()
    store = Store(arguments.folder)
    images = store.read("images").select("image", "generator", "path")
    paths = [str(store.folder / path) for path in images["path"]]
    encoded = encode(
        find_images(*paths), load_encoder(arguments.encoder), folder=store.folder / "features", skip_broken=True
    )
    vectors = dict(zip(encoded.names, encoded.vectors, strict=True))
    generators = {
        name: np.stack(
            [vectors[path] for path, maker in zip(paths, images["generator"], strict=True) if maker == name]
        )
        for name in sorted(images["generator"].unique())
    }
    values: dict[str, dict[str, float]] = {name: {} for name in DISTANCES if name not in LEFT_OUT}
    for generator, vectors_of_generator in generators.items():
        others = np.concatenate(
            [vectors_of_other for name, vectors_of_other in generators.items() if name != generator]
        )
        sets = Sets(others, vectors_of_generator)
        for name, by_generator in values.items():
            by_generator[generator] = DISTANCES[name].compute(sets).value
        rounded = {name: round(by_generator[generator], 4) for name, by_generator in values.items()}
        print(generator, rounded, flush=True)
    means = _means(store, images)
    print(f"\n| distance | {' | '.join(means)} |\n|---|{'---|' * len(means)}")
    for name, by_generator in values.items():
        cells = []
        for mean in means.values():
            sign = SIGN[DISTANCES[name].better]
            both = np.array([(sign * value, mean[generator]) for generator, value in by_generator.items()]).T
            rho = correlation(both[0], both[1], kind="spearman")
            cells.append(f"{rho.value:.2f} [{rho.low:.2f}, {rho.high:.2f}]".replace("-", "−").replace("0.", "."))
        print(f"| `{name}` | {' | '.join(cells)} |")


def _means(store: Store, images: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Aspect -> generator -> mean opinion score."""
    labels = store.read("labels").filter(pl.col("method").is_in(["mean", "published-mean"]))
    grouped = (
        labels.join(images.select("image", "generator"), on="image")
        .group_by("aspect", "generator", maintain_order=True)
        .agg(pl.col("value").mean())
    )
    means: dict[str, dict[str, float]] = {}
    for aspect, generator, value in grouped.iter_rows():
        means.setdefault(aspect, {})[generator] = value
    return dict(sorted(means.items()))


if __name__ == "__main__":
    main()
