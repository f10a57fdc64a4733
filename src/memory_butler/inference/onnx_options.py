"""How ONNX Runtime runs each of our networks, and what its errors say."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnxruntime import SessionOptions


def session_options(threads: int) -> "SessionOptions":
    """Options of a session on so many threads. The first call loads the runtime (about 0.2 s).

    Since 1.31 the runtime sends telemetry over the network, and keeps an id of the
    device in the user's cache. It reads whether it may as it is loaded, and never again.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    # Here and not above: a command that computes nothing should not wait for it, nor hold it.
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # A thread that waits by spinning takes the core from the database for up to 20 ms a text.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def first_line(error: Exception) -> str:
    """What an error of the runtime says: some are bare, some go on for pages."""
    return next(iter(str(error).splitlines()), type(error).__name__)
