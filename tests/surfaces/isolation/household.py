"""A tenant of a test: what it keeps, its own unguessable words, and what it may try."""

import json
import re
import secrets
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import httpx

from arguments import Vocabulary
from conftest import NOW
from memory_butler.companions.opening import opened
from memory_butler.journal.fragments import PutFragment
from memory_butler.journal_config import JournalConfig
from memory_butler.operations.registry import OPERATIONS
from memory_butler.vault.keyring import no_keys
from surfaces.isolation.asking import Answer, AnyOperation, Arguments, Way, ways

BY_NAME: Final = {one.name: one for one in OPERATIONS}

_UUID: Final = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
# Left out, these have a default that is nothing of this household's.
_AS_WELL: Final = ("companion",)
# Of nobody: an answer about it is what an answer about another's must look like.
NOBODYS: Final = "00000000-0000-4000-8000-000000000000"

# These need a session that is there.
_OF_A_SESSION: Final = ("episodes_list", "memory_erase", "session_look")
# What the fields of this name are ids of; all others take any.
_IDS: Final = {
    "episode_id": ("episode",),
    "entity_id": ("entity",),
    "fact_id": ("edited",),
    "rule_id": ("rule",),
    "session_id": ("session",),
    "receipt_id": ("receipt",),
    "token_id": ("token",),
    "event_id": ("event",),
    "memory_id": ("fact", "rule", "episode"),
    "earlier_id": ("earlier",),
    "later_id": ("later",),
    "source_entity_id": ("entity",),
    "target_entity_id": ("duplicate",),
    "source_episode_id": ("episode",),
    "source_id": ("fact",),
    "target_id": ("rule",),
}


@dataclass(slots=True)
class Tenant:
    """One of two.

    Attributes:
        ids: what it has, by kind; "" holds everything that an answer to it named, "given" the ids
            that it chose for episodes and sessions, which may be those of another's.
        said: ids that it wrote itself, so that reading them again tells it nothing.
    """

    name: str
    client: httpx.Client
    marker: str = field(default_factory=lambda: f"m{secrets.token_hex(12)}")
    ids: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    said: set[str] = field(default_factory=lambda: {NOBODYS})

    def ask(self, way: Way, arguments: Arguments) -> Answer:
        """Ask, and note what was said and heard."""
        self.said |= ids_in(repr(arguments))
        answer = way.ask(self.client, arguments)
        if answer.ok and arguments.get("episode_id") and not way.operation.read_only:
            self.ids["given"].append(arguments["episode_id"])
        # Whoever is told something in a session has one of that id from then on.
        if answer.ok and arguments.get("session_id") and way.operation.name not in _OF_A_SESSION:
            self.ids["given"].append(arguments["session_id"])
        known = {*self.ids[""], *self.said}
        self.ids[""] += sorted(ids_in(answer.seen) - known)
        return answer

    def question(self, way: Way) -> Arguments:
        """What a way needs to be asked about what is its own."""
        texts = {"query", "topic", "trigger_prompt", "q", "question"}
        own: dict[str, Any] = {name: self.ids[kinds[0]][0] for name, kinds in _IDS.items()}
        own |= {"companion": "ada", "butler": "travel", "key": "garden", "run_id": 1}
        own |= {
            "name": f"Ana {self.marker}",
            "namespace": ["users", "ana"],
            "without": self.ids["fact"][:1],
            "parts": list(range(256)),
        }
        own |= {"names": [{"namespace": ["users", "ana"], "key": "garden"}], "memory_type": "fact"}
        own |= dict.fromkeys(texts, f"green tea {self.marker}")
        if way.route is not None:
            kind = way.route.fixed.get("memory_type", "fact")
            own |= {"memory_type": kind, "memory_id": self.ids[kind][0]}
        return {
            name: own[name]
            for name in (*way.schema["required"], *_AS_WELL)
            if name in way.schema["properties"] and name in own
        }

    def words(self, other: "Tenant | None" = None) -> Vocabulary:
        """What it would write and ask; and, if there is another, what it would try on that one."""
        named: dict[str, Sequence[Any]] = {
            field: [one for kind in kinds for one in self._of(kind, other)]
            for field, kinds in _IDS.items()
        }
        named |= {
            "tenant_id": [self.name],
            "companion": ["ada"] * 4,
            "butler": ["travel"] * 4,
            "key": ["garden"] * 4,
            "namespace": [["users", "ana"]] * 4,
            "run_id": [1],
            "source_type": ["fact"],
            "target_type": ["rule"],
            "image_path": [None],
            "expected_revision": [None],
            "everything": [False],
            "time_zone": ["Europe/Lisbon"],
        }
        if other is None:
            named |= {"memory_type": ["fact"], "memory_id": self.ids["fact"], "days": [1]}
            # What is on the companion's mind stays to be found by these words.
            named |= {"words": ["green tea"], "content": ["green tea", f"green tea {self.marker}"]}
            named |= {"keys": [["garden"]], "actor": ["user"]}
            named |= {"from": ["2026-02-01T00:00:00+00:00"], "to": [NOW.isoformat()]}
            named |= {"valid_from": ["2026-01-01T00:00:00+00:00"]}
            named |= {"valid_until": ["2026-12-01T00:00:00+00:00"]}
            named |= {"event_id": [1, *named["event_id"]], "before": [None]}
        texts = ["green tea", f"green tea {self.marker}", "Ana", "$1", "%"]
        if other is not None:
            setting = f"set_config('butler.tenant_id', '{other.name}', false)"
            hostile = (f"'; SET butler.tenant_id = '{other.name}'; --", f"../{other.name}", setting)
            texts += hostile
            for field in ("companion", "butler", "key", "expected_revision"):
                named[field] = [*named[field], *hostile, f"../{other.name}/ada"]
            named["namespace"] = [*named["namespace"], *([one] for one in hostile)]
            named["tenant_id"] = [self.name, other.name]
        moments = [NOW.isoformat(), "2026-02-01T00:00:00+00:00"]
        if other is not None:
            moments.append("2026-03-02T00:00:00+00:00")  # which is yet to come
        return Vocabulary(texts, self._of("", other), moments, named, other is None)

    def _of(self, kind: str, other: "Tenant | None") -> list[str]:
        """Ids: one's own, or mostly those, so that something happens."""
        if other is None:
            return self.ids[kind]
        return [*self.ids[kind] * 3, *other.ids[kind], NOBODYS]


def ids_in(text: str) -> set[str]:
    """Every id that stands in a text."""
    return set(_UUID.findall(text.lower()))


def move_in(tenant: Tenant, data_dir: Path) -> None:
    """One of everything, told over the surfaces as an agent or a person would."""
    text = f"green tea {tenant.marker}"

    def tell(operation_name: str, kind: str = "", /, **arguments: Any) -> None:
        operation = BY_NAME[operation_name]
        answer = tenant.ask(_rest(operation), arguments)
        assert answer.ok, f"{operation_name}: {answer.seen}"
        found = _UUID.findall(answer.body)
        if kind:
            tenant.ids[kind].append(json.loads(answer.body).get("receipt_id", found and found[0]))

    session = str(UUID(bytes=secrets.token_bytes(16), version=4))
    tenant.ids["session"].append(session)
    for kind, name in (("entity", "Ana"), ("duplicate", "Ana S.")):
        tell(
            "entity_create",
            kind,
            canonical_name=f"{name} {tenant.marker}",
            entity_type="person",
            aliases=["Ana"],
        )
    tell(
        "memory_store_episode",
        "episode",
        content=text,
        butler="travel",
        session_id=session,
        metadata={"note": tenant.marker},
    )
    tell(
        "memory_store_fact",
        "fact",
        subject="Ana",
        predicate="drink",
        content=text,
        tags=["tea", tenant.marker],
        source_butler="travel",
        entity_id=tenant.ids["entity"][0],
        source_episode_id=tenant.ids["episode"][0],
    )
    for kind in ("earlier", "later", "edited"):
        tell("memory_store_fact", kind, subject="Ana", predicate=f"{kind} drink", content=text)
    tell("memory_store_rule", "rule", content=f"Offer {text}")
    tell(
        "memory_context",
        "receipt",
        trigger_prompt=text,
        butler="travel",
        session_id=session,
    )
    tell("memory_mark_helpful", rule_id=tenant.ids["rule"][0])
    ends = {"source_type": "fact", "source_id": tenant.ids["fact"][0]}
    ends |= {"target_type": "rule", "target_id": tenant.ids["rule"][0]}
    tell("link_create", **ends, relation="supports")
    item = {"namespace": ["users", "ana"], "key": "garden", "value": {"is": tenant.marker}}
    tell("items_put", items=[item])
    tell("items_append", namespace=["users", "ana"], values=[{"is": tenant.marker}])
    tell("journal_log", companion="ada", content=f"Hello, {text}! <plan>{text}</plan>")
    tell("token_create", "token", name=f"for {tenant.marker}")
    tell("events_list", "event")
    with opened(
        data_dir, tenant.name, "ada", JournalConfig(), no_keys, now=lambda: NOW
    ) as companion:
        companion.desk.apply("manual", [PutFragment("garden", text, sources=(1,))])


def _rest(operation: AnyOperation) -> Way:
    return next(way for way in ways(operation) if way.route is not None)
