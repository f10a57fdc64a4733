"""The pictures of a conversation, kept in the journal's own file: sealed, backed up and erased as
the messages are that they came with.

A message names its picture in `image_path`: `picture:` and a random number, the key of its row.
Paths of other forms are what a program or an import has written; nothing is read from them.
"""

import base64
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
    state.put(db, path, base64.b64encode(picture.data).decode(), at)
    return path


def get(db: sqlite3.Connection, image_path: str | None) -> Picture | None:
    """The picture that a message names, or None: there is none, or it lies elsewhere."""
    if image_path is None or not image_path.startswith(PREFIX):
        return None
    text = state.get(db, image_path)
    return picture_of(base64.b64decode(text)) if text else None
