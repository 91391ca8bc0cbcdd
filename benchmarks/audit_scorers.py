"""What scorers do not see: the audit of a trained model and of a published architecture with random weights.

    python benchmarks/audit_scorers.py FOLDER [--images 48]

FOLDER is the benchmark that ``beholder demo --benchmark`` leaves. Prints the summaries and a markdown table;
``docs/measured/audits.md`` has a saved run.
"""

import argparse
import tempfile
from pathlib import Path

import polars as pl
import torch
import transformers

from beholder.api.auditing import audit
from beholder.tables.store import Store

TRAINED = "tiny-two-tower/fold-0"
SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}


def main() -> None:
    """Audit both, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--images", type=int, default=48)
    arguments = parser.parse_args()
    trained = str((arguments.folder / "models" / TRAINED).resolve())
    with tempfile.TemporaryDirectory() as random_weights:
        torch.manual_seed(0)
        config = transformers.CLIPConfig(
            text_config=dict(SMALL),
            vision_config={"image_size": 64, "patch_size": 16, **SMALL},
            projection_dim=32,
        )
        transformers.CLIPModel(config).save_pretrained(random_weights)
        audit(
            arguments.folder,
            ["scorer-robustness"],
            scorers=[trained, "pickscore"],
            weights={"pickscore": random_weights},
            images=arguments.images,
            force=True,
        )
    findings = Store(arguments.folder).read("audits")
    for name, words in findings.filter(pl.col("slice") == "summary").select("subject", "finding").iter_rows():
        print(f"- {words}" if name else "")
    single = findings.filter(pl.col("figure").is_not_null())
    changes = single["slice"].unique(maintain_order=True)
    print("\n| change | tiny-two-tower | PickScore, random weights |\n|---|---|---|")
    for change in changes:
        print(f"| {change} | {_cell(single, TRAINED, change)} | {_cell(single, 'pickscore', change)} |")


def _cell(findings: pl.DataFrame, scorer: str, change: str) -> str:
    rows = findings.filter((pl.col("subject") == scorer) & (pl.col("slice") == change)).to_dicts()
    if not rows:
        return "–"
    row = rows[0]
    numbers = [row["figure"], row["low"], row["high"]]
    if row["unit"] == "proportion of images":
        return "{:.0%} [{:.0%}, {:.0%}]".format(*numbers)
    return "{:.2f} sd [{:.2f}, {:.2f}]".format(*numbers)


if __name__ == "__main__":
    main()
