"""Three adversarial rounds against a small network that sees single flaws, retrained from its parent each time.

    python benchmarks/rounds_network.py [--seed 108] [--cache FOLDER]

The world, the attackers, the verifiers and the control are those of ``rounds_scorer.py``. The scorer is a network
on the frozen grid of features of EfficientNet-lite0 (12 × 12 cells). It is trained on mean ratings of plausibility
and on the cells that raters marked as implausible, of which they miss one in five: as ``tiny-rich-cnn``, it learns
where flaws are, and a head turns that into a score. A model of a round starts from its parent. It is trained on
static images again, on verified pairs as differences of at least MARGIN, and towards the scores that the first
model has on static images, which keeps what attacks do not contradict. Settings were chosen on seeds 1 and 2.
"""

import argparse
import copy
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import rounds_scorer as world
import torch
from numpy.typing import NDArray
from rounds_scorer import Images, Pairs, Round, joined, pairs_of
from torch import nn
from torch.nn import functional

from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encoder import Encoder
from beholder.simulate.grammar import draw_requests
from beholder.simulate.painter import paint
from beholder.simulate.policies import GENERATORS

CELLS, CHANNELS, AXES, WIDTH = 12, 296, 64, 48
"""Of the grid: cells along a side, features of a cell, principal axes of these that are used; channels of ours."""

EPOCHS, RATE = 30, 2e-3
"""Of the first model."""

AGAIN, AGAIN_RATE = 16, 5e-4
"""Epochs and learning rate of a model that starts from its parent."""

WEIGHT, MARGIN, ANCHOR = 2.0, 0.15, 1.0
"""Of verified pairs: weight, and difference to be reached; weight of the first model's scores on static images."""

MARKED, MISSED = 0.3, 0.2
"""Proportion of a cell from which it counts as implausible, and how often raters miss one."""

BATCH, PAIRS, DROPOUT, DECAY, SCALE = 32, 16, 0.2, 0.01, 10.0

Floats = NDArray[np.float64]


class Network(nn.Module):
    """From cells (n, AXES, 12, 12) to scores (n,) and logits that a cell is implausible (n, 12, 12)."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.Conv2d(AXES, WIDTH, 3, padding=1)
        self.flaw = nn.Conv2d(WIDTH, 1, 1)
        self.flaw.bias = nn.Parameter(torch.full((1,), -3.0))
        self.dropout = nn.Dropout(DROPOUT)
        self.head = nn.Sequential(nn.Linear(3 * WIDTH + 3, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, cells: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = torch.relu(self.cells(cells))
        flat, logits = hidden.flatten(2), self.flaw(hidden)[:, 0]
        chances = torch.sigmoid(logits).flatten(1)
        worst = chances.topk(12, 1).values
        found = torch.stack([chances.sum(1) / 4, worst[:, :4].mean(1), worst.mean(1)], 1)
        pooled = torch.cat([flat.mean(2), flat.amax(2), flat.std(2)], 1)
        return self.head(torch.cat([self.dropout(pooled), found], 1))[:, 0] + 0.7, logits


@dataclass(frozen=True, eq=False)
class Static:
    """What a model is trained on besides attacks."""

    cells: torch.Tensor  # (images, AXES, 12, 12)
    ratings: torch.Tensor  # (images,)
    marks: torch.Tensor  # (images, 12, 12), 1 where raters marked a cell


@dataclass(frozen=True, eq=False)
class Scored:
    """A model by its scores of all attackers' images, and of the static test set after them."""

    values: Floats

    def scores(self, numbers: NDArray[np.float32]) -> Floats:
        """Images are named by their numbers, which stand where other scorers have vectors."""
        return self.values[numbers[:, 0].astype(np.int64)]


def train(
    network: Network, static: Static, pairs: tuple[torch.Tensor, torch.Tensor] | None, anchor: torch.Tensor | None
) -> Network:
    """Train in place, on static images and on pairs (better, worse), and return the network."""
    epochs, rate = (EPOCHS, RATE) if pairs is None else (AGAIN, AGAIN_RATE)
    order = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=DECAY)
    steps = epochs * (len(static.ratings) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    network.train()
    for _ in range(epochs):
        shuffled = torch.randperm(len(static.ratings), generator=order)
        for rows in shuffled[: steps // epochs * BATCH].view(-1, BATCH):
            scores, logits = network(static.cells[rows])
            loss = SCALE * functional.mse_loss(scores, static.ratings[rows])
            loss = loss + functional.binary_cross_entropy_with_logits(
                logits, static.marks[rows], pos_weight=torch.tensor(2.0)
            )
            if anchor is not None:
                loss = loss + ANCHOR * SCALE * functional.mse_loss(scores, anchor[rows])
            if pairs is not None:
                drawn = torch.randint(0, len(pairs[0]), (PAIRS,), generator=order)
                lead = network(pairs[0][drawn])[0] - network(pairs[1][drawn])[0]
                loss = loss + WEIGHT * SCALE * torch.relu(MARGIN - lead).square().mean()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
    return network.eval()


def scored(network: Network, cells: torch.Tensor) -> Scored:
    with torch.no_grad():
        parts = [network(cells[start : start + 256])[0] for start in range(0, len(cells), 256)]
        return Scored(torch.cat(parts).double().numpy())


def axes_of(vectors: NDArray[np.float32]) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and scaled principal axes of the cells of static images."""
    cells = (
        torch.from_numpy(vectors[::2]).float().view(-1, CHANNELS, CELLS**2).transpose(1, 2).reshape(-1, CHANNELS)
    )
    mean = cells.mean(0)
    values, vectors_of = torch.linalg.eigh((cells - mean).T @ (cells - mean) / len(cells))
    return mean, vectors_of[:, -AXES:] / values[-AXES:].sqrt()


def projected(vectors: NDArray[np.float32], mean: torch.Tensor, axes: torch.Tensor) -> torch.Tensor:
    cells = torch.from_numpy(vectors).float().view(-1, CHANNELS, CELLS, CELLS) - mean[None, :, None, None]
    return torch.einsum("nchw,cd->ndhw", cells, axes)


def marks_of(seed: int) -> torch.Tensor:
    """The cells of the static training images that raters marked."""
    requests = [r for r in draw_requests(world.TRAIN, np.random.default_rng([seed, 1])) for _ in GENERATORS]
    edges = np.linspace(0, world.SIZE, CELLS + 1).round().astype(int)[:-1]
    covered = []
    for number, (request, policy) in enumerate(zip(requests, GENERATORS * world.TRAIN, strict=True)):
        picture = paint(request, policy, size=world.SIZE, rng=np.random.default_rng([seed, 1, number]))
        rows = np.add.reduceat(picture.truth.implausible.astype(float), edges, axis=0)
        covered.append(np.add.reduceat(rows, edges, axis=1) / (world.SIZE / CELLS) ** 2)
    present = np.array(covered) > MARKED
    perceived = np.random.default_rng([seed, 9]).random(present.shape) >= MISSED
    return torch.from_numpy((present & perceived).astype(np.float32))


def numbered(truth: Floats, start: int) -> Images:
    """Images by their numbers."""
    return Images(np.arange(start, start + len(truth), dtype=np.float32)[:, None], truth)


def play(model: Scored, number: int, seed: int, pools: list[Pairs]) -> Round:
    """All attackers of one round, against the model of the round before."""
    return world.played(model, pools, np.random.default_rng([seed, 5, number]))


def main() -> None:
    """Play the rounds and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=108)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "beholder-rounds-grid")
    options = parser.parse_args()
    seed, cache, began = options.seed, options.cache, time.process_time()
    cache.mkdir(parents=True, exist_ok=True)
    encoder = load_encoder("efficientnet-lite0-grid")
    train_images = world.cached(cache / f"{seed}-train.npz", world.static_images, world.TRAIN, [seed, 1], encoder)
    mean, axes = axes_of(train_images.vectors)
    noise = np.random.default_rng([seed, 3]).normal(0, world.RATING_NOISE, len(train_images.truth))
    static = Static(
        projected(train_images.vectors, mean, axes),
        torch.from_numpy((train_images.truth + noise).astype(np.float32)),
        marks_of(seed),
    )
    cells, pools, test = _attacked(seed, cache, encoder, mean, axes)
    torch.manual_seed(seed)
    networks = [train(Network(), static, None, None)]
    with torch.no_grad():
        anchor = networks[0](static.cells)[0]
    models, rounds = [scored(networks[0], cells)], list[Round]()

    def retrained(parent: Network, pairs: Pairs) -> Network:
        both = [cells[torch.from_numpy(side[:, 0].astype(np.int64))] for side in (pairs.better, pairs.worse)]
        return train(copy.deepcopy(parent), static, (both[0], both[1]), anchor)

    for number in range(1, world.ROUNDS + 1):
        rounds.append(play(models[-1], number, seed, pools[number - 1]))
        attacks = joined([each.part(held_out=False) for each in rounds])
        networks.append(retrained(networks[-1], attacks))
        models.append(scored(networks[-1], cells))
    control = scored(retrained(networks[0], joined([each.random for each in rounds])), cells)
    world.report(models, control, rounds, test, np.random.default_rng([seed, 6]))
    print(f"\n{time.process_time() - began:.0f} s of CPU time; what was rendered before is not rendered again.")


def _attacked(
    seed: int, cache: Path, encoder: Encoder, mean: torch.Tensor, axes: torch.Tensor
) -> tuple[torch.Tensor, list[list[Pairs]], Pairs]:
    """Cells of all attackers' images and of the static test set, and their pairs."""
    cells, pools, count = list[torch.Tensor](), list[list[Pairs]](), 0
    for number in range(1, world.ROUNDS + 1):
        pools.append([])
        for person in range(world.PEOPLE):
            file = cache / f"{seed}-{number}-{person}.npz"
            images = world.cached(file, world.attack_images, [seed, 4, number, person], encoder)
            cells.append(projected(images.vectors, mean, axes))
            pools[-1].append(pairs_of(numbered(images.truth, count), world.IMAGES, person))
            count += len(images.truth)
    images = world.cached(cache / f"{seed}-test.npz", world.static_images, world.TEST, [seed, 2], encoder)
    cells.append(projected(images.vectors, mean, axes))
    return torch.cat(cells), pools, pairs_of(numbered(images.truth, count), len(GENERATORS), 0)


if __name__ == "__main__":
    main()
