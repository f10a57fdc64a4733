"""The pictures of a conversation, kept in the journal's own file: sealed, backed up and erased as
the messages are that they came with.

A message names its picture in `image_path`: `picture:` and a random number, the key of its row.
Paths of other forms are what a program or an import has written; nothing is read from them. An
import that brings a picture along keeps its name, so that the same message is known again.
"""

import base64
import hashlib
import re
import sqlite3
from datetime import datetime
from typing import Final
from uuid import uuid4

from memory_butler.domain.errors import InvalidInput
from memory_butler.inference.language_models.port import Picture
from memory_butler.journal import state

# With base64 and the rest of a request below the 5 MB that providers take of one picture.
MAX_BYTES: Final = 3_500_000
PREFIX: Final = "picture:"
_NAME: Final = re.compile(rf"{PREFIX}[0-9a-f]{{32}}")

# What every model that sees can read, by the first bytes; what a file is called decides nothing.
_SIGNATURES: Final = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def picture_of(data: bytes) -> Picture:
    """Bytes as a picture.

    Raises:
        InvalidInput: too many, or no PNG, JPEG, WebP or GIF.
    """
    if len(data) > MAX_BYTES:
        raise InvalidInput(
            f"a picture may have {MAX_BYTES:,} bytes, not {len(data):,}; make it smaller"
        )
    for signature, media_type in _SIGNATURES.items():
        if data.startswith(signature):
            return Picture(media_type, data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return Picture("image/webp", data)
    raise InvalidInput("models cannot read this picture; send a PNG, JPEG, WebP or GIF")


def picture_from(text: str) -> Picture:
    """A picture from base64, with or without what `data:` URLs begin with.

    Raises:
        InvalidInput: as `picture_of`, or it is no base64.
    """
    encoded = text.partition(",")[2] if text.startswith("data:") else text
    try:
        data = base64.b64decode(encoded, validate=True)
    except ValueError:
        raise InvalidInput("the picture is no base64; example: iVBORw0KGgo…") from None
    return picture_of(data)


def keep(db: sqlite3.Connection, picture: Picture, at: datetime) -> str:
    """Keep a picture; the `image_path` of its message."""
    path = f"{PREFIX}{uuid4().hex}"
    keep_as(db, picture, path, at)
    return path


def named(picture: Picture, image_path: str | None) -> str:
    """The `image_path` of an imported picture: its own, or one that follows from what it shows."""
    if image_path is not None and _NAME.fullmatch(image_path):
        return image_path
    return f"{PREFIX}{hashlib.sha256(picture.data).hexdigest()[:32]}"


def keep_as(db: sqlite3.Connection, picture: Picture, path: str, at: datetime) -> None:
    """Keep a picture under a name.

    Raises:
        InvalidInput: another picture has it.
    """
    encoded = base64.b64encode(picture.data).decode()
    if state.get(db, path) not in (None, encoded):
        raise InvalidInput(f"another picture of this journal is named {path}")
    state.put(db, path, encoded, at)


def get(db: sqlite3.Connection, image_path: str | None) -> Picture | None:
    """The picture that a message names, or None: there is none, or it lies elsewhere."""
    if image_path is None or not image_path.startswith(PREFIX):
        return None
    text = state.get(db, image_path)
    return picture_of(base64.b64decode(text)) if text else None
