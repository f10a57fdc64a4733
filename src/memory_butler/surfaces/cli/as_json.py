"""Answers as JSON on standard output, for programs."""

import codecs
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel


def print_json(answer: "BaseModel | dict[str, Any]") -> None:
    """Exactly what was answered.

    JSON is UTF-8. Where standard output has another encoding, as of another locale, it is ASCII,
    which reads the same in all of them.
    """
    escaped = codecs.lookup(sys.stdout.encoding or "utf-8").name != "utf-8"
    if isinstance(answer, dict):
        print(json.dumps(answer, indent=2, ensure_ascii=escaped))
    else:
        print(answer.model_dump_json(indent=2, ensure_ascii=escaped))
