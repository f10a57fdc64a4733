"""Installations that share facts and rules: here tenants of one database, each with its keys."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from conftest import Connection
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import TrustName
from memory_butler.engine.audit_keys import AuditKeys
from memory_butler.engine.exchange import giving, packs, peers, taking
from memory_butler.engine.exchange.taken import Taken
from memory_butler.engine.memory import Memory

ALL = range(packs.PARTS)


@dataclass(frozen=True, slots=True)
class Replica:
    """One installation."""

    memory: Memory
    principal: Principal

    @property
    def key(self) -> str:
        return packs.own_key(self.memory, self.principal.tenant)

    def accept(
        self,
        other: "Replica",
        trust: TrustName = "user_said",
        scopes: Sequence[str] | None = None,
    ) -> None:
        assert self.memory.data_dir is not None
        name = other.principal.tenant
        peers.accept(self.memory.data_dir, self.principal.tenant, name, other.key, trust, scopes)

    def as_seen_by(self, other: "Replica") -> Principal:
        """Who this is for another one: the holder of a token of its name, for exchanges alone."""
        name = self.principal.tenant
        return Principal(other.principal.tenant, f"token:{name}", frozenset({"exchange"}))

    async def parts(self, scopes: Sequence[str] | None = None) -> dict[str, str]:
        said = packs.opened(await giving.state(self.memory, self.principal, scopes))
        found: dict[str, str] = said["parts"]
        return found

    async def pull(self, other: "Replica") -> Taken:
        """Take what differs from another and was agreed with it, as the command does."""
        caller = self.as_seen_by(other)
        state = await giving.state(other.memory, caller)
        done = await taking.take(self.memory, self.principal, state)
        said = packs.opened(state)
        theirs, mine = said["parts"], await self.parts(said["scopes"])
        wanted = sorted(int(one) for one in theirs if theirs[one] != mine.get(one))
        after: str | None = None
        while wanted:
            facts, after = await giving.facts(other.memory, caller, wanted, after)
            done.add(await taking.take(self.memory, self.principal, facts))
            if after is None:
                break
        return done

    async def facts(self, admin: Connection) -> dict[UUID, tuple[Any, ...]]:
        """What every fact says, and the state that it is in."""
        rows = await admin.fetch(
            "SELECT id, subject, predicate, content, validity, valid_until, last_confirmed_at,"
            " trust FROM facts WHERE tenant_id = $1",
            self.principal.tenant,
        )
        return {row["id"]: tuple(row)[1:] for row in rows}

    async def rules(self, admin: Connection) -> dict[UUID, tuple[Any, ...]]:
        """What every rule says, whether it warns, its state, when it was confirmed, its trust."""
        rows = await admin.fetch(
            "SELECT id, content, scope, tags, maturity = 'anti_pattern' AS warns,"
            " CASE WHEN metadata->>'forgotten' = 'true'"
            "      THEN CASE WHEN metadata ? 'swept' THEN 'expired' ELSE 'retracted' END"
            "      WHEN metadata->>'disabled' = 'true' THEN 'waiting' ELSE 'active' END AS state,"
            " last_confirmed_at, trust FROM rules WHERE tenant_id = $1",
            self.principal.tenant,
        )
        return {row["id"]: tuple(row)[1:] for row in rows}

    async def scopes(self, admin: Connection) -> dict[UUID, str]:
        """The scope of every fact and rule."""
        found = await admin.fetch(
            "SELECT id, scope FROM facts WHERE tenant_id = $1"
            " UNION ALL SELECT id, scope FROM rules WHERE tenant_id = $1",
            self.principal.tenant,
        )
        return {row["id"]: row["scope"] for row in found}

    async def active(self, admin: Connection) -> dict[tuple[str, str], str]:
        """By subject and predicate, what holds."""
        return {
            (subject, predicate): content
            for subject, predicate, content, validity, *_ in (await self.facts(admin)).values()
            if validity == "active"
        }


def replicas(memory: Memory, folder: Path, count: int, prefix: str) -> list[Replica]:
    """Installations that trust each other as one person's own."""
    made = [
        Replica(
            replace(
                memory,
                data_dir=folder / str(number),
                audit=AuditKeys(folder / str(number), bytes([number + 1]) * 32),
            ),
            Principal(tenant=f"{prefix}-{number}", actor="tester"),
        )
        for number in range(count)
    ]
    for one in made:
        for other in made:
            if other is not one:
                one.accept(other)
    return made
