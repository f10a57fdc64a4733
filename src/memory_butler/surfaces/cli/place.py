"""Which installation a command works on, and for which tenant: the options that all share."""

import asyncio
import inspect
import os
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from memory_butler.domain.errors import ConfigurationError, MemoryButlerError
from memory_butler.domain.principals import DEFAULT_TENANT, Principal, parse_tenant
from memory_butler.surfaces.cli.problems import TERMINATED, complain, reporting

if TYPE_CHECKING:
    from memory_butler.config import Settings
    from memory_butler.engine.memory import Memory

PANEL = "Installation"
# How many tenants are named to somebody who may have mistyped one.
_MOST_TENANTS: Final = 20
Result = TypeVar("Result")
Command = Callable[..., None]


def require_address(option: str, dsn: str | None) -> None:
    """Raise `ConfigurationError` where the DSN of an option is no address of a database."""
    if dsn is None:
        return
    from memory_butler.config import ADDRESS_SHAPE, is_address

    if not is_address(dsn):
        raise ConfigurationError(f"{option} must look like {ADDRESS_SHAPE}")


@dataclass(frozen=True, slots=True)
class Place:
    """What the shared options say; None: as configured."""

    data_dir: Path | None = None
    dsn: str | None = field(default=None, repr=False)
    config: Path | None = None
    tenant: str = DEFAULT_TENANT
    debug: bool = False

    def settings(self, *, logs: bool = False, **flags: Any) -> "Settings":
        """The configuration, these options and `flags` on top; sets up the logs.

        `logs`: log as configured. Otherwise only warnings: a command says itself what it did.
        """
        from memory_butler.config import load
        from memory_butler.logs import configure

        require_address("--dsn", self.dsn)
        settings = load(self.config, data_dir=self.data_dir, dsn=self.dsn, **flags)
        configured = settings.log_level if logs else "warning"
        configure("debug" if self.debug else configured, settings.log_format)
        return settings

    def principal(self) -> Principal:
        """The person at the command line, who may do everything within the tenant."""
        return Principal(parse_tenant(self.tenant), "cli")


def folder(text: str) -> Path:
    # As of a variable that a script has not set; it would be the current directory.
    if not text:
        raise typer.BadParameter("it is empty; name a folder")
    return Path(text)


_SHARED: dict[str, tuple[Any, Any]] = {
    "data_dir": (
        Annotated[
            Path | None,
            typer.Option(
                help="Where the data lives.",
                metavar="FOLDER",
                parser=folder,
                rich_help_panel=PANEL,
            ),
        ],
        None,
    ),
    "dsn": (
        Annotated[
            str | None,
            typer.Option(
                help="Your own PostgreSQL server, instead of the embedded one.",
                metavar="DSN",
                rich_help_panel=PANEL,
            ),
        ],
        None,
    ),
    "tenant": (
        Annotated[
            str,
            typer.Option(help="Whose memory.", metavar="NAME", rich_help_panel=PANEL),
        ],
        DEFAULT_TENANT,
    ),
    "config": (
        Annotated[
            Path | None,
            typer.Option(help="The configuration file.", metavar="FILE", rich_help_panel=PANEL),
        ],
        None,
    ),
    "debug": (
        Annotated[
            bool,
            typer.Option("--debug", help="Log everything; show tracebacks.", rich_help_panel=PANEL),
        ],
        False,
    ),
}
# The options of the installation, as they are typed.
SHARED_OPTIONS: Final = frozenset(f"--{name.replace('_', '-')}" for name in _SHARED)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def located(
    command: Command,
    own: Sequence[inspect.Parameter] | None = None,
    *,
    one_tenant: bool = True,
) -> Command:
    """The command with the shared options; it gets them as its first argument, a `Place`.

    `own` are its other parameters, where its signature does not tell them. What
    concerns more than `one_tenant` has no `--tenant`: ignored, it would let somebody believe that
    others were left alone.
    """
    options = {name: option for name, option in _SHARED.items() if one_tenant or name != "tenant"}
    if own is None:
        own = list(inspect.signature(command).parameters.values())[1:]

    def run(**given: Any) -> None:
        place = Place(**{name: given.pop(name) for name in options})
        with reporting(debug=place.debug), _given_to_its_owner(place):
            command(place, **given)

    shared = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )
        for name, (annotation, default) in options.items()
    ]
    # Keywords all: Typer goes by names, and a signature wants those with a default last.
    keywords = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    parameters = [*keywords, *shared]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    # Typer keeps the line breaks of all paragraphs but the first.
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    run.__doc__ = "\n\n".join(" ".join(one.split()) for one in paragraphs)
    return run


@contextmanager
def _given_to_its_owner(place: Place) -> Iterator[None]:
    """Of root, as by `sudo`, in the data directory of a service's user: it must read it, too."""
    try:
        yield
    finally:
        if os.geteuid() == 0:
            from memory_butler.config import load
            from memory_butler.files import give_to_owner

            with suppress(MemoryButlerError, OSError):
                settings = load(place.config, data_dir=place.data_dir)
                give_to_owner(settings.data_dir.expanduser().resolve())


def with_memory(
    place: Place,
    use: "Callable[[Memory], Awaitable[Result]]",
    *,
    with_model: bool = False,
    create: bool = False,
    embeds: bool = False,
) -> Result:
    """Open the memory, use it and close it.

    Args:
        embeds: a text will be embedded: the model is loaded while the database is opened.
        with_model: a language model may be asked.
        create: make the database where there is none, for what stores something new. Others
            refuse: in a mistyped folder they would answer from an empty memory.
    """

    async def work() -> Result:
        from memory_butler.background import beside
        from memory_butler.engine.opening import load_model, open_memory

        settings = place.settings()
        async with AsyncExitStack() as stack:
            if embeds:
                loading = asyncio.to_thread(load_model, settings.memory)
                await stack.enter_async_context(beside(loading, "model"))
            opening = open_memory(settings, with_model=with_model, create=create)
            return await use(await stack.enter_async_context(opening))

    return complete(work())


async def tell_unknown_tenant(memory: "Memory", place: Place) -> None:
    """Say on standard error that a tenant was never begun: its name may be mistyped."""
    if await is_unknown_tenant(memory, place):
        told = ", ".join(await _others(memory, place)) or "none"
        complain(f"There is no tenant {place.tenant} yet. Tenants with memories: {told}.")


async def tell_new_tenant(memory: "Memory", place: Place) -> None:
    """Say on standard error that this begins a tenant, where there are others."""
    if others := await _others(memory, place):
        complain(
            f"This begins the tenant {place.tenant}. Others with memories: {', '.join(others)}."
        )


async def is_unknown_tenant(memory: "Memory", place: Place) -> bool:
    """Whether a tenant, not the one that is meant without a name, was never begun."""
    tenant = place.principal().tenant
    if tenant == DEFAULT_TENANT:
        return False
    from memory_butler.companions.opening import names
    from memory_butler.engine.stats import is_begun

    return not await is_begun(memory, tenant) and not names(place.settings().data_dir, tenant)


async def _others(memory: "Memory", place: Place) -> list[str]:
    from memory_butler.engine.stats import tenants_with_memories

    known = await tenants_with_memories(memory, _MOST_TENANTS + 2)
    others = [one for one in known if one != place.tenant]
    return [*others[:_MOST_TENANTS], *(["…"] if len(others) > _MOST_TENANTS else [])]


def complete(work: Coroutine[Any, Any, Result]) -> Result:
    """Run asynchronous work; Ctrl-C and SIGTERM let it close what it opened."""

    async def stoppable() -> Result:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101 -- this runs in one
        asked = asyncio.Event()

        def stop() -> None:
            asked.set()
            task.cancel()

        loop.add_signal_handler(signal.SIGTERM, stop)
        try:
            return await work
        except asyncio.CancelledError:
            if asked.is_set():
                raise SystemExit(TERMINATED) from None
            raise
        finally:
            loop.remove_signal_handler(signal.SIGTERM)

    return asyncio.run(stoppable())
