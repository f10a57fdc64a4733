"""Write the computation graphs of all-MiniLM-L6-v2 without its weights, and its test vectors.

    .venv/bin/python tools/make_minilm_graph.py [--weights FILE] [--output FOLDER]

`minilm.onnx` computes in float32, `minilm_int8.onnx` multiplies by the 8-bit weights that
`inference/eight_bits.py` makes, and `minilm_reference.npy` has the vectors of its TEST_TEXTS.

A graph is about 30 kB. Each of its weight tensors is a reference (file name, offset, length) into
the model's `model.safetensors`, so only the header of that file is read here, and the weights are
never copied or converted; those in 8 bits have a name alone, and whoever loads the graph gives
them. Architecture: BERT (arXiv:1810.04805) with 6 layers, then the mean over
the tokens and division by the length of the vector, as the model's own `modules.json` asks.

Inputs `input_ids` and `attention_mask`, int64 (batch, tokens); output `sentence_embedding`,
float32 (batch, 384), unit vectors. All operators of `minilm.onnx` are of the ONNX standard: any
runtime will do. The other has one of ONNX Runtime, MatMulIntegerToFloat.
"""

import argparse
import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from memory_butler.inference.eight_bits import LAYERS, LEVELS, QUANTISED, TEST_TEXTS, ZERO_POINT
from memory_butler.inference.minilm import GRAPHS, EmbeddingEngine
from memory_butler.inference.model_files import WEIGHTS_FILE, find_model_files

OUTPUT = Path(__file__).parents[1] / "src" / "memory_butler" / "inference"

# The shape of the network: config.json of sentence-transformers/all-MiniLM-L6-v2.
HEADS = 12
HIDDEN = 384
HEAD_WIDTH = HIDDEN // HEADS
LAYER_NORM_EPSILON = 1e-12

# Added to the scores of padding. The lowest finite float, as PyTorch uses: an infinity would turn a
# row in which everything is masked into NaN.
MASKED_SCORE = float(np.finfo(np.float32).min)
# Floors of the two divisions at the end, as in sentence-transformers and torch normalize().
TOKEN_COUNT_FLOOR = 1e-9
NORM_FLOOR = 1e-12
# Keeps a token of nothing but zeros from being divided by zero.
LARGEST_FLOOR = 1e-9

OPSET = 20  # the first with Gelu
IR_VERSION = 9  # the one that came with opset 20
RUNTIME_DOMAIN = "com.microsoft"


class Graph:
    """Collects nodes and tensors; every method that adds one returns the name of its output."""

    def __init__(self, weights: Path, eight_bits: frozenset[str] = frozenset()) -> None:
        """`eight_bits` names the products whose weights are quantised."""
        self.eight_bits = eight_bits
        self.levels: dict[str, tuple[str, str]] = {}
        self.nodes: list[NodeProto] = []
        self.tensors: dict[str, TensorProto] = {}
        self._header, self._data_start = read_safetensors_header(weights)

    def node(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, name: str, value: npt.ArrayLike, dtype: npt.DTypeLike) -> str:
        self.tensors[name] = numpy_helper.from_array(np.asarray(value, dtype), name)
        return name

    def integers(self, *values: int) -> str:
        return self.constant("ints_" + "_".join(map(str, values)), values, np.int64)

    def scalar(self, name: str, value: float) -> str:
        return self.constant(name, value, np.float32)

    def weight(self, name: str) -> str:
        """Refer to a tensor of the safetensors file; the graph holds its place, not its numbers."""
        if name not in self.tensors:
            entry = self._header[name]
            if entry["dtype"] != "F32":
                raise ValueError(f"{name} is {entry['dtype']}; this graph is for float32 weights")
            begin, end = entry["data_offsets"]
            tensor = TensorProto(
                name=name,
                data_type=TensorProto.FLOAT,
                dims=entry["shape"],
                data_location=TensorProto.EXTERNAL,
            )
            place = {
                "location": WEIGHTS_FILE,
                "offset": str(self._data_start + begin),
                "length": str(end - begin),
            }
            for key, value in place.items():
                tensor.external_data.add(key=key, value=value)
            self.tensors[name] = tensor
        return name

    def given(self, name: str, data_type: int, *dims: int) -> str:
        """Refer to a tensor that whoever loads the graph gives."""
        tensor = TensorProto(
            name=name, data_type=data_type, dims=dims, data_location=TensorProto.EXTERNAL
        )
        tensor.external_data.add(key="location", value="given")
        self.tensors[name] = tensor
        return name

    def dimensions(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor of the safetensors file."""
        return tuple(self._header[name]["shape"])


def read_safetensors_header(path: Path) -> tuple[dict[str, Any], int]:
    """Return the header (tensor name to dtype, shape, data_offsets) and where the tensors begin.

    Format: 8 bytes little-endian length, that many bytes of JSON, then the tensors.
    """
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length)), 8 + length


def linear(graph: Graph, x: str, name: str) -> str:
    """x Wᵀ + b. PyTorch keeps W as (out, in); the runtime folds the transposition at load."""
    if name in graph.eight_bits:
        product = eight_bit_product(graph, x, name)
    else:
        transposed = graph.node("Transpose", graph.weight(f"{name}.weight"), perm=[1, 0])
        product = graph.node("MatMul", x, transposed)
    return graph.node("Add", product, graph.weight(f"{name}.bias"))


def eight_bit_product(graph: Graph, x: str, name: str) -> str:
    """x Wᵀ from 8-bit weights and 8-bit tokens: whole numbers, scaled by output and by token."""
    step = graph.scalar("step", 1 / LEVELS)
    zero = graph.constant("zero_point", ZERO_POINT, np.uint8)
    levels, largest = by_token(graph, x, step, zero)
    out, within = graph.dimensions(f"{name}.weight")
    product = graph.node(
        "MatMulIntegerToFloat",
        levels,
        graph.given(f"{name}.levels", TensorProto.UINT8, within, out),
        step,
        graph.given(f"{name}.scales", TensorProto.FLOAT, out),
        zero,
        zero,
        domain=RUNTIME_DOMAIN,
    )
    return graph.node("Mul", product, largest)


def by_token(graph: Graph, x: str, step: str, zero: str) -> tuple[str, str]:
    """Each token divided by its largest number, as bytes; and these numbers (batch, tokens, 1).

    Made once for all products that take the same x.
    """
    if x not in graph.levels:
        largest = graph.node("ReduceMax", graph.node("Abs", x), graph.integers(-1), keepdims=1)
        largest = graph.node("Max", largest, graph.scalar("largest_floor", LARGEST_FLOOR))
        levels = graph.node("QuantizeLinear", graph.node("Div", x, largest), step, zero)
        graph.levels[x] = levels, largest
    return graph.levels[x]


def layer_norm(graph: Graph, x: str, name: str) -> str:
    return graph.node(
        "LayerNormalization",
        x,
        graph.weight(f"{name}.weight"),
        graph.weight(f"{name}.bias"),
        axis=-1,
        epsilon=LAYER_NORM_EPSILON,
    )


def embeddings(graph: Graph) -> str:
    """Word + position + token type (always type 0: one sentence, never a pair)."""
    first = graph.integers(0)
    second = graph.integers(1)
    token_count = graph.node(
        "Slice", graph.node("Shape", "input_ids"), second, graph.integers(2), first
    )
    words = graph.node("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    positions = graph.node(
        "Slice", graph.weight("embeddings.position_embeddings.weight"), first, token_count, first
    )
    token_type = graph.node(
        "Slice", graph.weight("embeddings.token_type_embeddings.weight"), first, second, first
    )
    total = graph.node("Add", words, token_type)
    total = graph.node("Add", total, graph.node("Unsqueeze", positions, first))
    return layer_norm(graph, total, "embeddings.LayerNorm")


def attention_bias(graph: Graph, mask: str) -> str:
    """(batch, 1, 1, tokens): 0 for tokens, MASKED_SCORE for padding."""
    mask = graph.node("Unsqueeze", mask, graph.integers(1, 2))
    padding = graph.node("Sub", graph.scalar("one", 1.0), mask)
    return graph.node("Mul", padding, graph.scalar("masked_score", MASKED_SCORE))


def self_attention(graph: Graph, x: str, bias: str, name: str) -> str:
    """Scaled dot-product attention; x and the result are (batch, tokens, HIDDEN)."""
    split = graph.integers(0, 0, HEADS, HEAD_WIDTH)  # 0 keeps the input's dimension

    def heads(part: str, perm: Sequence[int]) -> str:
        projected = linear(graph, x, f"{name}.{part}")
        return graph.node("Transpose", graph.node("Reshape", projected, split), perm=perm)

    query = heads("query", [0, 2, 1, 3])
    key_transposed = heads("key", [0, 2, 3, 1])
    value = heads("value", [0, 2, 1, 3])
    scores = graph.node("MatMul", query, key_transposed)
    scores = graph.node("Mul", scores, graph.scalar("attention_scale", HEAD_WIDTH**-0.5))
    shares = graph.node("Softmax", graph.node("Add", scores, bias), axis=-1)
    mixed = graph.node("Transpose", graph.node("MatMul", shares, value), perm=[0, 2, 1, 3])
    return graph.node("Reshape", mixed, graph.integers(0, 0, HIDDEN))


def encoder_layer(graph: Graph, x: str, bias: str, name: str) -> str:
    """Attention, then the feed-forward part; each is added to its input, then normalised."""
    attended = self_attention(graph, x, bias, f"{name}.attention.self")
    attended = linear(graph, attended, f"{name}.attention.output.dense")
    x = layer_norm(graph, graph.node("Add", attended, x), f"{name}.attention.output.LayerNorm")
    widened = graph.node("Gelu", linear(graph, x, f"{name}.intermediate.dense"))
    narrowed = linear(graph, widened, f"{name}.output.dense")
    return layer_norm(graph, graph.node("Add", narrowed, x), f"{name}.output.LayerNorm")


def mean_of_tokens(graph: Graph, x: str, mask: str) -> str:
    """The mean over the tokens that are not padding: (batch, HIDDEN)."""
    token_axis = graph.integers(1)
    mask = graph.node("Unsqueeze", mask, graph.integers(-1))
    total = graph.node("ReduceSum", graph.node("Mul", x, mask), token_axis, keepdims=0)
    count = graph.node("ReduceSum", mask, token_axis, keepdims=0)
    count = graph.node("Max", count, graph.scalar("token_count_floor", TOKEN_COUNT_FLOOR))
    return graph.node("Div", total, count)


def unit_length(graph: Graph, x: str) -> str:
    norm = graph.node("ReduceL2", x, graph.integers(-1), keepdims=1)
    norm = graph.node("Max", norm, graph.scalar("norm_floor", NORM_FLOOR))
    return graph.node("Div", x, norm, output="sentence_embedding")


def build(weights: Path, eight_bits: frozenset[str] = frozenset()) -> ModelProto:
    """Return the whole model, its weights referring to a file named WEIGHTS_FILE.

    Those of the products in `eight_bits` refer to no file: they must be given.
    """
    graph = Graph(weights, eight_bits)
    mask = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    bias = attention_bias(graph, mask)
    x = embeddings(graph)
    for layer in range(LAYERS):
        x = encoder_layer(graph, x, bias, f"encoder.layer.{layer}")
    unit_length(graph, mean_of_tokens(graph, x, mask))

    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info(
        "sentence_embedding", TensorProto.FLOAT, ["batch", HIDDEN]
    )
    body = helper.make_graph(
        graph.nodes, "all-MiniLM-L6-v2", inputs, [output], list(graph.tensors.values())
    )
    opsets = [helper.make_opsetid("", OPSET)]
    if eight_bits:
        opsets.append(helper.make_opsetid(RUNTIME_DOMAIN, 1))
    return helper.make_model(body, opset_imports=opsets, ir_version=IR_VERSION)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the weightless ONNX graphs of MiniLM.")
    parser.add_argument("--weights", type=Path, help="model.safetensors (default: the installed)")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    weights = arguments.weights or find_model_files().weights
    graphs = {GRAPHS["float32"]: build(weights), GRAPHS["int8"]: build(weights, QUANTISED)}
    for name, model in graphs.items():
        data = model.SerializeToString(deterministic=True)
        path = arguments.output / name
        path.write_bytes(data)
        print(f"{path}: {len(data)} bytes, {len(model.graph.node)} nodes")
    np.save(
        arguments.output / "minilm_reference.npy",
        EmbeddingEngine(weights.parent).embed_arrays(TEST_TEXTS),
    )


if __name__ == "__main__":
    main()
