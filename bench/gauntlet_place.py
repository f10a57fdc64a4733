"""Where the gauntlet runs: a server in this process, its clients, and a model that is fooled."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import httpx
import uvicorn

from memory_butler.config import Settings
from memory_butler.domain.principals import Principal
from memory_butler.domain.quotas import Quotas
from memory_butler.engine.memory import Memory
from memory_butler.engine.tokens import create_token
from memory_butler.inference.language_models.port import Completion, Request, estimate_tokens
from memory_butler.operations.operation import STRUCTURED
from memory_butler.surfaces.http import served
from memory_butler.surfaces.listening import listen

_MINIMAL: Final = {"Accept": "application/json, text/event-stream"}
_KNOWN = re.compile(r"^- (F\d+) (.*)$", re.MULTILINE)


@dataclass(slots=True)
class Fooled:
    """A language model that does whatever a text tells it: it gives the answer set for that text.

    `answers` has each with a word that only its text has.
    """

    name: str = "fooled"
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def complete(self, request: Request) -> Completion:
        """The answers for all texts in the prompt that it knows, as one."""
        text = json.dumps(self.answer_to(request.prompt))
        return Completion(
            text=text,
            tokens_in=estimate_tokens(request.system + request.prompt),
            tokens_out=estimate_tokens(text),
            cost_usd=None,
            model=self.name,
        )

    def answer_to(self, material: str) -> dict[str, Any]:
        """What it draws from this material; `F?WORD` becomes the handle of a fact with the word."""
        episodes = material.partition("## Episodes")[2]
        told = next((one for word, one in self.answers.items() if word in episodes), {})
        handles = {line: handle for handle, line in _KNOWN.findall(material)}

        def handle(match: re.Match[str]) -> str:
            return next((one for line, one in handles.items() if match[1] in line), match[2])

        found: dict[str, Any] = json.loads(
            re.sub(r"F\?(\w+)\|([\w-]+)", handle, json.dumps(told, ensure_ascii=False))
        )
        return found


@dataclass(frozen=True, slots=True)
class Refused(Exception):
    """The server did not do it."""

    status: int
    said: str


@dataclass(frozen=True, slots=True)
class Caller:
    """An agent with a token of one tenant."""

    memory: Memory
    model: Fooled
    tenant: str
    http: httpx.AsyncClient
    # The same memory with episodes in its contexts, the other layout, and no floor of trust.
    open_http: httpx.AsyncClient

    @property
    def principal(self) -> Principal:
        """Who a command line of the same tenant is."""
        return Principal(tenant=self.tenant, actor="local")

    async def tool(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool; the whole answer."""
        result = await self._called(self.http, name, arguments, {STRUCTURED: True})
        content: dict[str, Any] = result["structuredContent"]
        return content

    async def read(self, name: str, /, *, opened: bool = False, **arguments: Any) -> str:
        """Call a tool; what a model reads."""
        http = self.open_http if opened else self.http
        result = await self._called(http, name, arguments, {})
        text: str = result["content"][0]["text"]
        if "structuredContent" in result and name == "memory_context":
            return str(result["structuredContent"]["context"])
        return text

    async def rest(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Ask over REST."""
        answer = await self.http.request(method, f"/api/memory/{path}", json=body)
        if answer.status_code >= 300:
            raise Refused(answer.status_code, answer.text)
        found: dict[str, Any] = answer.json() if answer.content else {}
        return found

    async def _called(
        self, http: httpx.AsyncClient, name: str, arguments: dict[str, Any], meta: dict[str, Any]
    ) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = (await http.post("/mcp", json=body, headers=_MINIMAL)).json()
        result: dict[str, Any] = answer.get("result") or {"isError": True, "content": [answer]}
        if result.get("isError"):
            raise Refused(400, str(result["content"][0]))
        return result


class _Server(uvicorn.Server):
    """A server that leaves signals alone."""

    @asynccontextmanager
    async def running(self, listening: Any) -> AsyncIterator[None]:
        task = asyncio.create_task(self._serve([listening]))
        while not self.started:
            if task.done():
                raise RuntimeError("the server did not start")
            await asyncio.sleep(0.01)
        try:
            yield
        finally:
            self.should_exit = True
            await task


@asynccontextmanager
async def _served(memory: Memory, settings: Settings) -> AsyncIterator[str]:
    app = served(replace(memory, config=settings.memory), settings).app
    listening = listen("127.0.0.1", 0)
    config = uvicorn.Config(app, ws="none", log_config=None, timeout_graceful_shutdown=2)
    try:
        async with _Server(config).running(listening):
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.close()


@dataclass(frozen=True, slots=True)
class Place:
    """A running server of which tenants are asked for."""

    memory: Memory
    model: Fooled
    url: str
    open_url: str

    @asynccontextmanager
    async def tenant(self, name: str) -> AsyncIterator[Caller]:
        """A tenant of its own, and an agent with all rights in it."""
        token = (await create_token(self.memory, name, f"{name}-agent", ("admin",))).token
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx.AsyncClient(
                base_url=self.url, headers=headers, timeout=120, trust_env=False
            ) as http,
            httpx.AsyncClient(
                base_url=self.open_url, headers=headers, timeout=120, trust_env=False
            ) as open_http,
        ):
            yield Caller(self.memory, self.model, name, http, open_http)


@asynccontextmanager
async def place_on(memory: Memory, settings: Settings) -> AsyncIterator[Place]:
    """Serve a memory twice: as configured by default, and opened as far as it can be."""
    model = Fooled()
    memory = replace(memory, language_model=model)
    toolsets = ("memory", "consolidation", "trust")
    settings = settings.model_copy(update={"toolsets": toolsets, "require_token": True})
    retrieval = settings.memory.retrieval
    changed = {
        "context_quotas": Quotas(facts=0.5, rules=0.25, episodes=0.25),
        "context_format": "annotated",
        "context_min_trust": "untrusted_web",
    }
    opened = settings.memory.model_copy(update={"retrieval": retrieval.model_copy(update=changed)})
    open_settings = settings.model_copy(update={"memory": opened})
    async with _served(memory, settings) as url, _served(memory, open_settings) as open_url:
        yield Place(memory, model, url, open_url)
