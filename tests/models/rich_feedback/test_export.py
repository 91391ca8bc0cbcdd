from pathlib import Path

import numpy as np
import torch

from beholder.models.rich_feedback.export import export_network
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.settings import Heads, ImageTower, RichFeedbackSettings, TextModel

SMALL = RichFeedbackSettings(
    image=ImageTower(side=16, patch=8, stem="convolutions", width=16, layers=1, heads=2),
    text=TextModel(width=24, head_width=8, heads=2, inner=32, layers=1, decoder_layers=1),
    heads=Heads(heatmap=(8,), score=(4,), dense=(4,)),
    heatmaps=("implausibility",),
    scores=("plausibility", "overall"),
    words=("a", "cat", "red"),
)


def test_the_file_gives_what_the_model_gives(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = RichFeedbackModel(SMALL)
    export_network(model, tmp_path / "model.pt2")
    program = torch.export.load(tmp_path / "model.pt2").module()
    pixels = torch.randn(3, 3, 16, 16)
    prompts = ["a red cat", "a cat red", "red a cat"]
    token_ids = torch.tensor([model.tokenizer.encode_prompt(prompt, 8)[0] for prompt in prompts])
    decoder_ids = torch.cat([torch.zeros(3, 1, dtype=torch.int64), token_ids[:, :-1]], 1)
    with torch.no_grad():
        outputs = program(pixels, token_ids, torch.ones_like(token_ids), decoder_ids)
    feedback = model.feedback(pixels, prompts)
    assert set(outputs) == {"implausibility heatmap", "plausibility score", "overall score", "keywords"}
    np.testing.assert_allclose(outputs["implausibility heatmap"], feedback.heatmaps["implausibility"], atol=1e-5)
    for name in ("plausibility", "overall"):
        np.testing.assert_allclose(outputs[f"{name} score"], feedback.scores[name], atol=1e-5)
    after = outputs["keywords"][:, 1].double()  # what follows the first word: its mark, or the second word
    lead = after[:, model.tokenizer.mark[0]] - after.gather(1, token_ids[:, 1:2])[:, 0]
    np.testing.assert_allclose(torch.sigmoid(lead), [chances[0] for chances in feedback.misaligned], atol=1e-5)
