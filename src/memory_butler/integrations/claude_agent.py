"""Memory for agents of the Claude Agent SDK: what to hand to its options, as plain values.

The SDK starts Claude Code, so that an agent of it takes memory as Claude Code does: this server
over MCP, and the hooks as command lines. It is not imported here: its wheel carries the program.
"""

import json
from typing import Any

from memory_butler.client.transport import base_of
from memory_butler.integrations.clients import NAME, Server, claude_hooks, claude_server


def memory_options(
    url: str = "http://127.0.0.1:8150",
    butler: str = "claude-code",
    *,
    token_env: str | None = None,
) -> dict[str, Any]:
    """`mcp_servers`, `allowed_tools` and `settings` of ClaudeAgentOptions.

    Args:
        url: where the server is.
        butler: the agent's butler name: whose memories it is told, and whose its episodes are.
        token_env: the environment variable that holds the token, if the server wants one.
    """
    server = Server(base_of(url), token_env=token_env)
    return {
        "mcp_servers": {NAME: claude_server(server)},
        "allowed_tools": [f"mcp__{NAME}"],
        # Text, because the SDK takes a path or JSON here.
        "settings": json.dumps({"hooks": claude_hooks(server, butler)}),
    }
