"""Claude with Anthropic's memory tool, whose files are kept here: beside `memory-butler serve`.

ANTHROPIC_API_KEY=… python examples/anthropic_memory_tool.py http://127.0.0.1:8150 "Plan my week."
"""

import sys

from anthropic import Anthropic

from memory_butler.client import SyncMemoryClient
from memory_butler.integrations.anthropic import MemoryTool


def main(url: str, prompt: str, claude: Anthropic, model: str = "claude-haiku-5-5") -> str:
    """Ask Claude once; what it wrote into its files is there the next time."""
    with SyncMemoryClient.connect(url) as memory:
        runner = claude.beta.messages.tool_runner(
            model=model,
            max_tokens=4096,
            tools=[MemoryTool(memory)],
            thread=False,  # each turn sends the whole conversation, as every endpoint understands
            messages=[{"role": "user", "content": prompt}],
        )
        answer = runner.until_done()
    return "".join(block.text for block in answer.content if block.type == "text")


if __name__ == "__main__":
    with Anthropic() as claude:
        print(main(sys.argv[1], sys.argv[2], claude))
