"""An inpainter as a worker: ``python -m beholder.improve.tuning.inpainting_worker pixel-flow:FOLDER``."""

import argparse
import sys

import torch

from beholder.improve.tuning.generators import load_flow_inpainter
from beholder.models.pipelines.worker_inpainter import serve_inpainter
from beholder.workers.serve import main
from beholder.workers.service import Service


def load(arguments: argparse.Namespace) -> Service:
    """Load the inpainter."""
    inpainter = load_flow_inpainter(arguments.inpainter)
    return Service(
        name=inpainter.identity, settings={"torch": torch.__version__}, inpaint=serve_inpainter(inpainter)
    )


def parser() -> argparse.ArgumentParser:
    """The arguments of the worker."""
    arguments = argparse.ArgumentParser(description="Paints masked parts of images again.")
    arguments.add_argument("inpainter", help="pixel-flow:FOLDER or diffusers:MODEL")
    return arguments


if __name__ == "__main__":
    sys.exit(main(parser(), load))
