"""A small switchboard: a real MCP server that writes down who announces itself.

python switchboard_server.py PORT FILE
"""

import json
import sys
import threading
from pathlib import Path
from typing import Any

from mcp.server import MCPServer


def main() -> None:
    port, book = int(sys.argv[1]), Path(sys.argv[2])
    one_at_a_time = threading.Lock()
    mcp = MCPServer[Any]("switchboard", log_level="WARNING")

    @mcp.tool()
    def register_butler(name: str, url: str, port: int, description: str, tools: list[str]) -> str:
        """Take a butler into the book."""
        # Butlers that come at once are written in by threads.
        with one_at_a_time:
            known = json.loads(book.read_text()) if book.exists() else {}
            known[name] = {"url": url, "port": port, "description": description, "tools": tools}
            unfinished = book.with_suffix(".new")
            unfinished.write_text(json.dumps(known))
            unfinished.replace(book)
        return f"welcome, {name}"

    mcp.run("streamable-http", port=port, json_response=True, stateless_http=True)


if __name__ == "__main__":
    main()
