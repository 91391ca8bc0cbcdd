"""Texts in a space shared with images: as transformers' complete network has them, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from numpy.typing import NDArray
from PIL import Image
from tests.models.caption_folders import LONGEST, NETWORKS, token_ids, write_caption_folder
from torch.nn import functional

from beholder.errors import WeightsError
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.text.sentence_encoder import SentenceEncoder

TEXTS = ["a red cube", "a dog in the snow", "sofa"]


@pytest.fixture(scope="module", params=list(NETWORKS))
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A kind of network, and a folder with a small random one."""
    return request.param, write_caption_folder(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture(scope="module")
def images() -> list[NDArray[np.uint8]]:
    rng = np.random.default_rng(5)
    return [rng.integers(0, 256, (32, 32, 3), dtype=np.uint8) for _ in TEXTS]


def reference(kind: str, folder: Path, images: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosines of every image with every text by the complete network of transformers, a text at a time."""
    pixels, columns = torch.from_numpy(images), []
    network = NETWORKS[kind]().__class__.from_pretrained(folder).eval()
    for text in TEXTS:
        ids = token_ids(text)
        if kind == "siglip":
            ids += [1] * (LONGEST - len(ids))  # it was trained with all texts at the full length
        inputs = {"input_ids": torch.tensor([ids]), "pixel_values": pixels}
        with torch.inference_mode():
            if kind == "blip":
                columns.append(network(**inputs | {"use_itm_head": False}).itm_score)
                continue
            out = network(**inputs)
        columns.append(functional.normalize(out.image_embeds) @ functional.normalize(out.text_embeds).T)
    cosines: NDArray[np.float32] = torch.cat(columns, 1).numpy()
    return cosines


def test_cosines_are_those_of_the_complete_network(
    saved: tuple[str, Path], images: list[NDArray[np.uint8]]
) -> None:
    kind, folder = saved
    text, image = SentenceEncoder(folder), load_encoder(kind, folder)
    vectors = image.encode(images)
    prepared = np.stack([image.preprocessing.prepare(_as_image(pixels)) for pixels in images])
    cosines = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) @ text.encode(TEXTS).T
    np.testing.assert_allclose(cosines, reference(kind, folder, prepared), rtol=0, atol=1e-5)
    assert np.ptp(cosines, axis=1).min() > 0.001  # texts differ


def test_it_names_its_space_and_its_weights(saved: tuple[str, Path]) -> None:
    kind, folder = saved
    text = SentenceEncoder(folder)
    assert text.space == load_encoder(kind, folder).weights
    assert text.identity.startswith(f"{kind}-text@")
    assert text.dims == text.encode(["a dog"]).shape[1]


def test_long_texts_are_cut(saved: tuple[str, Path]) -> None:
    vectors = SentenceEncoder(saved[1]).encode(["a dog " * 20, "a dog " * 20 + "in the snow"])
    np.testing.assert_allclose(vectors[0], vectors[1], rtol=0, atol=1e-6)


def test_a_text_does_not_depend_on_its_company(saved: tuple[str, Path]) -> None:
    alone = SentenceEncoder(saved[1]).encode(["a dog"])
    together = SentenceEncoder(saved[1]).encode(["a dog", "a red cube on the sofa"])
    np.testing.assert_allclose(alone[0], together[0], rtol=0, atol=1e-6)


def test_siglip_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = write_caption_folder(tmp_path, "siglip")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(WeightsError, match=r"no tokenizer\.json"):
        SentenceEncoder(folder)


def test_an_image_part_alone_is_refused(tmp_path: Path) -> None:
    config = transformers.CLIPConfig.from_dict(NETWORKS["clip"]().config.to_dict())
    vision = transformers.CLIPVisionModelWithProjection(config.vision_config)
    vision.save_pretrained(tmp_path)
    config.save_pretrained(tmp_path)
    with pytest.raises(WeightsError, match=r"lacks \d+ tensors"):
        SentenceEncoder(tmp_path)


def _as_image(pixels: NDArray[np.uint8]) -> Image.Image:
    return Image.fromarray(pixels)
