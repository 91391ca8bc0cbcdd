"""Published checkpoints: every name and shape finds its place, small ones give the numbers of a plain forward."""

import json
import math
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import save_file
from torch.nn import functional

from beholder.errors import WeightsError
from beholder.models.preference import image_reward_state, open_clip_state
from beholder.models.preference.clip import Clip
from beholder.models.preference.image_reward import (
    BERT_SIZE,
    REWARD_MEAN,
    REWARD_STD,
    RewardNetwork,
    RewardSizes,
    build,
    configure,
)
from beholder.models.preference.published import PUBLISHED, load_published

State = dict[str, torch.Tensor]

SMALL_CLIP = {
    "embed_dim": 12,
    "vision_cfg": {"image_size": 16, "layers": 2, "width": 32, "head_width": 16, "patch_size": 8},
    "text_cfg": {"context_length": 9, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 2},
}
PROMPTS = ["a red cat", "two dogs on a very, very long walk in the woods"]


def open_clip_shapes(sizes: Mapping[str, object]) -> dict[str, tuple[int, ...]]:
    """What open_clip's CLIP has, written out from its source."""
    vision, text, embed = sizes["vision_cfg"], sizes["text_cfg"], sizes["embed_dim"]
    assert isinstance(vision, dict)
    assert isinstance(text, dict)
    assert isinstance(embed, int)
    patches = (vision["image_size"] // vision["patch_size"]) ** 2
    shapes: dict[str, tuple[int, ...]] = {
        "positional_embedding": (text["context_length"], text["width"]),
        "text_projection": (text["width"], embed),
        "logit_scale": (),
        "visual.class_embedding": (vision["width"],),
        "visual.positional_embedding": (1 + patches, vision["width"]),
        "visual.proj": (vision["width"], embed),
        "visual.conv1.weight": (vision["width"], 3, vision["patch_size"], vision["patch_size"]),
        "token_embedding.weight": (text["vocab_size"], text["width"]),
    }
    for norm, width in (("visual.ln_pre", vision["width"]), ("visual.ln_post", vision["width"]),
                        ("ln_final", text["width"])):  # fmt: skip
        shapes |= {f"{norm}.weight": (width,), f"{norm}.bias": (width,)}
    for tower, tower_sizes in (("visual.transformer", vision), ("transformer", text)):
        width = tower_sizes["width"]
        for layer in range(tower_sizes["layers"]):
            block = f"{tower}.resblocks.{layer}"
            shapes |= {
                f"{block}.attn.in_proj_weight": (3 * width, width),
                f"{block}.attn.in_proj_bias": (3 * width,),
                f"{block}.mlp.c_fc.weight": (4 * width, width),
                f"{block}.mlp.c_fc.bias": (4 * width,),
                f"{block}.mlp.c_proj.weight": (width, 4 * width),
            }
            for part in ("attn.out_proj", "mlp.c_proj", "ln_1", "ln_2"):
                shapes[f"{block}.{part}.bias"] = (width,)
            shapes[f"{block}.attn.out_proj.weight"] = (width, width)
            shapes |= {f"{block}.{norm}.weight": (width,) for norm in ("ln_1", "ln_2")}
    return shapes


def image_reward_shapes(image: int, image_layers: int, text: int, text_layers: int, patches: int, patch: int) -> (
    dict[str, tuple[int, ...]]
):  # fmt: skip
    """What the published ImageReward has, written out from its source."""
    shapes: dict[str, tuple[int, ...]] = {
        "blip.visual_encoder.cls_token": (1, 1, image),
        "blip.visual_encoder.pos_embed": (1, 1 + patches, image),
        "blip.visual_encoder.patch_embed.proj.weight": (image, 3, patch, patch),
        "blip.visual_encoder.patch_embed.proj.bias": (image,),
        "blip.visual_encoder.norm.weight": (image,),
        "blip.visual_encoder.norm.bias": (image,),
        "blip.text_encoder.embeddings.position_ids": (1, 512),
        "blip.text_encoder.embeddings.word_embeddings.weight": (BERT_SIZE, text),
        "blip.text_encoder.embeddings.position_embeddings.weight": (512, text),
        "blip.text_encoder.embeddings.LayerNorm.weight": (text,),
        "blip.text_encoder.embeddings.LayerNorm.bias": (text,),
        "blip.vision_proj.weight": (256, image),
        "blip.vision_proj.bias": (256,),
        "blip.text_proj.weight": (256, text),
        "blip.text_proj.bias": (256,),
    }
    linears: dict[str, tuple[int, int]] = {}
    for layer in range(image_layers):
        block = f"blip.visual_encoder.blocks.{layer}"
        linears |= {
            f"{block}.attn.qkv": (3 * image, image),
            f"{block}.attn.proj": (image, image),
            f"{block}.mlp.fc1": (4 * image, image),
            f"{block}.mlp.fc2": (image, 4 * image),
        }
        shapes |= {f"{block}.norm{n}.{kind}": (image,) for n in (1, 2) for kind in ("weight", "bias")}
    for layer in range(text_layers):
        block = f"blip.text_encoder.encoder.layer.{layer}"
        for attention, key_width in (("attention", text), ("crossattention", image)):
            linears |= {
                f"{block}.{attention}.self.query": (text, text),
                f"{block}.{attention}.self.key": (text, key_width),
                f"{block}.{attention}.self.value": (text, key_width),
                f"{block}.{attention}.output.dense": (text, text),
            }
        linears |= {f"{block}.intermediate.dense": (4 * text, text), f"{block}.output.dense": (text, 4 * text)}
        for norm in ("attention.output", "crossattention.output", "output"):
            shapes |= {f"{block}.{norm}.LayerNorm.{kind}": (text,) for kind in ("weight", "bias")}
    sizes = (text, 1024, 128, 64, 16, 1)
    linears |= {f"mlp.layers.{n}": (sizes[i + 1], sizes[i]) for i, n in enumerate((0, 2, 4, 6, 7))}
    for name, (out, into) in linears.items():
        shapes |= {f"{name}.weight": (out, into), f"{name}.bias": (out,)}
    return shapes


def drawn(shapes: Mapping[str, tuple[int, ...]], seed: int = 0) -> State:
    generator = torch.Generator().manual_seed(seed)
    state = {name: 0.2 * torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    for name in state:
        if name.endswith(("ln_1.weight", "ln_2.weight", "norm1.weight", "norm2.weight", "LayerNorm.weight")):
            state[name] += 1
        elif name.endswith("position_ids"):
            state[name] = torch.arange(512)[None]
    return state


@pytest.fixture
def hps(tmp_path: Path) -> Path:
    (tmp_path / "open_clip_config.json").write_text(json.dumps({"model_cfg": SMALL_CLIP}))
    torch.save({"epoch": 1, "state_dict": drawn(open_clip_shapes(SMALL_CLIP))}, tmp_path / "HPS_v2_compressed.pt")
    return tmp_path


@pytest.fixture
def rewarded(tmp_path: Path) -> Path:
    shapes = image_reward_shapes(128, 2, 64, 2, 4, 8)
    torch.save(drawn(shapes), tmp_path / "ImageReward.pt")
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 512}
    (tmp_path / "med_config.json").write_text(json.dumps(sizes | {"intermediate_size": 256, "hidden_act": "gelu"}))
    return tmp_path


def attended(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, heads: int, causal: bool) -> torch.Tensor:
    """Plain attention over (tokens, width)."""
    width = q.shape[1] // heads
    parts = []
    for head in range(heads):
        columns = slice(head * width, (head + 1) * width)
        weights = q[:, columns] @ k[:, columns].T / math.sqrt(width)
        if causal:
            weights = weights.masked_fill(torch.ones_like(weights).triu(1).bool(), -torch.inf)
        parts.append(weights.softmax(1) @ v[:, columns])
    return torch.cat(parts, 1)


def linear(state: State, name: str, x: torch.Tensor) -> torch.Tensor:
    return x @ state[f"{name}.weight"].T + state[f"{name}.bias"]


def normed(state: State, name: str, x: torch.Tensor, eps: float) -> torch.Tensor:
    return functional.layer_norm(x, x.shape[-1:], state[f"{name}.weight"], state[f"{name}.bias"], eps)


def patched(weight: torch.Tensor, image: torch.Tensor) -> torch.Tensor:
    return functional.conv2d(image[None], weight, stride=weight.shape[-1])[0].flatten(1).T


def plain_hps(state: State, image: torch.Tensor, tokens: list[int]) -> float:
    """HPS v2 as open_clip computes it, one image and one prompt, in plain steps."""

    def tower(name: str, x: torch.Tensor, heads: int, causal: bool) -> torch.Tensor:
        for layer in range(2):
            block = f"{name}.resblocks.{layer}"
            y = normed(state, f"{block}.ln_1", x, 1e-5)
            qkv = y @ state[f"{block}.attn.in_proj_weight"].T + state[f"{block}.attn.in_proj_bias"]
            q, k, v = qkv.chunk(3, 1)
            x = x + linear(state, f"{block}.attn.out_proj", attended(q, k, v, heads, causal))
            y = functional.gelu(linear(state, f"{block}.mlp.c_fc", normed(state, f"{block}.ln_2", x, 1e-5)))
            x = x + linear(state, f"{block}.mlp.c_proj", y)
        return x

    x = torch.cat([state["visual.class_embedding"][None], patched(state["visual.conv1.weight"], image)])
    x = normed(state, "visual.ln_pre", x + state["visual.positional_embedding"], 1e-5)
    image_features = normed(state, "visual.ln_post", tower("visual.transformer", x, 2, causal=False)[0], 1e-5)
    x = state["token_embedding.weight"][tokens] + state["positional_embedding"][: len(tokens)]
    read = normed(state, "ln_final", tower("transformer", x, 2, causal=True), 1e-5)[-1]
    return float(
        functional.cosine_similarity(image_features @ state["visual.proj"], read @ state["text_projection"], 0)
    )


def plain_reward(state: State, image: torch.Tensor, tokens: list[int]) -> float:
    """ImageReward as its authors compute it, one image and one prompt without padding, in plain steps."""
    visual, text = "blip.visual_encoder", "blip.text_encoder"
    x = patched(state[f"{visual}.patch_embed.proj.weight"], image) + state[f"{visual}.patch_embed.proj.bias"]
    x = torch.cat([state[f"{visual}.cls_token"][0], x]) + state[f"{visual}.pos_embed"][0]
    for layer in range(2):
        block = f"{visual}.blocks.{layer}"
        q, k, v = linear(state, f"{block}.attn.qkv", normed(state, f"{block}.norm1", x, 1e-6)).chunk(3, 1)
        x = x + linear(state, f"{block}.attn.proj", attended(q, k, v, 2, causal=False))
        y = functional.gelu(linear(state, f"{block}.mlp.fc1", normed(state, f"{block}.norm2", x, 1e-6)))
        x = x + linear(state, f"{block}.mlp.fc2", y)
    image_features = normed(state, f"{visual}.norm", x, 1e-6)
    embeddings = f"{text}.embeddings"
    x = state[f"{embeddings}.word_embeddings.weight"][tokens]
    x = x + state[f"{embeddings}.position_embeddings.weight"][: len(tokens)]
    x = normed(state, f"{embeddings}.LayerNorm", x, 1e-12)
    for layer in range(2):
        block = f"{text}.encoder.layer.{layer}"
        for attention in ("attention", "crossattention"):
            keyed = x if attention == "attention" else image_features
            q, k, v = (
                linear(state, f"{block}.{attention}.self.{part}", inputs)
                for part, inputs in (("query", x), ("key", keyed), ("value", keyed))
            )
            y = linear(state, f"{block}.{attention}.output.dense", attended(q, k, v, 4, causal=False))
            x = normed(state, f"{block}.{attention}.output.LayerNorm", x + y, 1e-12)
        y = functional.gelu(linear(state, f"{block}.intermediate.dense", x))
        x = normed(state, f"{block}.output.LayerNorm", x + linear(state, f"{block}.output.dense", y), 1e-12)
    x = x[:1]
    for layer in (0, 2, 4, 6, 7):
        x = linear(state, f"mlp.layers.{layer}", x)
    return (float(x) - REWARD_MEAN) / REWARD_STD


class TestShapes:
    def test_hps_v2_to_the_last_tensor(self) -> None:
        with torch.device("meta"):
            state = {
                name: torch.empty(shape) for name, shape in open_clip_shapes(open_clip_state.VIT_H_14).items()
            }
            expected = Clip(open_clip_state.clip_config(open_clip_state.VIT_H_14)).state_dict()
        renamed = open_clip_state.rename_tensors(state)
        assert {name: tensor.shape for name, tensor in renamed.items()} == {
            key: tensor.shape for key, tensor in expected.items()
        }
        assert sum(tensor.numel() for tensor in state.values()) == 986_109_441  # as open_clip counts ViT-H-14

    def test_image_reward_to_the_last_tensor(self) -> None:
        with torch.device("meta"):
            shapes = image_reward_shapes(1024, 24, 768, 12, 196, 16)
            state = {name: torch.empty(shape) for name, shape in shapes.items()}
            expected = RewardNetwork(RewardSizes(), BERT_SIZE).state_dict()
        renamed = image_reward_state.rename_tensors(state)
        assert {name: tensor.shape for name, tensor in renamed.items()} == {
            key: tensor.shape for key, tensor in expected.items()
        }
        sizes = RewardSizes.model_validate(image_reward_state.sizes_of(renamed))
        assert sizes == RewardSizes()

    def test_pick_score_is_the_same_network_in_transformers_own_form(self) -> None:
        assert PUBLISHED["pickscore"].hub == "yuvalkirstain/PickScore_v1"
        assert PUBLISHED["pickscore"].files[:2] == ("model.safetensors", "config.json")


class TestNumbers:
    @pytest.fixture
    def image(self) -> torch.Tensor:
        return torch.randn(3, 16, 16, generator=torch.Generator().manual_seed(5))

    def test_hps_v2(self, hps: Path, image: torch.Tensor) -> None:
        network, _ = load_published("hps-v2", str(hps))
        state = drawn(open_clip_shapes(SMALL_CLIP))
        scores = network.score(
            network.encode_images(image[None].repeat(2, 1, 1, 1)), network.encode_prompts(PROMPTS)
        )
        short = [49406, 320, 736, 2368, 49407]  # CLIP's numbers for: a red cat
        long = network._tokens(PROMPTS[1:])[0].tolist()  # type: ignore[attr-defined]
        assert (len(long), long[-1]) == (9, 49407)  # cut, with its end
        expected = [plain_hps(state, image, tokens) for tokens in (short, long)]
        assert scores.tolist() == pytest.approx(expected, abs=2e-6)
        assert network.preprocessing.fit == "longest"

    def test_half_precision_safetensors_and_the_wrapped_names_of_several_machines(
        self, hps: Path, image: torch.Tensor
    ) -> None:
        state = {f"module.{name}": tensor.half() for name, tensor in drawn(open_clip_shapes(SMALL_CLIP)).items()}
        save_file(state, hps / "anything.safetensors")
        network, _ = load_published("hps-v2.1", str(hps / "anything.safetensors"))
        rounded = {name.removeprefix("module."): tensor.float() for name, tensor in state.items()}
        scores = network.score(network.encode_images(image[None]), network.encode_prompts(PROMPTS[:1]))
        expected = plain_hps(rounded, image, [49406, 320, 736, 2368, 49407])
        assert scores.item() == pytest.approx(expected, abs=2e-6)
        assert next(network.module.parameters()).dtype == torch.float32

    def test_pick_score(self, tmp_path: Path, image: torch.Tensor) -> None:
        clip = transformers.CLIPModel(
            transformers.CLIPConfig(**open_clip_state.clip_config(SMALL_CLIP).model_dump())
        )
        clip.load_state_dict(open_clip_state.rename_tensors(drawn(open_clip_shapes(SMALL_CLIP))))
        clip.save_pretrained(tmp_path / "pick")
        network, _ = load_published("pickscore", str(tmp_path / "pick"))
        state = drawn(open_clip_shapes(SMALL_CLIP))
        cosine = plain_hps(state, image, [49406, 320, 736, 2368, 49407])
        scores = network.score(network.encode_images(image[None]), network.encode_prompts(PROMPTS[:1]))
        assert scores.item() == pytest.approx(cosine * math.exp(state["logit_scale"]), abs=1e-5)
        assert network.preprocessing.fit == "shortest"

    def test_image_reward(self, rewarded: Path, image: torch.Tensor) -> None:
        network, _ = load_published("image-reward", str(rewarded))
        state = drawn(image_reward_shapes(128, 2, 64, 2, 4, 8))
        scores = network.score(
            network.encode_images(image[None].repeat(2, 1, 1, 1)), network.encode_prompts(PROMPTS)
        )
        tokens = [[int(n) for n in row if n] for row in network.encode_prompts(PROMPTS)]
        assert tokens[0] == [101, 1037, 2417, 4937, 102]  # BERT's numbers for: a red cat
        assert scores.tolist() == pytest.approx([plain_reward(state, image, row) for row in tokens], rel=1e-4)

    def test_training_may_start_from_it(self, rewarded: Path, image: torch.Tensor) -> None:
        sizes = {"image_size": 16, "patch_size": 8, "image_width": 128, "image_layers": 2, "image_heads": 2}
        text = {"text_width": 64, "text_layers": 2, "text_heads": 4}
        config = configure({"start": str(rewarded), "sizes": {**sizes, **text}}, (), ())
        model = build(config, fresh=True)
        model.module.eval()
        state = drawn(image_reward_shapes(128, 2, 64, 2, 4, 8))
        scores = model.score(model.encode_images(image[None]), model.encode_prompts(PROMPTS[:1])).item()
        expected = plain_reward(state, image, [101, 1037, 2417, 4937, 102])
        assert scores == pytest.approx(expected * REWARD_STD + REWARD_MEAN, rel=1e-4)  # rewards, not normalised
        assert not all(tensor.requires_grad for tensor in model.module.parameters())


class TestFaults:
    def test_all_that_is_wrong_with_the_tensors(self, hps: Path) -> None:
        state = drawn(open_clip_shapes(SMALL_CLIP))
        del state["visual.proj"]
        state["visual.head.weight"] = torch.zeros(1)
        state["ln_final.bias"] = torch.zeros(3)
        state["transformer.resblocks.0.attn.in_proj_bias"] = torch.zeros(7)
        torch.save({"state_dict": state}, hps / "HPS_v2_compressed.pt")
        with pytest.raises(WeightsError) as caught:
            load_published("hps-v2", str(hps))
        for part in (
            "lacks visual_projection.weight",
            "has visual.head.weight, which is not in the network",
            "final_layer_norm.bias has the shape (3,); (16,) is expected",
            "attn.in_proj_bias, which is not in the network",
        ):
            assert part in str(caught.value)

    def test_another_network(self, hps: Path) -> None:
        (hps / "open_clip_config.json").unlink()  # so ViT-H-14 is expected
        with pytest.raises(WeightsError, match=r"not those of the network(?s:.*)and \d+ more"):
            load_published("hps-v2", str(hps))

    @pytest.mark.parametrize("name", ["HPS_v2_compressed.pt", "other.safetensors"])
    @pytest.mark.parametrize("length", [0, 1, 100, 5_000])
    def test_cut_short(self, hps: Path, name: str, length: int) -> None:
        if name.endswith("safetensors"):
            save_file(drawn(open_clip_shapes(SMALL_CLIP)), hps / name)
        (hps / name).write_bytes((hps / name).read_bytes()[:length])
        with pytest.raises(WeightsError, match="not a file of weights that can be read"):
            load_published("hps-v2", str(hps / name))

    def test_a_pointer_of_git_lfs(self, hps: Path) -> None:
        pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1972460966\n"
        (hps / "HPS_v2_compressed.pt").write_bytes(pointer)
        with pytest.raises(WeightsError, match=r"pointer of Git LFS.*git lfs pull"):
            load_published("hps-v2", str(hps))

    def test_code_in_the_file_is_not_run(self, hps: Path) -> None:
        torch.save({"state_dict": {"a": Path()}}, hps / "HPS_v2_compressed.pt")
        with pytest.raises(WeightsError, match="not a file of weights"):
            load_published("hps-v2", str(hps))

    def test_folders_without_weights_and_names_that_cannot_be_fetched(self, tmp_path: Path) -> None:
        with pytest.raises(WeightsError, match=r"neither HPS_v2_compressed\.pt nor a single .* found: nothing"):
            load_published("hps-v2", str(tmp_path))
        with pytest.raises(WeightsError, match="no such file or folder"):
            load_published("hps-v2", str(tmp_path / "nowhere.pt"))
        with pytest.raises(WeightsError, match=r"could not be fetched.*ImageReward\.pt, med_config\.json, vocab"):
            load_published("image-reward", None)

    @pytest.mark.parametrize("name", ["hps-v2", "pickscore", "image-reward"])
    def test_from_the_hub_only_the_named_files_are_fetched(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fetched: list[tuple[str, list[str]]] = []

        def fetch(place: str, *, allow_patterns: list[str]) -> str:
            fetched.append((place, allow_patterns))
            return str(tmp_path)

        monkeypatch.setattr("huggingface_hub.snapshot_download", fetch)
        with pytest.raises(WeightsError, match="found: nothing"):
            load_published(name, None)
        assert fetched == [(PUBLISHED[name].hub, list(PUBLISHED[name].files))]

    def test_a_vocabulary_of_another_content(self, rewarded: Path) -> None:
        (rewarded / "vocab.txt").write_text("[PAD]\nword\n")
        with pytest.raises(WeightsError, match=r"vocab\.txt: not BERT's word pieces"):
            load_published("image-reward", str(rewarded))

    def test_sizes_that_say_something_else(self, rewarded: Path, hps: Path) -> None:
        path = rewarded / "med_config.json"
        path.write_text(path.read_text().replace("gelu", "relu"))
        with pytest.raises(WeightsError, match="hidden_act is relu; gelu is expected"):
            load_published("image-reward", str(rewarded))
        path.write_text("{")
        with pytest.raises(WeightsError, match="cannot be understood"):
            load_published("image-reward", str(rewarded))
        (hps / "open_clip_config.json").write_text('{"embed_dim": 3}')
        with pytest.raises(WeightsError, match="cannot be understood"):
            load_published("hps-v2", str(hps))

    def test_a_clip_with_missing_and_foreign_tensors(self, tmp_path: Path) -> None:
        clip = transformers.CLIPModel(
            transformers.CLIPConfig(**open_clip_state.clip_config(SMALL_CLIP).model_dump())
        )
        clip.save_pretrained(tmp_path)
        state = {**clip.state_dict(), "extra": torch.zeros(2)}
        del state["visual_projection.weight"]
        state["text_projection.weight"] = torch.zeros(5, 16)
        save_file({name: tensor.contiguous() for name, tensor in state.items()}, tmp_path / "model.safetensors",
                  metadata={"format": "pt"})  # fmt: skip
        with pytest.raises(WeightsError) as caught:
            load_published("pickscore", str(tmp_path))
        for part in ("lacks visual_projection.weight", "has extra,", "(5, 16); (12, 16) is expected"):
            assert part in str(caught.value)
