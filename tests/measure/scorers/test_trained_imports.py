"""What scoring by a trained model imports: transformers takes seconds, and not every model needs it."""

import subprocess
import sys


def test_a_model_of_the_image_alone_does_not_import_transformers() -> None:
    code = (
        "import sys, beholder.cli.score, beholder.measure.scorers.trained, beholder.models.realism; "
        "print('transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_a_two_tower_model_does_not_load_the_networks_of_other_encoders() -> None:
    code = (
        "import sys, beholder.models.preference.two_tower; "
        "print([name for name in sys.modules if 'modeling_dinov2' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
