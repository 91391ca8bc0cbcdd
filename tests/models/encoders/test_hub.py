"""Networks of transformers: our preprocessing before their network equals theirs before theirs."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from numpy.typing import NDArray
from PIL import Image
from safetensors.torch import load_file, save_file

from beholder.errors import WeightsError
from beholder.models.encoders.catalogue import ENCODERS, load_encoder
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.hub import FAMILIES
from beholder.models.encoders.preprocessing import Preprocessing

VIT = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
DECODER = {"decoder_hidden_size": 16, "decoder_num_hidden_layers": 1, "decoder_num_attention_heads": 2}
TEXT = {"vocab_size": 20, "max_position_embeddings": 8, **VIT}
IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
HALVES = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}


def dinov2() -> transformers.PreTrainedModel:
    return transformers.Dinov2Model(transformers.Dinov2Config(image_size=28, patch_size=7, **VIT))


def clip() -> transformers.PreTrainedModel:
    vision = {"image_size": 32, "patch_size": 8, **VIT}
    config = transformers.CLIPConfig(text_config=TEXT, vision_config=vision, projection_dim=12)
    return transformers.CLIPModel(config)


def siglip() -> transformers.PreTrainedModel:
    config = transformers.SiglipConfig(text_config=TEXT, vision_config={"image_size": 32, "patch_size": 8, **VIT})
    return transformers.SiglipModel(config)


def blip() -> transformers.PreTrainedModel:
    vision = {"image_size": 32, "patch_size": 8, **VIT}
    text = {**TEXT, "encoder_hidden_size": VIT["hidden_size"]}
    config = transformers.BlipConfig(text_config=text, vision_config=vision, image_text_hidden_size=12)
    return transformers.BlipForImageTextRetrieval(config)


def convnext() -> transformers.PreTrainedModel:
    config = transformers.ConvNextConfig(
        hidden_sizes=[8, 12, 16, 20], depths=[1, 1, 1, 1], layer_scale_init_value=0.5
    )
    return transformers.ConvNextModel(config)


def mae() -> transformers.PreTrainedModel:
    config = transformers.ViTMAEConfig(image_size=32, patch_size=8, **VIT, **DECODER)
    return transformers.ViTMAEForPreTraining(config)


MADE = {
    "dinov2": (
        dinov2,
        transformers.BitImageProcessorPil(
            size={"shortest_edge": 36}, crop_size={"height": 28, "width": 28}, resample=3, **IMAGENET
        ),
    ),
    "clip": (
        clip,
        transformers.CLIPImageProcessorPil(
            size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}, resample=3
        ),
    ),
    "siglip": (
        siglip,
        transformers.SiglipImageProcessorPil(size={"height": 32, "width": 32}, resample=3, **HALVES),
    ),
    "blip": (
        blip,
        transformers.BlipImageProcessorPil(size={"height": 32, "width": 32}, resample=3),
    ),
    "convnext": (
        convnext,
        transformers.ConvNextImageProcessorPil(size={"shortest_edge": 40}, crop_pct=0.875, resample=2, **IMAGENET),
    ),
    "mae": (mae, transformers.ViTImageProcessorPil(size={"height": 32, "width": 32}, resample=2, **IMAGENET)),
}
"""Family -> a small network and its processor."""


@pytest.fixture(scope="module", params=list(MADE))
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A family, and a folder with a small random network of it."""
    name = str(request.param)
    folder = tmp_path_factory.mktemp(name)
    make, processor = MADE[name]
    torch.manual_seed(1)
    model = make()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(
                torch.randn_like(parameter) * 0.2
            )  # away from the zeros and ones that some layers begin with
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return name, folder


@pytest.fixture(scope="module")
def images() -> list[NDArray[np.uint8]]:
    rng = np.random.default_rng(5)
    return [rng.integers(0, 256, (*shape, 3), dtype=np.uint8) for shape in ((64, 64), (50, 71), (30, 100))]


def reference(name: str, folder: Path, images: list[NDArray[np.uint8]]) -> NDArray[np.float32]:
    """The features as a user of transformers would get them."""
    processor = MADE[name][1]
    pixel_values = processor([Image.fromarray(image) for image in images], return_tensors="pt")["pixel_values"]
    with torch.inference_mode():
        if name in ("clip", "siglip"):
            network = transformers.AutoModel.from_pretrained(folder).eval()
            output = network.get_image_features(pixel_values=pixel_values)
            output = output if isinstance(output, torch.Tensor) else output.pooler_output
        elif name == "blip":
            retrieval = transformers.BlipForImageTextRetrieval.from_pretrained(folder).eval()
            output = retrieval.vision_proj(retrieval.vision_model(pixel_values).last_hidden_state[:, 0])
        elif name == "mae":
            model = transformers.AutoModel.from_pretrained(folder, mask_ratio=0.0).eval()
            output = model(pixel_values=pixel_values).last_hidden_state[:, 0]
        else:
            model = transformers.AutoModel.from_pretrained(folder).eval()
            output = model(pixel_values=pixel_values).pooler_output
    vectors: NDArray[np.float32] = output.numpy()
    return vectors


def test_features_equal_those_of_transformers(saved: tuple[str, Path], images: list[NDArray[np.uint8]]) -> None:
    name, folder = saved
    encoder = load_encoder(name, folder)
    features = encoder.encode(images)
    expected = reference(name, folder, images)
    assert features.shape == expected.shape == (3, encoder.dims)
    np.testing.assert_allclose(features, expected, rtol=0, atol=1e-5)
    assert np.ptp(features, axis=0).max() > 0.01  # and do not ignore the image


def test_an_image_counts_the_same_in_any_company(saved: tuple[str, Path], images: list[NDArray[np.uint8]]) -> None:
    name, folder = saved
    encoder = load_encoder(name, folder)
    alone = np.concatenate([encoder.encode([image]) for image in images])
    np.testing.assert_allclose(encoder.encode(images), alone, rtol=0, atol=1e-5)


def test_weights_name_the_encoder(saved: tuple[str, Path], tmp_path: Path) -> None:
    name, folder = saved
    before = load_encoder(name, folder)
    assert before.weights == load_encoder(name, folder).weights
    other = shutil.copytree(folder, tmp_path / "other")
    state = load_file(other / "model.safetensors")
    first = next(key for key in state if key.endswith("weight"))
    save_file(state | {first: state[first] + 1e-3}, other / "model.safetensors", {"format": "pt"})
    assert before.weights != load_encoder(name, other).weights


def test_without_its_preprocessing_a_network_gets_images_of_its_size(
    saved: tuple[str, Path], images: list[NDArray[np.uint8]], tmp_path: Path
) -> None:
    name, folder = saved
    bare = shutil.copytree(folder, tmp_path / "bare", ignore=shutil.ignore_patterns("preprocessor_config.json"))
    encoder = load_encoder(name, bare)
    assert encoder.preprocessing.side == (32 if FAMILIES[name].one_size else 224)
    assert encoder.encode(images[:1]).shape == (1, encoder.dims)


def test_every_network_of_the_hub_is_tried() -> None:
    assert {recipe.variant for recipe in ENCODERS.values() if recipe.module == "hub"} == set(MADE) == set(FAMILIES)


@pytest.fixture(scope="module")
def small_dinov2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small-dinov2")
    dinov2().save_pretrained(folder)
    return folder


class TestPreprocessingRead:
    def read(self, folder: Path, config: dict[str, object], into: Path) -> Encoder:
        copied = shutil.copytree(folder, into, dirs_exist_ok=True)
        (copied / "preprocessor_config.json").write_text(json.dumps(config))
        return load_encoder("dinov2", copied)

    def test_a_folder_without_one_gets_that_of_the_family(self, small_dinov2: Path) -> None:
        assert load_encoder("dinov2", small_dinov2).preprocessing == FAMILIES["dinov2"].preprocessing

    def test_old_files_give_plain_numbers(self, small_dinov2: Path, tmp_path: Path) -> None:
        config: dict[str, object] = {"size": 30, "crop_size": 28, "do_center_crop": True, "resample": 2}
        preprocessing = self.read(small_dinov2, config, tmp_path).preprocessing
        assert (preprocessing.size, preprocessing.crop, preprocessing.method) == (30, 28, "bilinear")

    def test_steps_that_are_off(self, small_dinov2: Path, tmp_path: Path) -> None:
        config: dict[str, object] = {
            "size": {"height": 28, "width": 28},
            "do_center_crop": False,
            "do_rescale": False,
            "do_normalize": False,
        }
        preprocessing = self.read(small_dinov2, config, tmp_path).preprocessing
        assert preprocessing == Preprocessing("exact", 28, "bicubic", scale=1.0)

    @pytest.mark.parametrize(
        ("config", "message"),
        [
            ({"resample": 0}, "resample is 0; known: .*bicubic"),
            ({"size": {"height": 20, "width": 30}}, "20 × 30"),
            ({"size": {"shortest_edge": 20}, "crop_size": 28}, "a crop of 28 from images of 20"),
            ({"image_mean": [0.5]}, "cannot be understood"),
            ({"do_resize": False}, "do_resize is off"),
            ({"size": {"shortest_edge": 28}, "do_center_crop": False}, "cuts out no square"),
        ],
    )
    def test_what_is_not_known_is_refused(
        self, small_dinov2: Path, tmp_path: Path, config: dict[str, object], message: str
    ) -> None:
        with pytest.raises(WeightsError, match=message):
            self.read(small_dinov2, config, tmp_path)


class TestRefused:
    def test_without_a_network_the_error_says_to_give_a_folder(self) -> None:
        with pytest.raises(WeightsError, match="give the folder as its weights"):
            load_encoder("dinov2")

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(WeightsError, match="is not a folder"):
            load_encoder("clip", tmp_path / "nowhere")

    def test_an_empty_folder(self, tmp_path: Path) -> None:
        with pytest.raises(WeightsError, match=r"holds no config\.json"):
            load_encoder("clip", tmp_path)

    def test_a_folder_without_weights(self, small_dinov2: Path, tmp_path: Path) -> None:
        shutil.copy(small_dinov2 / "config.json", tmp_path)
        with pytest.raises(WeightsError, match="cannot be loaded"):
            load_encoder("dinov2", tmp_path)

    def test_a_network_of_another_family(self, small_dinov2: Path) -> None:
        with pytest.raises(WeightsError, match="of type dinov2; expected: vit_mae"):
            load_encoder("mae", small_dinov2)

    def test_weights_that_do_not_fill_the_network(self, small_dinov2: Path, tmp_path: Path) -> None:
        folder = shutil.copytree(small_dinov2, tmp_path / "lacking")
        state = load_file(folder / "model.safetensors")
        save_file({key: tensor for key, tensor in state.items() if ".1." not in key}, folder / "model.safetensors")
        with pytest.raises(WeightsError, match=r"lacks \d+ tensors of the network"):
            load_encoder("dinov2", folder)
