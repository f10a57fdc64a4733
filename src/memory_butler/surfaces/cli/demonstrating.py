"""The demonstration: a made-up household's memory, served from a folder that goes with it."""

import asyncio
import os
import shlex
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.problems import reporting
from memory_butler.surfaces.cli.progress import progress
from memory_butler.surfaces.cli.serving import LogFormat, Serve, run_server
from memory_butler.surfaces.listening import listen

if TYPE_CHECKING:
    from memory_butler.config import Settings

EXAMPLES = epilog("memory-butler demo", "memory-butler demo --keep household --port 9000")

_HOST = "127.0.0.1"
# Beside the usual 8150, so that a demonstration stands in no server's way.
_PORT = 8155
_QUESTION = 'memory-butler context "What does Ana like?" home'


@dataclass(frozen=True, slots=True)
class _Folder:
    """Where the demonstration lies; `cluster_root` is None where the configured one will do."""

    data_dir: Path
    cluster_root: Path | None


def demo_command(serve: Serve) -> Callable[..., None]:
    """The command `demo`, around what runs a server."""

    def demo(
        keep: Annotated[
            Path | None,
            typer.Option(
                help="Keep it in this folder, to go on with it later; else it goes at the end.",
                metavar="FOLDER",
            ),
        ] = None,
        port: Annotated[
            int | None,
            typer.Option(
                help=f"Port to bind; {_PORT}, or a free one where that is taken.",
                metavar="NUMBER",
                min=0,
                max=65535,
            ),
        ] = None,
        log_format: LogFormat = None,
        debug: Annotated[
            bool, typer.Option("--debug", help="Log everything; show tracebacks.")
        ] = False,
    ) -> None:
        """Show a made-up household's memory in the dashboard, with a guided tour, until Ctrl-C.

        It has its own folder and port, asks no language model and never touches your memory.
        """
        with reporting(debug=debug):
            if port:
                # Asked before a database is made, which takes a while; the server takes it later.
                listen(_HOST, port).close()
            with _folder(keep) as folder:
                settings = _settings(folder, port, log_format, debug=debug)
                run_server(_demonstrated(serve, settings, keep))

    return demo


@contextmanager
def _folder(keep: Path | None) -> "Iterator[_Folder]":
    """The folder that is kept, or one that goes with the block, and word of it."""
    if keep is not None:
        from memory_butler.demo.folder import is_demo, refuse_other

        refuse_other(keep)
        yield _Folder(keep.absolute(), None)
        if is_demo(keep):
            again = shlex.quote(str(keep))
            print(f"Stopped. To go on with it: memory-butler demo --keep {again}")
        else:
            print(f"Stopped before it was complete. Delete {keep}, or name another folder.")
        return
    whole = Path(tempfile.mkdtemp(prefix="memory-butler-demo-"))
    if os.geteuid() == 0:
        # The user that the database then runs as passes through, and cannot list.
        whole.chmod(0o711)
    try:
        # The database within it in any case, so that nothing is left elsewhere.
        yield _Folder(whole / "data", whole / "clusters")
    finally:
        shutil.rmtree(whole)
        print(f"Stopped. Deleted the demonstration and its folder {whole}.", flush=True)


def _settings(
    folder: _Folder, port: int | None, log_format: str | None, *, debug: bool
) -> "Settings":
    """The defaults, whatever is configured; of that only where the embedding model lies."""
    from memory_butler.config import ConsolidationConfig, MemoryModuleConfig, Settings, load
    from memory_butler.logs import configure

    own = load(log_format=log_format)
    configure("debug" if debug else "warning", own.log_format)
    return Settings.model_construct(
        host=_HOST,
        port=_free_port() if port is None else port,
        data_dir=folder.data_dir,
        cluster_root=folder.cluster_root or own.cluster_root,
        memory=MemoryModuleConfig(
            embedding_path=own.memory.embedding_path,
            # A key in the environment is not meant for a made-up household.
            consolidation=ConsolidationConfig(model="none"),
        ),
    )


def _free_port() -> int:
    """The usual port of demonstrations; 0, any, where it is taken."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, _PORT))
        except OSError:
            return 0
    return _PORT


async def _demonstrated(serve: Serve, settings: "Settings", keep: Path | None) -> None:
    """Tell the story, unless the folder has it, and serve it until a signal."""
    from memory_butler.demo.folder import is_demo, mark
    from memory_butler.demo.telling import tell
    from memory_butler.engine.opening import open_database, open_memory
    from memory_butler.surfaces.running import Stop

    with Stop() as stop:
        try:
            is_new = not is_demo(settings.data_dir)
            if is_new:
                print("Making a database, and a household's memory day by day …", flush=True)
            # Held over both, so that the database starts once.
            async with open_database(settings):
                if is_new:
                    async with open_memory(settings) as memory:
                        with progress("Household", "day") as told:
                            await tell(memory, told)
                    mark(settings.data_dir)
                await serve(settings, lambda url: _announce(settings, url, keep))
        except asyncio.CancelledError:
            if not stop.requested:
                raise


def _announce(settings: "Settings", url: str, keep: Path | None) -> None:
    fate = "kept" if keep else "deleted at the end; --keep FOLDER keeps it"
    place = shlex.quote(str(settings.data_dir))
    lines = (
        f"Memory Butler shows a demonstration on {url}",
        "",
        f"  Dashboard    {url}/ (a guided tour in four steps)",
        f"  Ask it       {_QUESTION} --data-dir {place}",
        f"  An agent     claude mcp add --transport http demo {url}/mcp",
        "  Your own     memory-butler serve",
        f"  Data         {settings.data_dir} ({fate})",
        "",
        "Ctrl-C ends it.",
    )
    # Flushed: whoever started this through a pipe waits for it.
    print("\n".join(lines), flush=True)
