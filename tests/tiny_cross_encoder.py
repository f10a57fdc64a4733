"""A real cross-encoder small enough to be computed by hand, as a folder that a user would give."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def write_cross_encoder(
    folder: Path, weights: Mapping[str, float], *, outputs: int = 1, typed: bool = True
) -> Path:
    """Write model.onnx and tokenizer.json; return the folder.

    The score of a pair is the sum, over each word of the question and each same word of the text,
    of the word's weight; words without one count nothing. With `outputs` 2 the network is a
    classifier that answers the score twice; 0 leaves out the axis. Unless `typed`, the network
    does not ask which of the two texts a token is of, and counts pairs within them too.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: id for id, word in enumerate((*_SPECIAL, *weights))}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))

    nodes = [
        helper.make_node("Gather", ["weights", "input_ids"], ["weight"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
    ]
    inputs = ["input_ids", "attention_mask"]
    if typed:
        inputs.append("token_type_ids")
        nodes += [
            helper.make_node("Cast", ["token_type_ids"], ["type"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["mask", "type"], ["of_text"]),
            helper.make_node("Sub", ["mask", "of_text"], ["of_question"]),
        ]
    else:
        nodes += [
            helper.make_node("Identity", ["mask"], ["of_text"]),
            helper.make_node("Identity", ["mask"], ["of_question"]),
        ]
    nodes += [
        helper.make_node("Mul", ["weight", "of_question"], ["asked"]),
        helper.make_node("Unsqueeze", ["asked", "two"], ["asked_column"]),
        helper.make_node("Unsqueeze", ["of_text", "one"], ["text_row"]),
        helper.make_node("Unsqueeze", ["input_ids", "two"], ["ids_column"]),
        helper.make_node("Unsqueeze", ["input_ids", "one"], ["ids_row"]),
        helper.make_node("Equal", ["ids_column", "ids_row"], ["same"]),
        helper.make_node("Cast", ["same"], ["same_number"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["asked_column", "text_row"], ["pairs"]),
        helper.make_node("Mul", ["pairs", "same_number"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "both"], ["score"], keepdims=0),
    ]
    if outputs:
        nodes.append(helper.make_node("Unsqueeze", ["score", "one"], ["column"]))
        nodes.append(helper.make_node("Concat", ["column"] * outputs, ["logits"], axis=1))
    shape: list[str | int | None] = ["batch", outputs] if outputs else ["batch"]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "n"]) for name in inputs],
        [helper.make_tensor_value_info("logits" if outputs else "score", TensorProto.FLOAT, shape)],
        [
            numpy_helper.from_array(
                np.array([0.0] * len(_SPECIAL) + list(weights.values()), np.float32), "weights"
            ),
            numpy_helper.from_array(np.array([1]), "one"),
            numpy_helper.from_array(np.array([2]), "two"),
            numpy_helper.from_array(np.array([1, 2]), "both"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    checker.check_model(model)
    save(model, str(folder / "model.onnx"))
    return folder
