"""What a model card says of unseen prompts, generators and data sets: from sibling models, or by which command."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from beholder.errors import SplitError
from beholder.learn.figures.figure import Figure
from beholder.learn.job import as_json
from beholder.learn.recipe import Recipe, load_recipe
from beholder.learn.splits import Item, split
from beholder.learn.trained_models import FIGURES
from beholder.learn.transfer import lacking_rows, sibling_recipes, transfer_rows
from beholder.tables.provenance import Provenance

FIGURE = Figure("quality", "spearman", 0.8, 0.7, 0.9, floor=0.6, items=50)
UNSEEN = Figure("quality", "spearman", 0.5, 0.4, 0.6, floor=0.6, items=50)


def write_sibling(models: Path, name: str, recipe: Recipe, figure: Figure) -> None:
    (models / name).mkdir(parents=True)
    settings = {"model": name, "recipe": json.loads(recipe.model_dump_json())}
    content = {"provenance": asdict(Provenance("train", settings, 0, {})), "figures": [as_json(figure)]}
    (models / name / FIGURES).write_text(json.dumps(content))


def test_a_sibling_that_was_split_by_generator_gives_a_row(tmp_path: Path) -> None:
    recipe = load_recipe("metric-transformer")
    write_sibling(tmp_path, "theirs", load_recipe("metric-transformer", ["split.by=generator"]), UNSEEN)
    write_sibling(
        tmp_path, "wider", load_recipe("metric-transformer", ["split.by=both", "model.width=256"]), UNSEEN
    )
    rows = transfer_rows(tmp_path, "mine", recipe, [Figure("quality", "rmse", 1.0), FIGURE])
    assert [(row.held_out.split(",")[0], row.value, row.floor) for row in rows] == [
        ("unseen prompts", 0.8, 0.6),
        ("unseen generators", 0.5, 0.6),
    ]
    lacking = lacking_rows(rows, recipe)
    assert len(lacking) == 2
    assert (
        "unseen prompts and generators: `beholder learn FOLDER --recipe metric-transformer --transfer`"
        in lacking[0]
    )
    assert "other data sets" in lacking[1]


@pytest.mark.parametrize("content", ["", "{}"])
def test_models_whose_training_has_not_ended_give_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / FIGURES).write_text(content)
    rows = transfer_rows(tmp_path, "mine", load_recipe("metric-transformer"), [FIGURE])
    assert [row.held_out for row in rows] == ["unseen prompts, generators of the training"]


def items(generators: int, prompts: int = 12) -> list[Item]:
    return [
        Item(f"{generator}-{prompt}", f"prompt {prompt}", f"generator {generator}", f"{generator}-{prompt}")
        for generator in range(generators)
        for prompt in range(prompts)
    ]


def test_siblings_leave_out_one_generator_at_a_time() -> None:
    recipe = load_recipe("metric-transformer", ["split.validation=0.3"])
    siblings = sibling_recipes(recipe, "mine", items(4))
    assert {name: (each.split.by, each.split.folds) for name, each in siblings.items()} == {
        "mine-generator": ("generator", 4),
        "mine-both": ("both", 4),
    }
    tested = [set(each.of("test")) for each in split(items(4), siblings["mine-generator"].split)]
    assert sorted(sorted({name.split("-")[0] for name in part}) for part in tested) == [["0"], ["1"], ["2"], ["3"]]
    by_generator = recipe.model_copy(update={"split": siblings["mine-generator"].split})
    assert set(sibling_recipes(by_generator, "mine", items(4))) == {"mine-prompt", "mine-both"}


def test_pairs_keep_the_folds_of_the_recipe() -> None:
    siblings = sibling_recipes(load_recipe("tiny-two-tower", ["split.validation=0.3"]), "mine", items(8))
    assert {each.split.folds for each in siblings.values()} == {1}


def test_too_few_generators_are_an_error_before_training() -> None:
    with pytest.raises(SplitError, match="2 generators"):
        sibling_recipes(load_recipe("metric-transformer"), "mine", items(2))
