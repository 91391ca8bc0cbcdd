"""Run by ``test_encode.py``, to be killed: encode an array of images, writing down each one that is encoded."""

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beholder.images.sources import find_images
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import encode


def main() -> None:
    images, features, log = (Path(argument) for argument in sys.argv[1:])
    pixel = load_encoder("pixel")

    def network(prepared: NDArray[np.float32]) -> NDArray[np.float32]:
        with log.open("a") as file:
            file.writelines(f"{image.sum():.9g}\n" for image in prepared)
        time.sleep(0.03)
        return pixel.network(prepared)

    encode(find_images(images), replace(pixel, network=network), folder=features)


if __name__ == "__main__":
    main()
