"""Programs' own records, for the stores and sessions of agent frameworks.

Not memories: nothing fades, nothing is learned from them, and recall does not see them; who asks
for one namespace is never served another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from memory_butler.domain import items as rules
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.store import items
from memory_butler.store.rows import Row
from memory_butler.store.transaction import retried, transaction

# With a name of 500 bytes for the tenant and one for the key below what an index entry holds.
MAX_NAMESPACE_BYTES: Final = 1000
MAX_LABELS: Final = 20
MAX_VALUE_BYTES: Final = 1024 * 1024
MAX_ITEMS: Final = 200
MAX_TTL_MINUTES: Final = 100 * 365.25 * 24 * 60  # a century
_EXPIRED_AT_ONCE: Final = 1000


@dataclass(frozen=True, slots=True)
class Change:
    """A record to write, or to delete where `value` is None.

    `text` is what it is found by; None: not by meaning.
    """

    namespace: Sequence[str]
    key: str
    value: Mapping[str, Any] | None
    text: str | None = None
    ttl_minutes: float | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """How a namespace must begin or end; "*" is any label."""

    match: Literal["prefix", "suffix"]
    path: Sequence[str]


async def put_items(memory: Memory, principal: Principal, changes: Sequence[Change]) -> None:
    """Make all changes or none; of several of one record the last one counts.

    Raises:
        InvalidInput: a name, value or time to live is not one that can be kept.
    """
    _few("changes", changes)
    # In the order of their names, so that two who write the same do not wait for each other.
    by_name = {(tuple(namespace(one.namespace)), _key(one.key)): one for one in changes}
    ordered = sorted(by_name.items(), key=lambda named: named[0])
    gone = [(list(place), key) for (place, key), one in ordered if one.value is None]
    kept = [((list(place), key), one) for (place, key), one in ordered if one.value is not None]
    values = [_value(one.value) for _, one in kept]
    times = [_ttl(one.ttl_minutes) for _, one in kept]
    texts = [text for _, one in kept if (text := _meant(one.text)) is not None]
    vectors = iter(await memory.embedder.embed_many(texts) if texts else ())
    new = [
        items.NewItem(*name, value, ttl, None if _meant(one.text) is None else next(vectors))
        for (name, one), value, ttl in zip(kept, values, times, strict=True)
    ]

    async def write() -> None:
        now = memory.clock()
        async with transaction(memory.pool, principal.tenant) as tx:
            await items.expire(tx, now, _EXPIRED_AT_ONCE)
            await items.delete(tx, gone)
            await items.put(tx, new, memory.embedding_version_id, now)

    await retried(write)


async def get_items(
    memory: Memory,
    principal: Principal,
    names: Sequence[tuple[Sequence[str], str]],
    refresh: bool = True,
) -> list[Row | None]:
    """The records of these names, None for each that there is not.

    `refresh` begins the time to live of those found anew.
    """
    _few("names", names)
    clean = [(namespace(place), _key(key)) for place, key in names]

    async def read() -> list[Row]:
        now = memory.clock()
        async with transaction(memory.pool, principal.tenant, durable=False) as tx:
            if refresh:
                await items.touch(tx, clean, now)
            return await items.get(tx, clean, now)

    found = {(tuple(row["namespace"]), row["key"]): row for row in await retried(read)}
    return [found.get((tuple(place), key)) for place, key in clean]


async def search_items(
    memory: Memory,
    principal: Principal,
    prefix: Sequence[str],
    query: str | None = None,
    wanted: Mapping[str, Any] | None = None,
    *,
    limit: int = 10,
    offset: int = 0,
    refresh: bool = True,
) -> list[Row]:
    """Records below a namespace that fit the filter: the nearest to `query` first with their
    `score`, then those that have no vector, the latest first.

    Every record of the namespace is compared: exact, and as slow as there are many.
    """
    place, limit = namespace(prefix) if prefix else [], inputs.limit(limit)
    conditions = rules.conditions(inputs.json_value("filter", wanted or {}))
    asked = inputs.query("query", query or "")
    vector = None
    if asked.strip():
        vector = await memory.embedder.embed_query(asked, principal.tenant)

    async def read() -> list[Row]:
        now = memory.clock()
        async with transaction(memory.pool, principal.tenant, durable=False) as tx:
            found = await items.search(
                *(tx, place, conditions, vector, memory.embedding_version_id, now, limit, offset)
            )
            if refresh:
                await items.touch(tx, [(row["namespace"], row["key"]) for row in found], now)
            return found

    return await retried(read)


async def list_namespaces(
    memory: Memory,
    principal: Principal,
    under: Sequence[str] = (),
    matches: Sequence[Match] = (),
    *,
    max_depth: int | None = None,
    limit: int = 100,
    offset: int = 0,
) -> list[list[str]]:
    """The namespaces below `under` that have records and fit all matches, in order, as what follows
    `under`, cut to `max_depth` labels."""
    place, limit = namespace(under) if under else [], inputs.limit(limit)
    wanted = [{"match": one.match, "path": namespace(one.path)} for one in matches if one.path]
    depth = None if max_depth is None else min(max_depth, MAX_LABELS)
    async with transaction(memory.pool, principal.tenant, durable=False) as tx:
        return await items.namespaces(tx, place, wanted, depth, memory.clock(), limit, offset)


async def append_items(
    memory: Memory, principal: Principal, place: Sequence[str], values: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Write records behind the last one of a namespace, all or none; their keys, which are numbers.

    Whoever appends at the same time comes wholly before or wholly after.

    Raises:
        InvalidInput: the namespace or a value is not one that can be kept.
    """
    _few("values", values)
    clean, new = namespace(place), [_value(one) for one in values]

    async def write() -> list[str]:
        async with transaction(memory.pool, principal.tenant) as tx:
            return await items.append(tx, clean, new, memory.clock())

    return await retried(write)


async def tail_items(
    memory: Memory,
    principal: Principal,
    place: Sequence[str],
    *,
    before: str | None = None,
    limit: int = 10,
) -> list[Row]:
    """The last records of exactly this namespace, or the last before the key `before`, in order."""
    clean, limit = namespace(place), inputs.limit(limit)
    end = None if before is None else _key(before)
    async with transaction(memory.pool, principal.tenant, durable=False) as tx:
        return await items.tail(tx, clean, end, memory.clock(), limit)


async def pop_item(memory: Memory, principal: Principal, place: Sequence[str]) -> Row | None:
    """Remove the last record of a namespace; each is given to one caller alone."""
    clean = namespace(place)

    async def take() -> Row | None:
        async with transaction(memory.pool, principal.tenant) as tx:
            return await items.pop(tx, clean, memory.clock())

    return await retried(take)


async def clear_items(memory: Memory, principal: Principal, place: Sequence[str]) -> int:
    """Remove every record of exactly this namespace; how many it were."""
    clean = namespace(place)

    async def remove() -> int:
        async with transaction(memory.pool, principal.tenant) as tx:
            return await items.clear(tx, clean)

    return await retried(remove)


async def expire_items(memory: Memory, principal: Principal) -> int:
    """Remove every record whose time is over; how many it were."""
    now, gone = memory.clock(), 0
    while True:
        async with transaction(memory.pool, principal.tenant) as tx:
            count = await items.expire(tx, now, _EXPIRED_AT_ONCE)
        gone += count
        if count < _EXPIRED_AT_ONCE:
            return gone


async def count_expired_items(memory: Memory, principal: Principal) -> int:
    """How many records `expire_items` would remove."""
    async with transaction(memory.pool, principal.tenant) as tx:
        return await items.count_expired(tx, memory.clock())


def namespace(labels: Sequence[str]) -> list[str]:
    """One to 20 labels, together at most 1,000 bytes."""
    if not 1 <= len(labels) <= MAX_LABELS:
        raise InvalidInput(f"a namespace has 1 to {MAX_LABELS} labels, not {len(labels)}")
    clean = [inputs.key("a label of the namespace", label) for label in labels]
    size = sum(len(label.encode()) for label in clean)
    if size > MAX_NAMESPACE_BYTES:
        raise InvalidInput(
            f"the namespace has {size:,} bytes, at most {MAX_NAMESPACE_BYTES:,} are kept"
        )
    return clean


def _key(key: str) -> str:
    return inputs.key("key", key)


def _value(value: Mapping[str, Any] | None) -> dict[str, Any]:
    clean: dict[str, Any] = inputs.kept_value(dict(value or {}), MAX_VALUE_BYTES)
    return clean


def _ttl(minutes: float | None) -> float | None:
    if minutes is not None and not 0 < minutes <= MAX_TTL_MINUTES:
        raise InvalidInput(
            f"ttl_minutes must be above 0 and at most {MAX_TTL_MINUTES:,.0f}, not {minutes}; "
            "leave it out for what stays"
        )
    return minutes


def _meant(text: str | None) -> str | None:
    """The text, if there is anything in it to be found by."""
    return None if text is None or not text.strip() else inputs.text("text", text)


def _few(what: str, given: Sequence[Any]) -> None:
    if len(given) > MAX_ITEMS:
        raise InvalidInput(f"{len(given)} {what} are given, at most {MAX_ITEMS} go at once")
