"""Other memories beside ours: the same questions, the same machine, the same run.

    python -m bench.peers.run [--sets locomo] [--peers chroma mem0 …] [--conversations N]

Each peer gets an environment of its own (made by uv from the package index, kept under
`~/.cache/memory-butler-peers`, `--environments` to change), with vectors of the same weights by
our engine. Turns are rendered as `[8 May 2023] Marta: …`, what our server indexes of an episode.
Ours is asked over MCP, with its cache of questions off. Conversation by conversation, each peer and
ours in turn, beginning with another one each time: whatever else the machine does, it does to all.
A peer that cannot be installed or run is reported as such.

txtai brings PyTorch, in its great edition unless uv is told of a smaller one (`UV_FIND_LINKS`, or
`UV_TORCH_BACKEND=cpu`). Prints tables and paired bootstrap intervals against our hybrid search.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path

from bench.datasets import DEFAULT_DATA, SETS, Conversation
from bench.peers.stores import PEERS, POSTGRES_VARIABLE
from bench.results import Result, print_tables
from bench.retrieval import REFERENCE, run
from bench.server import data_folder, machine
from memory_butler.store import embedded

ROOT = Path(__file__).resolve().parents[2]
OURS = ("episodes, deep", REFERENCE)
# What our embedder needs in each environment.
SHARED = ("numpy", "onnxruntime", "tokenizers")
INSTALL_SECONDS, RUN_SECONDS = 1_800, 3_600

# Of one conversation: the scores of one or more ways to ask, or why there are none.
Measured = dict[str, Result] | str


def main() -> None:
    """Measure them all, conversation by conversation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--peers", nargs="*", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--conversations", type=int, help="only the first N of each set")
    parser.add_argument(
        "--environments", type=Path, default=Path.home() / ".cache" / "memory-butler-peers"
    )
    parser.add_argument("--out", type=Path, help="keep the scores of every question here")
    given = parser.parse_args()
    installed = []
    for peer in given.peers:
        trouble = _install(peer, given.environments / peer)
        if trouble is None:
            installed.append(peer)
        else:
            print(f"{peer}: not installed: {trouble}", file=sys.stderr)
    print(f"Machine: {machine()}")
    kept = {}
    with _postgres(any(PEERS[peer].on_postgres for peer in installed)) as environment:
        for name in given.sets:
            conversations = list(SETS[name](given.data))[: given.conversations]
            ways: dict[str, Callable[[int, Conversation], Measured]] = {
                peer: partial(_of_peer, given, environment, name, peer) for peer in installed
            }
            results = _in_turn(conversations, ways)
            kept[name] = {way: asdict(result) for way, result in results.items()}
            print_tables(name, conversations, results, REFERENCE)
    if given.out:
        given.out.write_text(json.dumps(kept), encoding="utf-8")


def _in_turn(
    conversations: list[Conversation], ways: dict[str, Callable[[int, Conversation], Measured]]
) -> dict[str, Result]:
    """Everybody's scores; whoever failed once is left out of the rest."""
    everybody = list((ways | {"ours": _ours}).items())
    results: dict[str, Result] = {}
    failed: set[str] = set()
    for number, conversation in enumerate(conversations):
        turn = number % len(everybody)
        for who, measure in everybody[turn:] + everybody[:turn]:
            measured: Measured = {} if who in failed else measure(number, conversation)
            if isinstance(measured, str):
                print(f"{who}: not measured: {measured}", file=sys.stderr)
                failed.add(who)
                results.pop(who, None)
                continue
            for way, result in measured.items():
                results.setdefault(way, Result()).extend(result)
                print(f"{conversation.name}: {way}", file=sys.stderr)
    order = [*ways, *OURS]
    return {way: results[way] for way in order if way in results}


def _ours(_number: int, conversation: Conversation) -> Measured:
    return dict(run([conversation], OURS, caching=False))


def _of_peer(
    given: argparse.Namespace,
    environment: dict[str, str],
    name: str,
    peer: str,
    number: int,
    _conversation: Conversation,
) -> Measured:
    python = given.environments / peer / "bin" / "python"
    told = [peer, name, str(given.data.resolve()), str(number)]
    with tempfile.TemporaryDirectory(prefix=f"peer-{peer}-") as scratch:
        try:
            done = subprocess.run(
                [python, "-m", "bench.peers.one", *told],
                cwd=ROOT,
                env=os.environ
                | environment
                | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
                | {"HOME": scratch, "TMPDIR": scratch},
                stdout=subprocess.PIPE,
                text=True,
                timeout=RUN_SECONDS,
                check=True,
            )
            return {peer: Result(**json.loads(done.stdout.splitlines()[-1]))}
        except (subprocess.SubprocessError, OSError) as error:
            return f"{type(error).__name__}: {error}"


def _install(peer: str, folder: Path) -> str | None:
    """Make its environment unless there is one of the same packages; what is in the way."""
    wanted = PEERS[peer]
    described = "\n".join((*wanted.packages, *wanted.alone, *SHARED))
    ready = folder / "packages.txt"
    if ready.is_file() and ready.read_text(encoding="utf-8") == described:
        return None
    uv = shutil.which("uv") or str(Path(sys.executable).parent / "uv")
    install = [uv, "pip", "install", "--quiet", "--python", str(folder / "bin" / "python")]
    try:
        _run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
        _run([*install, *wanted.packages, *SHARED])
        if wanted.alone:
            _run([*install, "--no-deps", *wanted.alone])
    except (subprocess.SubprocessError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    ready.write_text(described, encoding="utf-8")
    return None


@contextmanager
def _postgres(needed: bool) -> Iterator[dict[str, str]]:
    """Where peers find a PostgreSQL of their own, if one of them needs it."""
    if not needed:
        yield {}
        return
    with data_folder() as data_dir, embedded.acquire(data_dir) as lease:
        yield {POSTGRES_VARIABLE: lease.endpoint.dsn("postgres")}


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, timeout=INSTALL_SECONDS)


if __name__ == "__main__":
    main()
