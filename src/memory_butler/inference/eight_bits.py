"""The embedding model with 8-bit weights: what is quantised, how, and where it is worth it.

The matrices are made from the float32 weights whenever the model is loaded, in 0.1 s, so there is
no second file of weights that could be old, damaged or half written. `minilm_int8.onnx` is the
network that takes them (tools/make_minilm_graph.py). It quantises what goes into each product by
token, so that a vector depends on its text alone: one scale for a whole batch, as
`onnxruntime.quantization` makes it, would let a text change the vectors of its neighbours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from memory_butler.inference.embedder import Vectors

Precision = Literal["float32", "int8"]
PrecisionChoice = Literal["auto", "float32", "int8"]

LAYERS: Final = 6
# The products of each layer that may have 8-bit weights. Those of the values do not: they alone
# took as much of the agreement with float32 as all others together (mean cosine over 200 turns
# 0.9964 with them, 0.9983 without).
_PARTS: Final = (
    "attention.self.query",
    "attention.self.key",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
# The one other product whose loss stood out: the smallest cosine is 0.984 with it, 0.991 without.
_KEPT: Final = "encoder.layer.4.intermediate.dense"
QUANTISED: Final = frozenset(
    name
    for layer in range(LAYERS)
    for part in _PARTS
    if (name := f"encoder.layer.{layer}.{part}") != _KEPT
)

LEVELS: Final = 127  # on each side of 0
# What stands for 0. Both factors are bytes without a sign: without VNNI, x86 cuts sums of products
# of signed ones off at 16 bits, and with it, the runtime multiplies both kinds alike.
ZERO_POINT: Final = 128

# Below this the processor is taken not to compute what it should.
AGREEMENT: Final = 0.99
# What `minilm_reference.npy` has the float32 vectors of, float32 (6, 384), in this order.
TEST_TEXTS: Final = (
    "Where did we leave the key of the summer house?",
    "Anna prefers tea without sugar; coffee only on Sundays, and never after four.",
    "def area(width: float, height: float) -> float: return width * height",
    "Das Treffen wurde auf Donnerstag, den 14. März, um 9:30 Uhr verschoben.",
    "yes",
    "The meeting notes say that the budget was cut by 12.5 %, that hiring waits until autumn, and "
    "that the two teams share one room from Monday on. Nobody objected, although the question of "
    "the second printer was left open again, as it had been in May, in June and in July.",
)

_CPU_INFO: Final = Path("/proc/cpuinfo")
_GAINING: Final = "avx2"  # what has VNNI has it, too


@dataclass(frozen=True, slots=True)
class Running:
    """The precision in which a model runs, and for people: why."""

    precision: Precision
    reason: str
    # 8 bits were to be used, and failed the comparison with float32.
    refused: bool = False


def preferred(choice: PrecisionChoice, cpu_info: Path = _CPU_INFO) -> Running:
    """Return what to run before it is tested: always the same on one machine.

    `auto` takes 8 bits on x86 with AVX2, as Linux lists it. Other processors were not measured, and
    get float32.
    """
    if choice != "auto":
        return Running(choice, "set so")
    try:
        flags = next(
            (line for line in cpu_info.read_text().splitlines() if line.startswith("flags")), ""
        )
    except OSError:
        flags = ""
    if _GAINING not in flags.split():
        return Running("float32", "this processor is not known to gain from 8 bits")
    return Running("int8", "this processor has AVX2 instructions")


def quantised(weight: "Vectors") -> "tuple[npt.NDArray[np.uint8], Vectors]":
    """Return a matrix as the runtime multiplies by it: uint8 (in, out), scales float32 (out,).

    `weight` is float32 (out, in), as PyTorch keeps it. Each output has a scale of its own, by which
    its largest weight becomes LEVELS.
    """
    import numpy as np

    scales = np.maximum(weight.max(axis=1), -weight.min(axis=1)) / np.float32(LEVELS)
    levels = weight / scales[:, np.newaxis]
    np.rint(levels, out=levels)
    levels += ZERO_POINT
    return np.ascontiguousarray(levels.astype(np.uint8).T), scales


def eight_bit_weights(tensors: "Mapping[str, Vectors]") -> "dict[str, npt.NDArray[np.generic]]":
    """Return what the graph is given: `NAME.levels` and `NAME.scales` for each of QUANTISED."""
    found: dict[str, npt.NDArray[np.generic]] = {}
    for name in sorted(QUANTISED):
        found[f"{name}.levels"], found[f"{name}.scales"] = quantised(tensors[f"{name}.weight"])
    return found


def agreement(vectors: "Vectors") -> float:
    """Return the smallest cosine of the vectors of TEST_TEXTS to those of float32; NaN is 0."""
    import numpy as np

    with (
        resources.files("memory_butler.inference")
        .joinpath("minilm_reference.npy")
        .open("rb") as file
    ):
        expected = np.load(file)
    return float(np.nan_to_num(np.sum(vectors * expected, axis=1)).min())
