"""An agent whose trace goes on in memory: beside a server that sends its spans to a collector.

MEMORY_BUTLER_TRACE_ENDPOINT=http://127.0.0.1:4318 memory-butler serve
python examples/traced_agent.py http://127.0.0.1:8150 http://127.0.0.1:4318
"""

import asyncio
import sys

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Tracer

from memory_butler.client import MemoryClient


async def main(url: str, tracer: Tracer) -> list[str]:
    """What memory knows of the evening; the spans of both requests lie below the agent's."""
    async with MemoryClient.connect(url) as memory:
        with tracer.start_as_current_span("plan the evening"):
            await memory.store_fact("user", "dinner", "Has dinner at eight")
            found = await memory.recall("when does the user have dinner")
            return [hit.content for hit in found.results]


if __name__ == "__main__":
    provider = TracerProvider(resource=Resource.create({"service.name": "agent"}))
    provider.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{sys.argv[2]}/v1/traces"))
    )
    print(asyncio.run(main(sys.argv[1], provider.get_tracer("agent"))))
    provider.shutdown()
