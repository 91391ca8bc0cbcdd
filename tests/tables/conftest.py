from datetime import UTC, datetime

import polars as pl
import pytest

from beholder.tables.catalogue import TABLES

NOON = datetime(2025, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def world() -> dict[str, pl.DataFrame]:
    """A few rows of every table that fit together, with some cells empty wherever they may be."""
    candidate: dict[str, object] = {"candidate": "own/1", "prompt": "p1", "text": "a cat, photo", "set": "own"}
    candidate |= {"original": "a cat, photo, 8k", "key": "1", "category": "cats", "origin": "set"}
    candidate |= {"language": "en", "status": "chosen", "reason": "all"}
    swapped: dict[str, object] = {
        "candidate": "own/1/swap-0",
        "prompt": "p9",
        "text": "a dog",
        "original": "a dog",
    }
    swapped |= {"key": "swap", "group": "own/1", "origin": "swap", "parent": "own/1"}
    swapped |= {"language": "und", "status": "dropped", "reason": "language: und"}
    rows: dict[str, list[dict[str, object]]] = {
        "prompt_sets": [
            {"set": "own", "version": "sha256 aa", "licence": "MIT", "source": "own.csv", "prompts": 2}
            | {"distinct": 2},
            {"set": "parti", "version": "1", "licence": "MIT", "source": "web", "prompts": 1, "distinct": 1},
        ],
        "prompt_overlaps": [{"first": "own", "second": "parti", "shared": 1}],
        "prompt_candidates": [candidate, swapped],
        "prompt_edits": [
            {"candidate": "own/1", "number": 0, "rule": "quality", "removed": ", 8k", "evidence": "8k"}
            | {"start": 12, "end": 16}
        ],
        "prompt_findings": [
            {
                "candidate": "own/1/swap-0",
                "number": 0,
                "check": "language",
                "evidence": "und",
                "start": 0,
                "end": 5,
            }
        ],
        "prompt_pairs": [
            {"first": "own/1", "second": "own/1/swap-0", "relation": "counterfactual", "evidence": "cat -> dog"}
            | {"similarity": 1.0}
        ],
        "curated_prompts": [
            {"prompt": "p1", "text": "a cat, photo", "category": "cats", "candidate": "own/1", "held_out": False},
            {"prompt": "p9", "text": "a dog", "candidate": "own/1/swap-0", "held_out": True},
        ],
        "prompt_tags": [
            {"prompt": "p1", "tag": "animal", "label": "cat", "evidence": "cat", "start": 2, "end": 5},
        ],
        "prompt_coverage": [{"family": "animal", "label": "cat", "available": 1, "chosen": 1, "held_out": 0}],
        "generations": [
            {"generator": "alpha", "prompt": "p1", "sample": 0, "text": "a cat, photo", "sent": "a cat, photo!"}
            | {"seed": 7, "width": 64, "height": 48, "status": "done", "path": "generations/alpha/p1-0.png"}
            | {"sha256": "aa", "kind": "worker", "model": "painter", "weights": "cc", "settings": "{}"},
            {"generator": "alpha", "prompt": "p2", "sample": 1, "text": "zwei Bälle 🎾", "sent": "zwei Bälle 🎾"}
            | {"status": "refused", "fault": "refused", "reason": "not that", "kind": "http"},
        ],
        "generation_costs": [
            {"generator": "alpha", "prompt": "p1", "sample": 0, "seconds": 1.5, "cpu_seconds": 1.25}
            | {"energy_wh": 0.5, "energy_method": "codecarbon", "cost": 0.25, "currency": "EUR"},
            {"generator": "alpha", "prompt": "p2", "sample": 1, "seconds": 0.0},
        ],
        "prompts": [{"prompt": "p1", "text": "a cat, photo"}, {"prompt": "p2", "text": "zwei Bälle 🎾"}],
        "images": [
            {"image": "i1", "path": "images/1.png", "generator": "alpha", "real": False, "gold": False}
            | {"prompt": "p1", "style": "photo", "width": 64, "height": 48, "sha256": "aa"},
            {"image": "i2", "path": "images/2.png", "generator": "real", "real": True, "gold": True}
            | {"prompt": None, "style": None, "width": 64, "height": 48, "sha256": "bb"},
        ],
        "trials": [
            {"trial": "t1", "question": "q", "kind": "pair", "slot": 0, "position": 0, "block": 0, "role": "test"}
            | {"images": ["i1", "i2"], "prompt": "p1", "propensity": 0.5},
            {
                "trial": "t2",
                "question": "q",
                "kind": "pair",
                "slot": 0,
                "position": 1,
                "block": 0,
                "role": "repeat",
            }
            | {"images": ["i2", "i1"], "prompt": "p1", "propensity": 1.0, "repeats": "t1", "expected": "left"},
        ],
        "sessions": [
            {"session": "s1", "rater": "r1", "question": "q", "slot": 0, "status": "complete", "started": NOON}
            | {"ended": NOON, "simulated": True, "frame_ms": 16.7, "pay": 1.5},
            {"session": "s2", "rater": "r2", "question": "q", "status": "no-consent", "started": NOON}
            | {"simulated": False},
        ],
        "answers": [
            {"trial": "t1", "session": "s1", "rater": "r1", "question": "q", "aspect": "preference", "attempt": 1}
            | {"choice": "left", "seconds": 1.25, "valid": True, "answered": NOON},
            {"trial": "t2", "session": "s1", "rater": "r1", "question": "q", "aspect": "preference", "attempt": 2}
            | {"ranking": [2, 1], "value": 3.0, "seconds": 0.0, "valid": False, "answered": NOON},
        ],
        "skips": [
            {"trial": "t2", "session": "s1", "rater": "r1", "question": "q", "reason": "other", "skipped": NOON}
        ],
        "marks": [
            {"trial": "t1", "session": "s1", "aspect": "implausibility", "number": 0, "kind": "point"}
            | {"image": "i1", "x": 0.0, "y": 1.0},
            {"trial": "t1", "session": "s1", "aspect": "misalignment", "number": 0, "kind": "word", "word": 2},
        ],
        "totals": [{"question": "q", "rater": "r1", "generator": "alpha", "real": True, "answers": 9, "wrong": 2}],
        "published": [
            {"question": "q", "aspect": "realism", "method": "share", "image": "i1", "among": "alpha"}
            | {"value": 0.25, "raters": 4}
        ],
        "published_regions": [
            {"question": "q", "aspect": "implausibility", "image": "i1", "heatmap": b"\x89PNG\x00", "raters": 3}
            | {"width": 8, "height": 6}
        ],
        "raters": [
            {"question": "q", "rater": "r1", "used": True, "reasons": [], "answers": 2, "same_share": 0.5},
            {"question": "q", "rater": "r2", "used": False, "reasons": ["too fast", "gold"], "answers": 0},
        ],
        "judgements": [
            {"question": "q", "aspect": "preference", "rater": "r1", "session": "s1", "trial": "t1", "attempt": 1}
            | {"place": 0, "image": "i1", "other": "i2", "value": 1.0, "value_kind": "vote", "used": True}
        ],
        "labels": [
            {"question": "q", "aspect": "preference", "method": "preference", "image": "i1", "other": "i2"}
            | {"value": 0.75, "low": 0.5, "high": 0.9, "choice": "left", "ties": 0.0, "answers": 4, "raters": 4},
            {"question": "q", "aspect": "misalignment", "method": "majority", "image": "i1", "word": 2}
            | {"value": 1.0, "answers": 3, "raters": 3},
        ],
        "regions": [
            {"question": "q", "aspect": "implausibility", "image": "i1", "heatmap": b"\x89PNG\x00", "raters": 3}
            | {"width": 8, "height": 6}
        ],
        "thresholds": [
            {"question": "q", "rater": "r1", "session": "s1", "block": 0, "answers": 9, "right_share": 0.75}
            | {"modal_ms": 230.0, "reversals": 4, "floor_share": 0.0, "ceiling_share": 0.5, "converged": True}
        ],
        "agreement": [
            {"question": "q", "aspect": "preference", "statistic": "alpha", "people": "all", "value": None}
            | {"answers": 2, "items": 0, "raters": 1}
        ],
        "training": [
            {"model": "m", "fold": 0, "step": 10, "split": "validation", "measure": "pair-accuracy", "value": None}
        ],
        "predictions": [
            {"model": "m", "fold": 1, "aspect": "realism", "image": "i1", "score": 0.25, "better": "lower"}
            | {"held_out": True}
        ],
        "label_errors": [
            {"model": "m", "question": "q", "aspect": "realism", "method": "share", "image": "i1"}
            | {"doubt": 0.75, "suggested": None}
        ],
        "rounds": [
            {"model": "m-1", "parent": "m", "rounds": "1", "pairs": 4, "claims": 9, "verified": 6, "refuted": 2}
            | {"credit": 3.5, "attackers": 2, "attacks": 2}
            | {"attack_error": 0.5, "attack_low": 0.0, "attack_high": 1.0}
            | {"prompts": 3, "static_error": 0.25, "static_low": 0.125, "static_high": 0.5}
        ],
        "scores": [dict[str, object](scorer="sharp", aspect="quality", image="i1", score=-3.5)],
        "features": [
            {
                "encoder": "e",
                "preprocessing": "1",
                "image": "i2",
                "sha256": "bb",
                "file": "features/e.npy",
                "row": 0,
            }
        ],
        "distances": [
            {"distance": "frechet", "encoder": "e", "generator": "alpha", "reference": "real", "slice": "all"}
            | {"value": 12.5, "images": 1, "reference_images": 1}
        ],
        "correlations": [
            {"metric": "sharp", "question": "q", "aspect": "preference", "level": "image", "statistic": "kendall"}
            | {"method": "preference", "slice": "all", "value": None, "items": 2}
        ],
        "metric_separations": [
            {"question": "q", "aspect": "preference", "method": "preference", "level": "image", "slice": "all"}
            | {"statistic": "kendall", "metric": "sharp", "other": "frechet", "other_encoder": "e"}
            | {"other_reference": "real", "difference": 0.5, "separated": False, "items": 2}
        ],
        "powered_ratings": [
            dict[str, object](question="q", aspect="preference", method="win-rate", metric="sharp", generator="a")
            | {"rating": 0.5, "people_rating": 0.5, "tuning": 0.0, "level": 0.95, "answers": 2, "raters": 2}
            | {"judged": 2, "unjudged": 2}
        ],
        "ratings": [
            dict[str, object](
                question="q", aspect="preference", method="bradley-terry", slice="all", generator="a"
            )
            | {"rating": 0.5, "level": 0.95, "rank_low": 1, "rank_high": 1, "answers": 1, "images": 1, "raters": 1}
        ],
        "separations": [
            {"question": "q", "aspect": "preference", "method": "bradley-terry", "slice": "all", "generator": "a"}
            | {"other": "b", "difference": 0.5, "p": 1.0, "p_adjusted": 1.0, "separated": False}
        ],
        "comparisons": [
            {"question": "q", "aspect": "preference", "slice": "all", "generator": "a", "other": "b"}
            | {"outcome": "much-better", "share": 0.25, "answers": 4, "raters": 2}
        ],
        "board": [
            {
                "measure": "q",
                "family": "all",
                "slice": "all",
                "source": "people",
                "better": "higher",
                "entry": "alpha",
            }
            | {"value": 1.5, "low": 1.0, "high": 2.0, "level": 0.95, "rank_low": 1, "rank_high": 2, "prompts": 30},
            {"measure": "q", "family": "style", "slice": "photo", "source": "people", "entry": "alpha"}
            | {"level": 0.95, "note": "2 prompts: too few for numbers"},
        ],
        "board_pairs": [
            {"measure": "q", "family": "all", "slice": "all", "entry": "alpha", "other": "beta", "difference": 0.5}
            | {"low": 0.1, "high": 0.9, "p": 0.01, "separated": True, "fragile_prompts": 3}
        ],
        "claims": [
            {"claim": "alpha is better than beta (q)", "kind": "better", "measure": "q", "entry": "alpha"}
            | {"other": "beta", "threshold": 0.0, "estimate": 0.5, "bound": 0.2, "verdict": "holds"}
        ],
        "utilities": [
            {"entry": "alpha", "pareto": True, "surely_dominated": False, "wins": 1.0, "lead": 0.5}
            | {"best_weights": '{"q": 1.0}'}
        ],
        "board_agreement": [
            {"measure": "sharpness", "people": "q", "kendall": 1.0, "entries": 2, "misordered": 0}
            | {"words": "sharpness has the entries in the same order as people"}
        ],
        "board_marks": [
            {
                "check": "overfitting",
                "measure": "q",
                "entry": "alpha",
                "estimate": 0.1,
                "p": 0.4,
                "p_adjusted": 0.8,
            }
            | {"raised": False, "words": "no evidence that alpha is overfitted to the public prompts"},
            {"check": "stated", "measure": "q", "entry": "beta", "raised": True, "words": "q of beta is stated"},
        ],
        "board_powered": [
            {"measure": "q", "scorer": "sharpness", "entry": "alpha", "value": 1.5, "low": 1.2, "high": 1.8}
            | {"people_value": 1.4, "tuning": 0.5, "level": 0.95, "prompts": 30, "raters": 5}
            | {"further_prompts": 90, "chosen": True}
        ],
        "board_costs": [
            {"measure": "seconds per image", "entry": "alpha", "value": 1.5, "level": 0.95, "prompts": 1}
            | {"images": 1, "rank_low": 1, "rank_high": 1}
        ],
        "dose_responses": [
            {"setting": "steps", "measure": "q", "source": "people", "slope": 0.5, "level": 0.95, "prompts": 30}
            | {"raters": 5, "words": "q changes by +0.50 standard deviations"}
        ],
        "dose_steps": [
            {"setting": "steps", "measure": "q", "entry": "alpha", "dose": 10.0, "value": 1.5, "detected": False}
        ],
        "curves": [
            {"measure": "q", "contrast": "value", "prompts": 30, "raters": 5, "half_width": 0.5}
            | {"low": 0.4, "high": 0.7, "now": True}
        ],
        "audits": [
            {"audit": "slice-gap", "number": 0, "subject": "alpha", "measure": "q", "slice": "tag: count"}
            | {"figure": -0.5, "low": -0.8, "high": -0.2, "level": 0.95, "severity": "problem", "finding": "worse"}
        ],
        "audit_profiles": [
            {"profile": "artist", "entry": "alpha", "utility": 1.0, "se": 0.1, "chance_best": 0.9}
            | {"weights": '{"q": 1.0}', "left_out": "[]"}
        ],
        "changes": [
            {"improvement": "mended", "change": "c1", "method": "repair", "image": "i2", "before": "images/i2.png"}
            | {"after": "improvements/mended/after/0000.png", "kept": True, "reason": "better by the margin"}
        ],
        "gains": [
            {
                "improvement": "mended",
                "step": "",
                "measure": "own",
                "name": "sharpness",
                "gain": 0.1,
                "level": 0.95,
            }
            | {"level": 0.95, "method": "t over prompts", "images": 1, "prompts": 1}
        ],
        "alarms": [
            {"improvement": "mended", "step": 10, "watch": "diversity", "value": 0.5, "raised": False}
            | {"sentence": "Diversity is what it was."}
        ],
        "proofs": [
            {"improvement": "mended", "comparison": "after against before", "method": "t", "net": 0.35}
            | {"much_better": 129, "better": 182, "same": 188, "worse": 76, "much_worse": 25, "level": 0.95}
            | {"raters": 6, "prompts": 100, "simulated": False}
        ],
    }
    return {name: TABLES[name].frame(rows[name]) for name in TABLES}
