"""The catalogue of encoders: names, and a core install without torch."""

import subprocess
import sys

import pytest

from beholder.errors import UserError, WeightsError
from beholder.models.encoders.catalogue import ENCODERS, load_encoder


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UserError, match="encoder 'dino' is not known; known: pixel, pixel-statistics, eff"):
        load_encoder("dino")


def test_pixels_have_no_weights() -> None:
    with pytest.raises(WeightsError, match="has no weights"):
        load_encoder("pixel", "some/folder")


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_torch_is_loaded_only_for_a_network() -> None:
    output = run(
        "import sys, beholder.models.encoders.encode, beholder.cli.main\n"
        "from beholder.models.encoders.catalogue import load_encoder\n"
        "load_encoder('pixel')\n"
        "print([name for name in ('torch', 'transformers', 'safetensors') if name in sys.modules])"
    )
    assert output == "[]\n"


def test_without_torch_the_error_says_what_to_install() -> None:
    networks = [name for name in ENCODERS if not name.startswith("pixel")]
    output = run(
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "from beholder.errors import UserError\n"
        "from beholder.models.encoders.catalogue import load_encoder\n"
        f"for name in {networks}:\n"
        "    try:\n        load_encoder(name)\n    except UserError as error:\n        print(error)"
    )
    advice = 'needs torch, which is not installed: pip install "beholder[models]"'
    assert output.splitlines() == [f"encoder '{name}' {advice}" for name in networks]


def test_every_recipe_says_what_it_is() -> None:
    assert all(recipe.about and recipe.module for recipe in ENCODERS.values())
