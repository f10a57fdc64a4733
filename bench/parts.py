"""Where the time of a call goes: its spans, by a server that runs in this very process.

    python bench/parts.py [--facts 10000] [--calls 150]

One client, no query repeats. Prints for each tool the medians of its parts: what the client waited,
the operation, and the spans within it. Parts may overlap: words are looked up while the question is
still being embedded. "Beside them" is what of the operation no span covers; "protocol" what of the
whole is no operation: HTTP, MCP, JSON and the client, which shares the interpreter with the server.
"""

import argparse
import asyncio
import random
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bench.everyday import question, sentence, stocked
from bench.metrics import percentile
from bench.server import Client, machine
from memory_butler.app import serve
from memory_butler.config import Settings
from memory_butler.logs import configure
from memory_butler.telemetry.memory_spans import GEN_AI_OPERATIONS
from memory_butler.telemetry.tracing import handing_to

WARM_UP = 20
NANOSECONDS = 1e6  # in a millisecond


async def main() -> None:
    """Run and print a table for each tool."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=150)
    given = parser.parse_args()
    configure("warning")
    spans = InMemorySpanExporter()
    with tempfile.TemporaryDirectory(prefix="memory-butler-bench-") as folder:
        Path(folder).chmod(0o755)  # noqa: ASYNC240 -- before anything runs beside it
        settings = Settings(data_dir=Path(folder) / "data", port=0)
        answering: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        with handing_to(SimpleSpanProcessor(spans)):
            serving = asyncio.create_task(serve(settings, answering.set_result))
            url = await answering
            async with stocked(settings.data_dir, given.facts):
                print(f"Machine: {machine()}; {given.facts} facts, {given.calls} calls each")
                for tool in ("memory_recall", "memory_context", "memory_store_fact"):
                    _print(tool, await _measured(Client(url), tool, given.calls, spans))
            signal.raise_signal(signal.SIGTERM)
            await serving


async def _measured(
    client: Client, tool: str, calls: int, spans: InMemorySpanExporter
) -> dict[str, list[float]]:
    rng = random.Random(tool)
    parts: dict[str, list[float]] = defaultdict(list)
    for turn in range(WARM_UP + calls):
        spans.clear()
        began = time.perf_counter()
        await asyncio.to_thread(client.call, tool, **_arguments(tool, turn, rng))
        whole = (time.perf_counter() - began) * 1000
        if turn >= WARM_UP:
            for part, spent in _parts(tool, whole, spans.get_finished_spans()).items():
                parts[part].append(spent)
    return parts


def _arguments(tool: str, turn: int, rng: random.Random) -> dict[str, str]:
    if tool == "memory_store_fact":
        return {"subject": "someone", "predicate": f"said_{turn}", "content": sentence(rng)}
    if tool == "memory_context":
        return {"trigger_prompt": question(rng), "butler": "bench"}
    return {"topic": question(rng)}


def _parts(tool: str, whole: float, spans: Sequence[ReadableSpan]) -> dict[str, float]:
    """Milliseconds of each part of one call."""
    operation = next(one for one in spans if one.name == GEN_AI_OPERATIONS[tool])
    begun, ended = operation.start_time, operation.end_time
    assert begun is not None
    assert ended is not None
    took: dict[str, float] = defaultdict(float)
    covered = 0
    upto = begun
    # Others look for work meanwhile, in spans of their own.
    within = sorted(
        (one.start_time or 0, one.end_time or 0, one.name)
        for one in spans
        if one is not operation and one.context.trace_id == operation.context.trace_id
    )
    for start, end, name in within:
        if begun <= start <= end <= ended:
            took[name] += (end - start) / NANOSECONDS
            covered += max(0, end - max(upto, start))
            upto = max(upto, end)
    spent = (ended - begun) / NANOSECONDS
    return {
        "**what the client waited**": whole,
        "protocol": whole - spent,
        "the operation": spent,
        **took,
        "beside them": spent - covered / NANOSECONDS,
    }


def _print(tool: str, parts: dict[str, list[float]]) -> None:
    print(f"\n| {tool} | p50 ms | p95 ms |")
    print("|---|---|---|")
    for part, times in parts.items():
        print(f"| {part} | {percentile(times, 0.5):.1f} | {percentile(times, 0.95):.1f} |")


if __name__ == "__main__":
    asyncio.run(main())
