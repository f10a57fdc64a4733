"""The hot searches, second edition: words weighed by rarity and length, and deep search.

As those of mem_006 (which stay one release for servers that still call them), these run with the
owner's rights, because under row-level security the planner would not use a full-text index; they
carry the tenant predicate themselves, and tests call each with no tenant set.
"""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_011"
down_revision = "mem_009"
branch_labels = None
depends_on = None

_CONFIDENT = (
    "effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, asked_at)"
    " >= min_confidence"
)
# Up to two turns of the same session on one side of `m`, the nearest first.
_TURNS = """
CASE WHEN deep AND f.stands_out THEN ARRAY(
    SELECT n.id FROM episodes n
    WHERE n.tenant_id = m.tenant_id AND n.session_id = m.session_id
      AND n.expires_at > asked_at AND (scope_name IS NULL OR n.butler = scope_name)
      AND (coalesce(n.turn, 0), n.occurred_at, n.created_at, n.id)
          {side} (coalesce(m.turn, 0), m.occurred_at, m.created_at, m.id)
    ORDER BY coalesce(n.turn, 0) {way}, n.occurred_at {way}, n.created_at {way}, n.id {way}
    LIMIT 2
) END"""

# What each table adds to the shared text: who may be seen, which column a scope names (SCP-01,
# SCP-02), what scoring needs, what a session is and when something happened. An episode has no
# confidence and is never filtered by it (C-39).
NOUNS = {
    "episodes": {
        "visible": "m.expires_at > asked_at",
        "scoped": "m.butler = scope_name",
        "confident": "true",
        "importance": "m.importance",
        "confidence": "NULL::double precision",
        "decay_rate": "NULL::double precision",
        "last_confirmed_at": "NULL::timestamptz",
        "maturity": "NULL::text",
        "session": "m.session_id",
        "before": _TURNS.format(side="<", way="DESC"),
        "after": _TURNS.format(side=">", way="ASC"),
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


def upgrade() -> None:
    run_files("mem_011_find.sql")
    for noun, parts in NOUNS.items():
        run_files("mem_011_find_function.sql", table=noun, **parts)


def downgrade() -> None:
    for noun in NOUNS:
        run_text(f"DROP FUNCTION find_{noun}")
    run_text("DROP FUNCTION terms_of, entities_named; DROP INDEX idx_episodes_order")
