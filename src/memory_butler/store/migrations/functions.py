"""The texts of the functions, one file each, by their paths below `functions/`.

The searches and the filters by words run with the owner's rights. Under row-level security the
planner uses only leakproof operators as index conditions, and the full-text match is not one: as
the runtime role a keyword search would read the whole table. So they carry the tenant predicate
themselves. They bypass the second wall between tenants; tests call each with no tenant set, and
after another tenant's transaction.

The three tables of memories differ in filter and scoring columns only, so one text serves them.
"""

from functools import cache
from pathlib import Path

from memory_butler.store.queries import Queries

_HERE = Path(__file__).parent

# They need no table, and tables, indexes and other functions need them.
FIRST = (
    "key_of",
    "keys_of",
    "lasting",
    "effective_confidence",
    "without_accents",
    "quoted_lexeme",
    "forms_of",
    "words_of",
    "words_of_each",
    "kept_plans",
    "terms_of",
    "parts_of",
    "words_and_terms",
    "every_term",
    "prefix_terms",
)

_CONFIDENT = (
    "effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, asked_at)"
    " >= min_confidence"
)
# What the asker trusts enough, and does not do without.
_ALLOWED = (
    "(min_trust IS NULL OR {m}.trust >= min_trust) AND (without IS NULL OR {m}.id <> ALL (without))"
)
# Up to two turns of the same session on one side of `m`, the nearest first.
_TURNS = """
CASE WHEN deep AND f.stands_out THEN ARRAY(
    SELECT n.id FROM episodes n
    WHERE n.tenant_id = tenant AND n.session_id = m.session_id
      AND n.expires_at > asked_at AND (scope_name IS NULL OR n.butler = scope_name)
      AND {allowed}
      AND (coalesce(n.turn, 0), n.occurred_at, n.created_at, n.id)
          {side} (coalesce(m.turn, 0), m.occurred_at, m.created_at, m.id)
    ORDER BY coalesce(n.turn, 0) {way}, n.occurred_at {way}, n.created_at {way}, n.id {way}
    LIMIT 2
) END"""

# What each table adds to a shared text: who may be seen, which column a scope names (SCP-01,
# SCP-02), what scoring needs, what a session is and when something happened. An episode has no
# confidence and is never filtered by it (C-39); the report of a sweep is an episode that nobody
# told: it is listed, and never an answer.
_NOUNS = {
    "episodes": {
        "visible": (
            "m.expires_at > asked_at AND NOT (m.butler = 'memory'"
            " AND m.metadata->>'kind' IS NOT DISTINCT FROM 'decay_sweep')"
        ),
        "scoped": "m.butler = scope_name",
        "confident": "true",
        "importance": "m.importance",
        "confidence": "NULL::double precision",
        "decay_rate": "NULL::double precision",
        "last_confirmed_at": "NULL::timestamptz",
        "maturity": "NULL::text",
        "session": "m.session_id",
        "before": _TURNS.format(side="<", way="DESC", allowed=_ALLOWED.format(m="n")),
        "after": _TURNS.format(side=">", way="ASC", allowed=_ALLOWED.format(m="n")),
        "named": "false",
        "happened_at": "m.occurred_at",
    },
    "facts": {
        "visible": "m.validity = 'active' AND (m.valid_until IS NULL OR m.valid_until > asked_at)",
        "scoped": "m.scope IN ('global', scope_name)",
        "confident": _CONFIDENT,
        "importance": "m.importance",
        "confidence": "m.confidence",
        "decay_rate": "m.decay_rate",
        "last_confirmed_at": "m.last_confirmed_at",
        "maturity": "NULL::text",
        "session": "NULL::uuid",
        "before": "NULL::uuid[]",
        "after": "NULL::uuid[]",
        "named": "m.entity_id = ANY (entities)",
        "happened_at": "m.valid_from",
    },
    "rules": {
        "visible": (
            "m.metadata->>'forgotten' IS DISTINCT FROM 'true'"
            " AND m.metadata->>'disabled' IS DISTINCT FROM 'true'"
        ),
        "scoped": "m.scope IN ('global', scope_name)",
        "confident": _CONFIDENT,
        "importance": "NULL::double precision",
        "confidence": "m.confidence",
        "decay_rate": "m.decay_rate",
        "last_confirmed_at": "m.last_confirmed_at",
        "maturity": "m.maturity",
        "session": "NULL::uuid",
        "before": "NULL::uuid[]",
        "after": "NULL::uuid[]",
        "named": "false",
        "happened_at": "NULL::timestamptz",
    },
}
# Whatever the view of the past calls active was true at the moment that was asked for.
_PAST_FACTS = (
    "m.validity = 'active' AND (memory_history.as_of() IS NOT NULL OR"
    " m.valid_until IS NULL OR m.valid_until > asked_at)"
)
_EVERY = ("episodes", "facts", "rules")
# Which tables a text with `{table}` is for.
_TABLES = {
    "worded": _EVERY,
    "nearest": _EVERY,
    "pointed_facts": ("facts",),
    "facts_saying": ("facts",),
    "find_episodes": ("episodes",),
    "with_terms": ("episodes", "rules"),
    "memory_history/find": _EVERY,
}


@cache
def texts() -> dict[str, str]:
    """The statements that make each function, or each of the functions of one text, by its name."""
    folder = _HERE / "functions"
    paths = sorted(folder.rglob("*.sql"))
    names = [path.relative_to(folder).with_suffix("").as_posix() for path in paths]
    made = [path.read_text(encoding="utf-8") for path in paths]
    return {name: _filled(name, text) for name, text in zip(names, made, strict=True)}


@cache
def _found_alike() -> Queries:
    return Queries("found_alike", (_HERE / "found_alike.sql").read_text(encoding="utf-8"))


def _filled(name: str, text: str) -> str:
    filled = []
    for table in _TABLES.get(name, ("",)):
        parts = {
            **_found_alike(),
            "table": table,
            "allowed": _ALLOWED.format(m="m"),
            **_NOUNS.get(table, {}),
        }
        if (name, table) == ("memory_history/find", "facts"):
            parts["visible"] = _PAST_FACTS
        one = text
        for placeholder, filling in parts.items():
            one = one.replace(f"{{{placeholder}}}", filling)
        filled.append(one)
    return "\n".join(filled)
