"""Pipelines of diffusers as generators, with tiny random weights: SD, SDXL, SD3, Flux, LoRA, and what is refused.

The module under test needs diffusers, whose import takes long: all of it is in this one file, in one process.
"""

import importlib.util
import io
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

from beholder.errors import RefusalError, WeightsError
from beholder.workers.frames import Frame
from beholder.workers.messages import ImageRequest
from beholder.workers.service import Service, reply_to

REQUEST = ImageRequest(prompt="a cat", seed=1, width=32, height=32)


@pytest.fixture(scope="module")
def tiny() -> ModuleType:
    """The module beside this one, imported when the first test needs it."""
    pytest.importorskip("torch")
    pytest.importorskip("peft")
    pytest.importorskip("diffusers")
    spec = importlib.util.spec_from_file_location("tiny", Path(__file__).with_name("tiny.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sd(tiny: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("pipelines") / "tiny-sd"
    tiny.save("sd", folder)
    return folder


def load(*arguments: str) -> Service:
    from beholder.models.pipelines import diffusers_worker  # noqa: PLC0415 - imports diffusers

    return diffusers_worker.load(diffusers_worker.parser().parse_args([*arguments, "--steps=2", "--device=cpu"]))


def paint(service: Service, request: ImageRequest = REQUEST) -> bytes:
    assert service.generate is not None
    return service.generate(request).content


@pytest.mark.parametrize("kind", ["sd", "sdxl", "sd3", "flux"])
def test_every_pipeline_generates(tiny: ModuleType, tmp_path: Path, kind: str) -> None:
    tiny.save(kind, tmp_path / "tiny")
    service = load(str(tmp_path / "tiny"), "--negative-prompt=ugly")
    first = paint(service)
    assert Image.open(io.BytesIO(first)).size == (32, 32)
    assert paint(service) == first
    assert paint(service, REQUEST.model_copy(update={"seed": 2})) != first
    assert paint(service, REQUEST.model_copy(update={"width": 64}))
    assert service.settings is not None
    assert (
        service.settings["pipeline"]
        == {
            "sd": "StableDiffusionPipeline",
            "sdxl": "StableDiffusionXLPipeline",
            "sd3": "StableDiffusion3Pipeline",
            "flux": "FluxPipeline",
        }[kind]
    )
    assert ("negative_prompt" in service.settings) == (kind != "flux")


def test_a_lora_changes_image_and_hash_by_its_strength(sd: Path, tmp_path: Path) -> None:
    import torch  # noqa: PLC0415 - an extra
    from diffusers import StableDiffusionPipeline  # noqa: PLC0415 - takes long
    from peft import LoraConfig  # noqa: PLC0415 - an extra
    from peft.utils import get_peft_model_state_dict  # noqa: PLC0415 - an extra

    pipeline: Any = StableDiffusionPipeline.from_pretrained(sd, local_files_only=True)
    pipeline.unet.add_adapter(LoraConfig(r=2, target_modules=["to_q", "to_v"], init_lora_weights=False))
    layers = get_peft_model_state_dict(pipeline.unet)
    torch.manual_seed(1)
    random_layers = {name: torch.randn_like(layer) for name, layer in layers.items()}
    StableDiffusionPipeline.save_lora_weights(tmp_path, unet_lora_layers=random_layers)
    (file,) = tmp_path.glob("*.safetensors")
    lora = f"--lora={file}"
    plain, off, on = load(str(sd)), load(str(sd), lora, "--lora-scale=0"), load(str(sd), lora)
    assert paint(off) == paint(plain)
    assert paint(on) != paint(plain)
    assert len({plain.weights, off.weights, on.weights}) == 3
    with pytest.raises(WeightsError, match="no such file or folder; a LoRA"):
        load(str(sd), "--lora=nowhere.safetensors")


def test_the_hash_covers_every_file(sd: Path, tmp_path: Path) -> None:
    import shutil  # noqa: PLC0415 - used here alone

    from beholder.models.pipelines.loading import hash_folder  # noqa: PLC0415 - imports diffusers

    copy = tmp_path / "copy"
    shutil.copytree(sd, copy)
    assert hash_folder(copy) == hash_folder(sd)
    weights = copy / "unet" / "diffusion_pytorch_model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(bytes(content))
    assert hash_folder(copy) != hash_folder(sd)


def test_what_a_safety_checker_blackens_is_a_refusal(sd: Path) -> None:
    from beholder.models.pipelines.diffusers_worker import generate  # noqa: PLC0415 - imports diffusers
    from beholder.models.pipelines.loading import LoadedPipeline  # noqa: PLC0415 - imports diffusers

    class Blackened:
        """What a pipeline with a safety checker returns."""

        def __init__(self, **_: object) -> None:
            self.images = [Image.fromarray(np.zeros((32, 32, 3), np.uint8))]
            self.nsfw_content_detected = [True]

    with pytest.raises(RefusalError, match="safety checker"):
        generate(REQUEST, LoadedPipeline(Blackened, "sd", "aa", "cpu"), {})
    assert sd.is_dir()


def test_an_impossible_size_is_a_reply_with_the_reason(sd: Path) -> None:
    header = {"id": 3, "task": "generate", **REQUEST.model_copy(update={"width": 33}).model_dump()}
    reply = reply_to(Frame(header), load(str(sd)))
    assert reply.header["id"] == 3
    assert "divisible by" in reply.header["error"]


def test_folders_that_are_no_pipeline(sd: Path, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="a pipeline saved by diffusers is expected"):
        load(str(tmp_path))
    (tmp_path / "model_index.json").write_text(json.dumps({"_class_name": "AudioLDMPipeline"}))
    with pytest.raises(WeightsError, match="a AudioLDMPipeline; known: StableDiffusionPipeline"):
        load(str(tmp_path))
    (tmp_path / "model_index.json").write_text((sd / "model_index.json").read_text())
    with pytest.raises(WeightsError, match="the pipeline cannot be loaded"):
        load(str(tmp_path))
    with pytest.raises(WeightsError, match="could not be fetched from the hub"):
        load("nobody/nothing")


def generator_of(folder: Path, guidance: float = 1.0) -> Any:  # noqa: ANN401 - an extra
    from beholder.models.pipelines.diffusers_generator import PipelineGenerator  # noqa: PLC0415 - imports diffusers
    from beholder.models.pipelines.loading import load_pipeline  # noqa: PLC0415 - imports diffusers

    return PipelineGenerator(load_pipeline(str(folder), device="cpu"), steps=2, guidance=guidance)


@pytest.mark.parametrize("kind", ["sd", "sdxl", "sd3", "flux"])
def test_every_pipeline_is_guided_tuned_and_inpaints(tiny: ModuleType, tmp_path: Path, kind: str) -> None:
    import torch  # noqa: PLC0415 - an extra

    from beholder.improve.tuning.adapters import base_weights, load_lora, save_lora  # noqa: PLC0415 - an extra
    from beholder.improve.tuning.guide import GuideSettings, guided_sample  # noqa: PLC0415 - an extra
    from beholder.improve.tuning.losses import Prompts  # noqa: PLC0415 - an extra
    from beholder.improve.tuning.reward import Reward  # noqa: PLC0415 - an extra
    from beholder.improve.tuning.settings import TuneSettings  # noqa: PLC0415 - an extra
    from beholder.improve.tuning.tune import Material, tune  # noqa: PLC0415 - an extra
    from beholder.models.pipelines.flow_inpainter import FlowInpainter  # noqa: PLC0415 - an extra
    from beholder.models.pipelines.inpainter import inpaint_within  # noqa: PLC0415 - an extra
    from beholder.models.pipelines.sampling import sample  # noqa: PLC0415 - an extra

    def darkness(images: Any, _: object) -> Any:  # noqa: ANN401 - an extra
        return -images.mean((1, 2, 3))

    tiny.save(kind, tmp_path / "tiny")
    generator, prompts, seeds = generator_of(tmp_path / "tiny"), ["a cat", "a dog"], [1, 2]
    dark = Reward("darkness", "darkness", lambda images, texts: darkness(images, texts).numpy(), darkness)
    before = sample(generator, prompts, seeds)
    assert before.images.shape[:2] == (2, 3)
    guided = guided_sample(generator, dark, prompts, seeds, GuideSettings(strength=0.3, from_time=1.0))
    assert (darkness(guided.images, prompts) > darkness(before.images, prompts)).all()

    settings = TuneSettings(steps=2, batch=2, rate=0.02, rank=2, anchor=0.0, check_every=2)
    material = Material(Prompts(("a cat", "a dog"), (1, 2)), dark)
    tune(generator, material, settings, tmp_path / "run")
    after = sample(generator, prompts, seeds).images
    assert (darkness(after, prompts) > darkness(before.images, prompts)).all()
    with base_weights(generator):
        assert torch.equal(sample(generator, prompts, seeds).images, before.images)
    save_lora(tmp_path / "lora", generator, settings.rank, {})
    again = generator_of(tmp_path / "tiny")
    load_lora(tmp_path / "lora", again)
    assert torch.equal(sample(again, prompts, seeds).images, after)

    image = np.random.default_rng(0).integers(0, 256, (32, 32, 3)).astype(np.uint8)
    mask = np.zeros((32, 32), np.bool_)
    mask[8:20, 8:20] = True
    (painted,) = inpaint_within(FlowInpainter(generator), [image], [mask], ["a cat"], [3])
    assert (painted[~mask] == image[~mask]).all()
    assert (painted[mask] != image[mask]).any()


def test_steps_of_the_flow_are_those_of_ddim(sd: Path) -> None:
    import torch  # noqa: PLC0415 - an extra
    from diffusers import DDIMScheduler  # noqa: PLC0415 - takes long

    from beholder.models.pipelines.diffusers_generator import PipelineGenerator  # noqa: PLC0415 - imports diffusers
    from beholder.models.pipelines.loading import load_pipeline  # noqa: PLC0415 - imports diffusers
    from beholder.models.pipelines.sampling import sample  # noqa: PLC0415 - an extra

    loaded = load_pipeline(str(sd), device="cpu")
    loaded.pipeline.scheduler = DDIMScheduler.from_config(
        loaded.pipeline.scheduler.config, set_alpha_to_one=True, timestep_spacing="trailing"
    )
    generator = PipelineGenerator(loaded, steps=4, guidance=3.0)
    noise = generator.noise(["a cat"], [5])
    ours = sample(generator, ["a cat"], [5]).images
    start = torch.randn((1, *noise.shape[1:]), generator=torch.Generator("cpu").manual_seed(5))
    with torch.no_grad():
        theirs = loaded.pipeline(
            "a cat", latents=start, num_inference_steps=4, guidance_scale=3.0, output_type="pt"
        ).images
    assert float((ours - theirs).abs().max()) < 1e-4


def test_an_inpainting_pipeline_changes_nothing_outside_the_mask(tiny: ModuleType, tmp_path: Path) -> None:
    from beholder.models.pipelines.diffusers_inpainter import PipelineInpainter  # noqa: PLC0415 - imports diffusers
    from beholder.models.pipelines.inpainter import inpaint_within  # noqa: PLC0415 - an extra
    from beholder.models.pipelines.loading import load_pipeline  # noqa: PLC0415 - imports diffusers

    tiny.save("sd-inpaint", tmp_path / "tiny")
    inpainter = PipelineInpainter(load_pipeline(str(tmp_path / "tiny"), device="cpu"), steps=2)
    image = np.random.default_rng(0).integers(0, 256, (36, 32, 3)).astype(np.uint8)
    mask = np.zeros((36, 32), np.bool_)
    mask[4:12, 6:20] = True
    (plain,) = inpainter.inpaint([image], [mask], ["a cat"], [1])
    assert (plain[~mask] != image[~mask]).any()  # which is why the caller pastes back
    (painted,) = inpaint_within(inpainter, [image], [mask], ["a cat"], [1])
    assert (painted[~mask] == image[~mask]).all()
    assert (painted[mask] != image[mask]).any()
