"""A `butler.toml`: which file it is, what its tables hold, and on which line each key stands."""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory_butler.domain.errors import ConfigurationError

FILE_NAME: Final = "butler.toml"
FILE_VARIABLE: Final = "MEMORY_BUTLER_CONFIG"
# Of a file that people write; each line costs one attempt to parse what stands above it.
_MAX_LINES: Final = 2_000


@dataclass(frozen=True, slots=True)
class ButlerToml:
    """A file that was read; `tables` is all that it says."""

    path: Path
    text: str
    tables: Mapping[str, Any]

    def table(self, *keys: str) -> Mapping[str, Any]:
        """The table at these keys; a missing one is empty.

        Raises:
            ConfigurationError: something else than a table stands there.
        """
        found: Any = self.tables
        for depth, key in enumerate(keys, 1):
            found = found.get(key, {})
            if not isinstance(found, Mapping):
                name = ".".join(keys[:depth])
                raise ConfigurationError(
                    self.complaint(keys[:depth], f"{name} must be a table: [{name}]")
                )
        return found  # type: ignore[no-any-return]

    def complaint(self, keys: tuple[str, ...], said: str) -> str:
        """What is wrong, with the file and the line of the key, or of the table that lacks it."""
        line = next(
            (found for size in range(len(keys), 0, -1) if (found := self.line_of(keys[:size]))),
            None,
        )
        return f"{self.path}{'' if line is None else f', line {line}'}: {said}"

    def line_of(self, keys: tuple[str, ...]) -> int | None:
        """The line on which these keys are first given, counted from 1.

        Asked of the parser itself: it is the line after the last beginning of the file that is
        valid TOML and does not have the keys yet.
        """
        before = 0
        for size, beginning in self._beginnings():
            if has(beginning, keys):
                return before + 1
            before = size
        return None

    def _beginnings(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        lines = self.text.splitlines(keepends=True)[:_MAX_LINES]
        for size in range(1, len(lines) + 1):
            try:
                yield size, tomllib.loads("".join(lines[:size]))
            except tomllib.TOMLDecodeError:
                continue  # it ends within a value of several lines


def named(file: Path | None) -> Path | None:
    """The file that is meant: this one, else that of `MEMORY_BUTLER_CONFIG`, else `./butler.toml`.

    Raises:
        ConfigurationError: the file was named, but is not there.
    """
    variable = os.environ.get(FILE_VARIABLE)
    named = file or (Path(variable) if variable else None)
    if named is None:
        local = Path(FILE_NAME)
        return local if local.is_file() else None
    if not named.is_file():
        raise ConfigurationError(f"no such configuration file: {named}")
    return named


def read(path: Path) -> ButlerToml:
    """Read a file.

    Raises:
        ConfigurationError: it cannot be read or is not TOML; the message names the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
        return ButlerToml(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        # The parser gives no line where the text ends too early.
        last = len(text.rstrip().splitlines())
        told = str(error).replace("(at end of document)", f"(at the end, after line {last})")
        raise ConfigurationError(f"{path} is not valid TOML: {told}") from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}") from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from None


def has(table: Mapping[str, Any], keys: tuple[str, ...]) -> bool:
    """Whether something is given at these keys."""
    found: Any = table
    for key in keys:
        if isinstance(found, list):  # an element of an array stands where the array does
            return True
        if not isinstance(found, Mapping) or key not in found:
            return False
        found = found[key]
    return True
