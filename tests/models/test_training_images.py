"""Training images by the beginnings of their hashes."""

import hashlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from beholder.models.training_images import PREFIX, TrainingImages


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@given(inside=st.sets(st.text(), max_size=20), outside=st.sets(st.text(), max_size=20))
def test_exactly_these_are_recognised(inside: set[str], outside: set[str]) -> None:
    images = TrainingImages.of_hashes("some", [sha256(text) for text in inside])
    assert all(sha256(text) in images for text in inside)
    assert not any(sha256(text) in images for text in outside - inside)


def test_a_file_keeps_them(tmp_path: Path) -> None:
    images = TrainingImages.of_hashes("some", [sha256(text) for text in "abc"])
    (tmp_path / "images").write_bytes(images.content)
    assert (tmp_path / "images").stat().st_size == 3 * PREFIX
    assert TrainingImages.read("some", tmp_path / "images") == images
