"""An agent of the Claude Agent SDK: PROGRAM OPTIONS PROMPT, the options as JSON."""

import asyncio
import json
import sys

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query


async def main(program: str, options: str, prompt: str) -> None:
    given = ClaudeAgentOptions(cli_path=program, **json.loads(options))
    async for message in query(prompt=prompt, options=given):
        if isinstance(message, ResultMessage):
            print(message.result)


asyncio.run(main(*sys.argv[1:]))
