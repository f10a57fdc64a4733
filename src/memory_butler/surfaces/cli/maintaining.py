"""Embedding and indexing anew what is stored."""

from typing import Annotated

import typer

from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import Place, complete
from memory_butler.surfaces.cli.progress import progress, summed

REEMBED_EXAMPLES = epilog("memory-butler reembed", "memory-butler reembed --model my-models/small")


def reembed(
    place: Place,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="The new model; as configured when left out. Configure it too, or the next "
            "server goes on with the old one.",
        ),
    ] = None,
) -> None:
    """Embed every memory of every tenant anew, with the model that is configured.

    Runs beside a server. Interrupted, run it again: it goes on where it stopped.
    """
    complete(_reembed(place, model))


async def _reembed(place: Place, model: str | None) -> None:
    from memory_butler.engine.opening import open_memory
    from memory_butler.engine.reembed import reembed as move
    from memory_butler.engine.reembed import waiting

    settings = place.settings()
    if model is not None:
        memory_config = settings.memory.model_copy(update={"embedding_model": model})
        settings = settings.model_copy(update={"memory": memory_config})
    async with open_memory(settings, with_model=False, create=False) as memory:
        total = sum((await waiting(memory)).values())
        with progress("Embedding anew", "memory") as told:
            moved = await move(memory, summed(told, total))
    print(f"{counted(moved, 'memory', 'have')} vectors of {settings.memory.embedding_model} now.")


def reindex_words(place: Place) -> None:
    """Index the words of every memory of every tenant anew, in its language.

    Once, for memories in other languages than English that an older version stored. Runs beside a
    server. Interrupted, run it again.
    """
    complete(_reindex_words(place))


async def _reindex_words(place: Place) -> None:
    from memory_butler.engine.opening import open_memory
    from memory_butler.engine.reindexing import reindex, stored

    async with open_memory(place.settings(), with_model=False, create=False) as memory:
        total = sum((await stored(memory)).values())
        with progress("Indexing words", "memory") as told:
            changed = await reindex(memory, summed(told, total))
    print(f"{changed:,} of {counted(total, 'memory', 'have')} other words now.")
