"""The families of pipelines: how each encodes prompts, and how its network gives the velocity of a flow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn


@dataclass(frozen=True, eq=False)
class Prepared:
    """Encoded prompts: the states of their words, and where a family has it a summary."""

    states: torch.Tensor  # (n, tokens, width)
    pooled: torch.Tensor | None = None  # (n, width)
    places: torch.Tensor | None = None  # Flux: the places of the tokens


class Family(Protocol):
    """What differs between pipelines."""

    @property
    def size(self) -> int:
        """Pixels of a side."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the latents of an image."""
        ...

    @property
    def network(self) -> nn.Module:
        """What is tuned."""
        ...

    def encode_prompts(self, prompts: list[str]) -> Prepared:
        """Encode prompts."""
        ...

    def velocity(self, latents: torch.Tensor, times: torch.Tensor, prompts: Prepared) -> torch.Tensor:
        """The velocity ε − x₀ of latents (n, channels, height, width) at times (n,)."""
        ...

    def times(self, steps: int) -> torch.Tensor:
        """The times of sampling, from about 1 to 0."""
        ...

    def scale_noise(self, noise: torch.Tensor) -> torch.Tensor:
        """Standard normal noise as latents at the first time."""
        ...


class Diffusion:
    """Stable Diffusion 1 and 2: a U-Net that predicts noise, or v, along a schedule (α, σ) of 1,000 steps.

    In x/(α + σ) and t = σ/(α + σ) it is a flow of straight paths.
    """

    def __init__(self, pipeline: Any, size: int | None) -> None:  # noqa: ANN401 - diffusers has no types
        self._pipeline = pipeline
        self.network: nn.Module = pipeline.unet
        cells = pipeline.unet.config.sample_size if size is None else size // pipeline.vae_scale_factor
        self.size, self.shape = cells * pipeline.vae_scale_factor, (4, cells, cells)
        cumulated = pipeline.scheduler.alphas_cumprod.double()
        self._alpha, self._sigma = cumulated.sqrt(), (1 - cumulated).sqrt()
        self._grid = self._sigma / (self._alpha + self._sigma)  # grows with the step of the schedule

    def encode_prompts(self, prompts: list[str]) -> Prepared:
        """Encode prompts."""
        states, _ = self._pipeline.encode_prompt(prompts, self._pipeline.device, 1, False)
        return Prepared(states)

    def velocity(self, latents: torch.Tensor, times: torch.Tensor, prompts: Prepared) -> torch.Tensor:
        """The velocity of latents at times."""
        steps = (self._grid[None, :] - times.detach().cpu().double()[:, None]).abs().argmin(1)
        alpha, sigma = (
            table[steps].to(latents)[:, None, None, None].float() for table in (self._alpha, self._sigma)
        )
        noised = latents * (alpha + sigma)
        predicted = self._predict(noised, steps.to(latents.device), prompts)
        if self._pipeline.scheduler.config.prediction_type == "v_prediction":
            noise, clean = sigma * noised + alpha * predicted, alpha * noised - sigma * predicted
        else:
            noise, clean = predicted, (noised - sigma * predicted) / alpha
        velocity: torch.Tensor = noise - clean
        return velocity

    def _predict(self, noised: torch.Tensor, steps: torch.Tensor, prompts: Prepared) -> torch.Tensor:
        predicted: torch.Tensor = self._pipeline.unet(
            noised, steps, encoder_hidden_states=prompts.states, return_dict=False
        )[0]
        return predicted

    def times(self, steps: int) -> torch.Tensor:
        """The times of sampling."""
        self._pipeline.scheduler.set_timesteps(steps)
        chosen = self._pipeline.scheduler.timesteps.long().clamp(0, len(self._grid) - 1)
        return torch.cat([self._grid[chosen.cpu()].float(), torch.zeros(1)])

    def scale_noise(self, noise: torch.Tensor) -> torch.Tensor:
        """Noise as latents at the first time."""
        return noise / float(self._alpha[-1] + self._sigma[-1])


class DiffusionXL(Diffusion):
    """SDXL: two text encoders, a summary of the prompt, and the size of the image."""

    def encode_prompts(self, prompts: list[str]) -> Prepared:
        """Encode prompts."""
        states, _, pooled, _ = self._pipeline.encode_prompt(
            prompts, device=self._pipeline.device, do_classifier_free_guidance=False
        )
        return Prepared(states, pooled)

    def _predict(self, noised: torch.Tensor, steps: torch.Tensor, prompts: Prepared) -> torch.Tensor:
        sizes = torch.tensor([self.size, self.size, 0, 0, self.size, self.size], device=noised.device)
        conditions = {"text_embeds": prompts.pooled, "time_ids": sizes.to(noised.dtype).expand(len(noised), 6)}
        predicted: torch.Tensor = self._pipeline.unet(
            noised,
            steps,
            encoder_hidden_states=prompts.states,
            added_cond_kwargs=conditions,
            return_dict=False,
        )[0]
        return predicted


class RectifiedFlow:
    """SD3: a transformer that predicts the velocity itself."""

    def __init__(self, pipeline: Any, size: int | None) -> None:  # noqa: ANN401 - diffusers has no types
        self._pipeline = pipeline
        self.network: nn.Module = pipeline.transformer
        cells = self._cells(size)
        self.size = cells * pipeline.vae_scale_factor
        self.shape = (pipeline.vae.config.latent_channels, cells, cells)

    def _cells(self, size: int | None) -> int:
        default = int(self._pipeline.default_sample_size)
        return default if size is None else size // int(self._pipeline.vae_scale_factor)

    def encode_prompts(self, prompts: list[str]) -> Prepared:
        """Encode prompts."""
        states, _, pooled, _ = self._pipeline.encode_prompt(
            prompts, None, None, device=self._pipeline.device, do_classifier_free_guidance=False
        )
        return Prepared(states, pooled)

    def velocity(self, latents: torch.Tensor, times: torch.Tensor, prompts: Prepared) -> torch.Tensor:
        """The velocity of latents at times."""
        velocity: torch.Tensor = self._pipeline.transformer(
            hidden_states=latents,
            timestep=times.to(latents) * 1000,
            encoder_hidden_states=prompts.states,
            pooled_projections=prompts.pooled,
            return_dict=False,
        )[0]
        return velocity

    def times(self, steps: int) -> torch.Tensor:
        """The times of sampling."""
        self._pipeline.scheduler.set_timesteps(steps)
        sigmas: torch.Tensor = self._pipeline.scheduler.sigmas.float().cpu()
        return sigmas

    def scale_noise(self, noise: torch.Tensor) -> torch.Tensor:
        """Noise as latents at the first time."""
        return noise


class PackedFlow(RectifiedFlow):
    """Flux: latents are packed two by two, and tokens carry their places."""

    def _cells(self, size: int | None) -> int:
        cells = super()._cells(size)
        return cells - cells % 2

    def encode_prompts(self, prompts: list[str]) -> Prepared:
        """Encode prompts."""
        states, pooled, places = self._pipeline.encode_prompt(prompts, None, device=self._pipeline.device)
        return Prepared(states, pooled, places)

    def velocity(self, latents: torch.Tensor, times: torch.Tensor, prompts: Prepared) -> torch.Tensor:
        """The velocity of latents at times."""
        pipeline, (count, channels, height, width) = self._pipeline, latents.shape
        image_places = pipeline._prepare_latent_image_ids(
            count, height // 2, width // 2, latents.device, latents.dtype
        )
        guided = pipeline.transformer.config.guidance_embeds
        packed = pipeline._pack_latents(latents, count, channels, height, width)
        velocity = pipeline.transformer(
            hidden_states=packed,
            timestep=times.to(latents),
            guidance=torch.full((count,), 3.5, device=latents.device) if guided else None,
            pooled_projections=prompts.pooled,
            encoder_hidden_states=prompts.states,
            txt_ids=prompts.places,
            img_ids=image_places,
            return_dict=False,
        )[0]
        factor = pipeline.vae_scale_factor
        unpacked: torch.Tensor = pipeline._unpack_latents(velocity, height * factor, width * factor, factor)
        return unpacked

    def times(self, steps: int) -> torch.Tensor:
        """The times of sampling."""
        scheduler = self._pipeline.scheduler
        shift = None
        if scheduler.config.get("use_dynamic_shifting"):
            tokens = (self.shape[1] // 2) * (self.shape[2] // 2)
            slope = (scheduler.config.max_shift - scheduler.config.base_shift) / (
                scheduler.config.max_image_seq_len - scheduler.config.base_image_seq_len
            )
            shift = scheduler.config.base_shift + slope * (tokens - scheduler.config.base_image_seq_len)
        scheduler.set_timesteps(sigmas=np.linspace(1.0, 1 / steps, steps), mu=shift)
        sigmas: torch.Tensor = scheduler.sigmas.float().cpu()
        return sigmas


FAMILIES: dict[str, Callable[[Any, int | None], Family]] = {
    "StableDiffusionPipeline": Diffusion,
    "StableDiffusionXLPipeline": DiffusionXL,
    "StableDiffusion3Pipeline": RectifiedFlow,
    "FluxPipeline": PackedFlow,
}
"""Class of diffusers -> its family."""


def family_names() -> Sequence[str]:
    """The classes of pipelines that can be tuned."""
    return tuple(FAMILIES)
