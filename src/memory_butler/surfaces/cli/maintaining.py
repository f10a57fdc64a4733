"""Running a job of the schedule now; embedding and indexing anew what is stored."""

import json
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memory_butler.domain.errors import InvalidInput
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import AsJson, Place, complete, with_memory

if TYPE_CHECKING:
    from memory_butler.engine.memory import Memory

RUN_EXAMPLES = epilog("memory-butler run decay-sweep --dry-run", "memory-butler run consolidate")
REEMBED_EXAMPLES = epilog("memory-butler reembed", "memory-butler reembed --model my-models/small")

# As one says it at the command line, and as the schedule names it.
_JOBS: Final = {
    "consolidate": "consolidate",
    "decay-sweep": "decay_sweep",
    "cleanup": "episode_cleanup",
}


def run(
    place: Place,
    job: Annotated[
        str,
        typer.Argument(
            metavar="JOB",
            help=f"One of {', '.join(_JOBS)}.",
            autocompletion=lambda: list(_JOBS),
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what it would do; change nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a job of the schedule now, for one tenant."""
    job = job.replace("_", "-")  # as lists of jobs name it
    if job not in _JOBS:
        raise InvalidInput(f"unknown job {job!r}; use one of: {', '.join(_JOBS)}")

    async def work(memory: "Memory") -> dict[str, Any]:
        from memory_butler.engine.jobs.catalogue import BY_NAME

        chosen = BY_NAME[_JOBS[job]]
        act = chosen.plan if dry_run else chosen.run
        return await act(memory, place.principal())

    result = with_memory(place, work, with_model=job == "consolidate")
    if as_json:
        print(json.dumps({"job": job, "dry_run": dry_run, "result": result}, indent=2, default=str))
        return
    print(f"{job}, dry run: nothing was changed." if dry_run else f"{job}: done.")
    for name, value in result.items():
        print(f"  {name.replace('_', ' ')}: {_told(value)}")


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {inner}" for key, inner in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(_told(one) for one in value) or "none"
    return str(value)


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
    from rich.console import Console
    from rich.progress import Progress

    from memory_butler.engine.opening import open_memory
    from memory_butler.engine.reembed import reembed as move
    from memory_butler.engine.reembed import waiting

    settings = place.settings()
    if model is not None:
        memory_config = settings.memory.model_copy(update={"embedding_model": model})
        settings = settings.model_copy(update={"memory": memory_config})
    async with open_memory(settings, with_model=False) as memory:
        total = sum((await waiting(memory)).values())
        with Progress(console=Console(stderr=True)) as progress:
            task = progress.add_task("Embedding anew", total=total)
            moved = await move(memory, lambda count: progress.advance(task, count))
    print(f"{moved} memories have vectors of {settings.memory.embedding_model} now.")


def reindex_words(place: Place) -> None:
    """Index the words of every memory of every tenant anew, in its language.

    Once, for memories in other languages than English that an older version stored. Runs beside a
    server. Interrupted, run it again.
    """
    complete(_reindex_words(place))


async def _reindex_words(place: Place) -> None:
    from rich.console import Console
    from rich.progress import Progress

    from memory_butler.engine.opening import open_memory
    from memory_butler.engine.reindexing import reindex, stored

    async with open_memory(place.settings(), with_model=False) as memory:
        total = sum((await stored(memory)).values())
        with Progress(console=Console(stderr=True)) as progress:
            task = progress.add_task("Indexing words", total=total)
            changed = await reindex(memory, lambda count: progress.advance(task, count))
    print(f"{changed} of {total} memories have other words now.")
