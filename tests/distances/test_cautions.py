"""Warnings before distances of few, or unequal numbers of, images are compared."""

from beholder.distances.cautions import cautions


def test_fewer_images_than_dims() -> None:
    (sentence,) = cautions(["frechet", "kernel"], 1280, 5000, {"a": 200, "b": 200})
    assert sentence.startswith("frechet: fewer images than the 1,280 dims of the encoder (a 200, b 200)")
    assert cautions(["kernel"], 1280, 5000, {"a": 200, "b": 200}) == []
    assert cautions(["frechet"], 1280, 1281, {"a": 1281}) == []


def test_unequal_numbers() -> None:
    (sentence,) = cautions(["kernel"], 8, 100, {"a": 100, "b": 300})
    assert "between 100 and 300 images" in sentence
    assert cautions(["kernel"], 8, 100, {"a": 100, "b": 105}) == []
