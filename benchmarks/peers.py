"""torch-fidelity, clean-fid and hpsv2x, which import torchvision, for benchmarks alone.

They lie in ``peers`` within the environment (``make bench`` puts them there), which no other program looks into:
where torchvision can be imported, transformers imports it too, and torchvision 0.28 from the index stops with
``operator torchvision::nms does not exist`` beside the torch for CPUs. Importing this file defines the operators
that torchvision looks for, and makes the folder known.
"""

import sys
from pathlib import Path

import torch

PLACE = Path(sys.prefix) / "peers"
MISSING = f"the packages to compare with are not in {PLACE.name}/ of the environment; `make bench` puts them there"

_library = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]
for _name in ("nms", "qnms"):
    if not hasattr(torch.ops.torchvision, _name):
        _library.define(f"{_name}(Tensor boxes, Tensor scores, float threshold) -> Tensor")  # type: ignore[no-untyped-call]
if not PLACE.is_dir():
    raise SystemExit(MISSING)
sys.path.append(str(PLACE))
