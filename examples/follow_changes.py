"""A program that follows what changes in memory: beside `memory-butler serve`.

python examples/follow_changes.py http://127.0.0.1:8150
"""

import asyncio
import json
import sys
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import httpx2


async def changes(
    http: httpx2.AsyncClient, after: str | None = None
) -> AsyncIterator[dict[str, Any]]:
    """Each event once, from now on; or from `after`, the id of the last one that was handled.

    It goes on when the server comes back, with all that was missed meanwhile.
    """
    seen = deque([after], maxlen=10_000)  # what came just before a break comes again
    while True:
        known = {} if after is None else {"last-event-id": after}
        try:
            async with http.stream("GET", "/api/memory/events/stream", headers=known) as answer:
                if answer.is_client_error:  # such as a token that was revoked
                    answer.raise_for_status()
                if answer.is_server_error:
                    raise httpx2.TransportError(f"it answered {answer.status_code}")
                async for line in answer.aiter_lines():
                    field, _, value = line.partition(": ")
                    if field == "id":
                        after = value
                    elif field == "data" and after not in seen:
                        seen.append(after)
                        yield json.loads(value)
        except httpx2.TransportError as error:
            print(f"memory is away: {error}", file=sys.stderr)
        await asyncio.sleep(2)


async def main(url: str) -> None:
    """Print what happens; a program would keep the id of each event once it has handled it."""
    # A heartbeat comes every 15 seconds; without one for 40 the connection is dead.
    async with httpx2.AsyncClient(base_url=url, timeout=40) as http:
        async for event in changes(http):
            print(event["created_at"], event["event_type"], event["payload"].get("memory_id"))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
