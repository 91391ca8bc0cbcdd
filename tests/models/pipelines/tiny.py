"""Tiny pipelines of diffusers with random weights, saved into folders: the same code as the large ones."""

import json
from pathlib import Path

import torch
import transformers
from diffusers import (
    AutoencoderKL,
    DDIMScheduler,
    FlowMatchEulerDiscreteScheduler,
    FluxPipeline,
    FluxTransformer2DModel,
    SD3Transformer2DModel,
    StableDiffusion3Pipeline,
    StableDiffusionInpaintPipeline,
    StableDiffusionPipeline,
    StableDiffusionXLPipeline,
    UNet2DConditionModel,
)
from tokenizers import Tokenizer, models, pre_tokenizers


def save(kind: str, folder: Path) -> None:
    """Save a tiny pipeline of a kind; equal weights at every call."""
    torch.manual_seed(0)
    {"sd": _sd, "sd-inpaint": _sd_inpaint, "sdxl": _sdxl, "sd3": _sd3, "flux": _flux}[kind](folder)


def _tokenizer(folder: Path) -> transformers.CLIPTokenizer:
    letters = [*"abcdefghijklmnopqrstuvwxyz,. "]
    words = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    return transformers.CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=16)


def _text_config(projection: int = 8) -> transformers.CLIPTextConfig:
    return transformers.CLIPTextConfig(
        vocab_size=64,
        hidden_size=8,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=16,
        projection_dim=projection,
        bos_token_id=58,
        eos_token_id=59,
        pad_token_id=59,
    )


def _vae(channels: int = 4, shift: float | None = None) -> AutoencoderKL:
    return AutoencoderKL(
        block_out_channels=(8, 8),
        norm_num_groups=4,
        down_block_types=("DownEncoderBlock2D", "DownEncoderBlock2D"),
        up_block_types=("UpDecoderBlock2D", "UpDecoderBlock2D"),
        latent_channels=channels,
        sample_size=32,
        shift_factor=shift,
        use_quant_conv=shift is None,
        use_post_quant_conv=shift is None,
    ).eval()


def _unet(attention: int = 8, channels: int = 4, **options: object) -> UNet2DConditionModel:
    return UNet2DConditionModel(
        block_out_channels=(8, 16),
        layers_per_block=1,
        sample_size=16,
        in_channels=channels,
        out_channels=4,
        norm_num_groups=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=attention,
        attention_head_dim=2,
        **options,
    )


def _scheduler() -> DDIMScheduler:
    return DDIMScheduler(beta_schedule="scaled_linear", clip_sample=False, set_alpha_to_one=False, steps_offset=1)


def _sd(folder: Path) -> None:
    StableDiffusionPipeline(
        vae=_vae(),
        text_encoder=transformers.CLIPTextModel(_text_config()),
        tokenizer=_tokenizer(folder / "words"),
        unet=_unet(),
        scheduler=_scheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)


def _sd_inpaint(folder: Path) -> None:
    StableDiffusionInpaintPipeline(
        vae=_vae(),
        text_encoder=transformers.CLIPTextModel(_text_config()),
        tokenizer=_tokenizer(folder / "words"),
        unet=_unet(channels=9),
        scheduler=_scheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)


def _sdxl(folder: Path) -> None:
    StableDiffusionXLPipeline(
        vae=_vae(),
        text_encoder=transformers.CLIPTextModel(_text_config()),
        text_encoder_2=transformers.CLIPTextModelWithProjection(_text_config()),
        tokenizer=_tokenizer(folder / "words"),
        tokenizer_2=_tokenizer(folder / "words"),
        unet=_unet(
            16,
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            projection_class_embeddings_input_dim=6 * 8 + 8,
        ),
        scheduler=_scheduler(),
    ).save_pretrained(folder)


def _sd3(folder: Path) -> None:
    StableDiffusion3Pipeline(
        transformer=SD3Transformer2DModel(
            sample_size=16,
            patch_size=1,
            in_channels=4,
            num_layers=1,
            attention_head_dim=8,
            num_attention_heads=2,
            joint_attention_dim=32,
            caption_projection_dim=16,
            pooled_projection_dim=16,
            out_channels=4,
        ),
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=_vae(4, shift=0.0),
        text_encoder=transformers.CLIPTextModelWithProjection(_text_config()),
        tokenizer=_tokenizer(folder / "words"),
        text_encoder_2=transformers.CLIPTextModelWithProjection(_text_config()),
        tokenizer_2=_tokenizer(folder / "words"),
        text_encoder_3=_t5(32),
        tokenizer_3=_t5_tokenizer(),
    ).save_pretrained(folder)


def _t5_tokenizer() -> transformers.T5TokenizerFast:
    letters = [(letter, -1.0) for letter in "abcdefghijklmnopqrstuvwxyz▁"]
    inner = Tokenizer(models.Unigram([("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *letters], unk_id=2))
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    return transformers.T5TokenizerFast(tokenizer_object=inner, extra_ids=0)


def _t5(dims: int) -> transformers.T5EncoderModel:
    config = transformers.T5Config(
        vocab_size=64, d_model=dims, d_kv=4, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0
    )
    return transformers.T5EncoderModel(config)


def _flux(folder: Path) -> None:
    FluxPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=_vae(1, shift=0.0),
        text_encoder=transformers.CLIPTextModel(_text_config()),
        tokenizer=_tokenizer(folder / "words"),
        text_encoder_2=_t5(8),
        tokenizer_2=_t5_tokenizer(),
        transformer=FluxTransformer2DModel(
            patch_size=1,
            in_channels=4,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=8,
            pooled_projection_dim=8,
            axes_dims_rope=(4, 4, 8),
        ),
    ).save_pretrained(folder)
