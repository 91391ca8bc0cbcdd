"""The statistics of all stages in 8-bit integers, by onnxruntime: quantised statically, each channel by itself.

Needs ``onnxruntime`` and ``onnx``, which beholder does not depend on. The ranges of activations are those of
calibration images; means and standard deviations of the maps stay in floating point.
"""

import tempfile
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path

import numpy as np
import onnxruntime as ort
import torch
from numpy.typing import NDArray
from onnxruntime.quantization import (
    CalibrationDataReader,
    CalibrationMethod,
    QuantFormat,
    QuantType,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process

Pixels = NDArray[np.float32]
Forward = Callable[[Pixels], NDArray[np.float32]]
BATCH = 4
QUANTISED = ["Conv", "Add", "Clip"]
"""With convolutions alone, the ranges before and after each of the others would not match."""


class Calibration(CalibrationDataReader):  # type: ignore[misc]
    """Batches of calibration images, each once."""

    def __init__(self, pixels: Pixels) -> None:
        self._batches: Iterator[Pixels] = (pixels[at : at + BATCH] for at in range(0, len(pixels), BATCH))

    def get_next(self) -> dict[str, Pixels] | None:
        pixels = next(self._batches, None)
        return None if pixels is None else {"pixels": pixels}


def by_onnxruntime(module: torch.nn.Module, example: Pixels, calibration: Pixels | None) -> Forward:
    """The module on one core by onnxruntime: in 8-bit integers, or as it is without calibration images."""
    with tempfile.TemporaryDirectory() as folder:
        exported, prepared, quantised = (
            Path(folder) / f"{name}.onnx" for name in ("exported", "prepared", "int8")
        )
        torch.onnx.export(
            deepcopy(module).to(memory_format=torch.contiguous_format),  # type: ignore[call-overload]
            (torch.from_numpy(example),),
            str(exported),
            input_names=["pixels"],
            output_names=["vectors"],
            dynamic_axes={"pixels": {0: "images"}, "vectors": {0: "images"}},
            dynamo=False,
        )
        if calibration is not None:
            quant_pre_process(str(exported), str(prepared), skip_symbolic_shape=True)
            quantize_static(
                str(prepared),
                str(quantised),
                Calibration(calibration),
                quant_format=QuantFormat.QDQ,
                per_channel=True,
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
                calibrate_method=CalibrationMethod.MinMax,
                op_types_to_quantize=QUANTISED,
            )
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        file = exported if calibration is None else quantised
        session = ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])

    def forward(pixels: Pixels) -> NDArray[np.float32]:
        vectors: NDArray[np.float32] = session.run(None, {"pixels": pixels})[0]
        return vectors

    return forward
