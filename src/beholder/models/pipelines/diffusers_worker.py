"""A worker that generates by a pipeline of diffusers.

``python -m beholder.models.pipelines.diffusers_worker MODEL`` loads a folder or a name on the hub.
"""

import argparse
import io
import sys
from typing import Any

import diffusers
import torch

from beholder.errors import RefusalError
from beholder.models.pipelines.loading import PIPELINES, LoadedPipeline, load_pipeline
from beholder.workers.messages import ImageReply, ImageRequest
from beholder.workers.serve import main
from beholder.workers.service import Service

NO_NEGATIVE = ("FluxPipeline",)
"""Pipelines that know no negative prompt (with their usual guidance)."""


def load(arguments: argparse.Namespace) -> Service:
    """Load the pipeline and say all that changes its images."""
    loaded = load_pipeline(
        arguments.model,
        pipeline=arguments.pipeline,
        lora=arguments.lora,
        lora_scale=arguments.lora_scale,
        dtype=arguments.dtype,
        device=arguments.device,
    )
    options = {"num_inference_steps": arguments.steps, "guidance_scale": arguments.guidance}
    if arguments.negative_prompt and type(loaded.pipeline).__name__ not in NO_NEGATIVE:
        options["negative_prompt"] = arguments.negative_prompt
    settings = {
        **options,
        "pipeline": type(loaded.pipeline).__name__,
        "scheduler": type(loaded.pipeline.scheduler).__name__,
        "lora_scale": arguments.lora_scale if arguments.lora else None,
        "dtype": arguments.dtype,
        "device": torch.device(loaded.device).type,
        "diffusers": diffusers.__version__,
        "torch": torch.__version__,
    }
    return Service(
        name=loaded.name,
        weights=loaded.weights,
        settings=settings,
        generate=lambda request: generate(request, loaded, options),
    )


def generate(request: ImageRequest, loaded: LoadedPipeline, options: dict[str, Any]) -> ImageReply:
    """Generate one image; what a safety checker blackens is a refusal.

    The noise comes from a generator on the CPU, so that a seed gives the same noise on every device.
    """
    size = {"width": request.width, "height": request.height}
    seeded = torch.Generator("cpu").manual_seed(request.seed or 0)
    with torch.inference_mode():
        output = loaded.pipeline(
            prompt=request.prompt,
            generator=seeded,
            **options,
            **{name: pixels for name, pixels in size.items() if pixels},
        )
    if any(getattr(output, "nsfw_content_detected", None) or []):
        raise RefusalError("the pipeline's safety checker flagged the image")
    file = io.BytesIO()
    output.images[0].save(file, "PNG")
    return ImageReply(file.getvalue())


def parser() -> argparse.ArgumentParser:
    """The arguments of the worker."""
    arguments = argparse.ArgumentParser(description="Generates by a pipeline of diffusers, by frames on stdin.")
    arguments.add_argument("model", help="folder of a pipeline, or its name on the hub")
    arguments.add_argument("--pipeline", choices=PIPELINES, help="by default what model_index.json says")
    arguments.add_argument("--steps", type=int, default=30)
    arguments.add_argument("--guidance", type=float, default=7.5)
    arguments.add_argument("--negative-prompt", default="")
    arguments.add_argument("--lora", help="folder or file of a LoRA")
    arguments.add_argument("--lora-scale", type=float, default=1.0)
    arguments.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), default="float32")
    arguments.add_argument("--device", help="such as cuda:0; by default a GPU where there is one")
    return arguments


if __name__ == "__main__":
    sys.exit(main(parser(), load))
