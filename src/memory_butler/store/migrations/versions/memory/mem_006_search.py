"""The hot searches, as functions of the owner.

Under row-level security the planner uses only leakproof operators as index conditions, and the
full-text match is not one: as the runtime role a keyword search would read the whole table. So the
searches run with the owner's rights and carry the tenant predicate themselves. They bypass the
second wall; tests call each with no tenant set, and after another tenant's transaction.

The three tables differ in filter and scoring columns only, so one text serves all three.
"""

from memory_butler.store.migrations.script import run_files, run_text

revision = "mem_006"
down_revision = "mem_005"
branch_labels = None
depends_on = None

# What each table adds to the shared text: who may be seen, which column a scope names (SCP-01,
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
        "confident": (
            "effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, asked_at)"
            " >= min_confidence"
        ),
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
        "confident": (
            "effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, asked_at)"
            " >= min_confidence"
        ),
        "importance": "NULL::double precision",
        "confidence": "m.confidence",
        "decay_rate": "m.decay_rate",
        "last_confirmed_at": "m.last_confirmed_at",
        "maturity": "m.maturity",
    },
}


def upgrade() -> None:
    run_files("mem_006_search.sql")
    for noun, parts in NOUNS.items():
        run_files("mem_006_search_function.sql", table=noun, **parts)


def downgrade() -> None:
    for noun in NOUNS:
        run_text(f"DROP FUNCTION search_{noun}")
    run_text("DROP FUNCTION effective_confidence, any_of_terms")
