"""The two arms of an everyday search as functions of their own, each read for the best alone.

A deep search goes on with those of mem_011. Like them, these run with the owner's rights, because
under row-level security the planner would not use a full-text index; they carry the tenant
predicate themselves, and tests call each with no tenant set.
"""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_017"
down_revision = "mem_015"
branch_labels = None
depends_on = None

_CONFIDENT = (
    "effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, asked_at)"
    " >= min_confidence"
)
# What each table adds to the shared texts: who may be seen, which column a scope names (SCP-01,
# SCP-02), and what scoring needs. An episode has no confidence and is never filtered by it (C-39).
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
    },
}


def upgrade() -> None:
    for noun, parts in NOUNS.items():
        run_files(
            "mem_017_worded_function.sql", "mem_017_nearest_function.sql", table=noun, **parts
        )


def downgrade() -> None:
    for noun in NOUNS:
        run_text(f"DROP FUNCTION worded_{noun}, nearest_{noun}")
