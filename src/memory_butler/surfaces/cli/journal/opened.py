"""What the journal's commands share: which companion, and which model."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_butler.domain.errors import InvalidInput, NotFound
from memory_butler.domain.principals import DEFAULT_TENANT
from memory_butler.domain.standpoint import standpoint
from memory_butler.surfaces.cli import moments
from memory_butler.surfaces.cli.place import Place

if TYPE_CHECKING:
    from memory_butler.companions.opening import Companion
    from memory_butler.config import Settings
    from memory_butler.inference.embedder import Embedder
    from memory_butler.inference.language_models.port import LanguageModel

Whose = Annotated[
    str, typer.Option("--companion", metavar="NAME", help="Which companion's journal.")
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="MODEL", help="As in the configuration: anthropic:…, ollama:…, cli:…"
    ),
]
Script = Annotated[
    Path | None,
    typer.Option(
        "--script",
        metavar="FILE",
        help="Instead of a model: its replies, divided by lines of three dashes.",
    ),
]
KnownAt = Annotated[
    str | None,
    typer.Option(
        "--known-at", metavar="TIME", help="As it was known then; left out, as it is known now."
    ),
]
DEFAULT = "default"


def typed(command: str, place: Place, whose: str) -> str:
    """A further command for the same companion, as one types it."""
    options = [f"--companion {whose}"] if whose != DEFAULT else []
    options += [f"--tenant {place.tenant}"] if place.tenant != DEFAULT_TENANT else []
    return " ".join(["memory-butler", "journal", command, *options])


@contextmanager
def companion(
    place: Place,
    name: str,
    settings: "Settings | None" = None,
    *,
    create: bool = False,
    known_at: str | None = None,
) -> "Iterator[Companion]":
    """The journal that a command is about."""
    from memory_butler.companions.opening import opened
    from memory_butler.engine.keys import KeysWhenAsked
    from memory_butler.journal.live import utc_now

    now = utc_now()
    seen = None if known_at is None else standpoint(_moment(known_at, now), None, now)

    settings = settings or place.settings()
    if not create:
        require_installation(settings)
    with opened(
        settings.data_dir,
        place.principal().tenant,
        name,
        settings.memory.journal,
        KeysWhenAsked(settings),
        create=create,
        known_at=seen.known_at if seen else None,
        embedder=lambda: embedder(settings),
    ) as one:
        yield one


def require_installation(settings: "Settings") -> None:
    """Raise `NotFound` where the data directory has neither journals nor a database."""
    from memory_butler.engine.opening import require_cluster

    if (settings.data_dir / "journal").is_dir():
        return
    try:
        require_cluster(settings)
    except NotFound:
        raise NotFound(
            f"there is no journal in {settings.data_dir}: name the folder with --data-dir or "
            "MEMORY_BUTLER_DATA_DIR, or begin one with `memory-butler journal chat`"
        ) from None


def embedder(settings: "Settings") -> "Embedder":
    """What embeds messages and questions: the memory's own."""
    from memory_butler.engine.opening import embedding_engine

    return embedding_engine(settings.memory)


def _moment(text: str, now: datetime) -> datetime:
    try:
        moment = datetime.fromisoformat(moments.read("--known-at", text, now, ahead=False))
    except ValueError:
        raise InvalidInput(
            f"{text[:40]!r} is not a date or time; example: 2026-03-14T12:00:00Z"
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def model(settings: "Settings", named: str | None, script: Path | None) -> "LanguageModel":
    """The model that a command asks; a friendly refusal where there is none."""
    if script is None:
        from memory_butler.companions.maintaining import companion_model

        return companion_model(settings.memory, named)
    from memory_butler.inference.language_models.scripted import ScriptedModel

    try:
        text = script.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InvalidInput(f"{script} cannot be read: {said}") from None
    replies = [one.strip("\n") for one in f"\n{text}\n".split("\n---\n")]
    return ScriptedModel([one for one in replies if one.strip()])
