"""The folder of a demonstration: a mark tells a server, and who serves it again, what it is."""

from pathlib import Path

from memory_butler.domain.errors import InvalidInput

_MARK = "demonstration"


def is_demo(data_dir: Path | None) -> bool:
    """Whether a data directory holds a demonstration, told to its end."""
    return data_dir is not None and (data_dir / _MARK).is_file()


def mark(data_dir: Path) -> None:
    """Note that the data directory holds a demonstration; its dashboard then offers the tour."""
    (data_dir / _MARK).write_text("Made by memory-butler demo.\n", encoding="utf-8")


def refuse_other(data_dir: Path) -> None:
    """Refuse a folder that holds something else, such as the memory that one lives with.

    Raises:
        InvalidInput: it is not empty and holds no demonstration, or it is no folder.
    """
    if data_dir.exists() and not data_dir.is_dir():
        raise InvalidInput(f"{data_dir} is not a folder; name a new one with --keep")
    if data_dir.is_dir() and any(data_dir.iterdir()) and not is_demo(data_dir):
        raise InvalidInput(
            f"{data_dir} is not empty and holds no complete demonstration; name a new folder "
            "with --keep, or delete this one"
        )
