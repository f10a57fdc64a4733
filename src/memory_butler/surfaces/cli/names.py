"""How the operations of the registry are called at the command line: the one table of names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

FIND: Final = "Find"
STORE: Final = "Store"
CURATE: Final = "Curate"
KEEP: Final = "Keep in order"


@dataclass(frozen=True, slots=True)
class Named:
    """How an operation is called here. `assumed` makes options of required inputs.

    `path` is the module below `operations` and the name there, so that a command imports its own
    operation alone.
    """

    words: str
    path: str
    panel: str
    summary: str
    examples: tuple[str, ...] = ()
    assumed: Mapping[str, str] = field(default_factory=dict)

    @property
    def topic(self) -> str:
        """The module of the operation."""
        return self.path.partition(".")[0]

    @property
    def operation(self) -> str:
        """The name of the operation."""
        return self.path.partition(".")[2]


_COLOUR = 'memory-butler store-fact user favorite_color "Prefers dark green" --tag taste'

COMMANDS: Final[tuple[Named, ...]] = (
    Named(
        "recall",
        "retrieval.memory_recall",
        FIND,
        "Get the facts and rules that matter most for a topic.",
        ('memory-butler recall "dinner with Ana" --limit 5', "memory-butler recall travel --json"),
    ),
    Named(
        "search",
        "retrieval.memory_search",
        FIND,
        "Find episodes, facts and rules by vector and keyword search.",
        ('memory-butler search "lost luggage" --type episode --mode keyword',),
    ),
    Named(
        "context",
        "retrieval.memory_context",
        FIND,
        "Print the memory block for a prompt, as a session gets it.",
        ('memory-butler context "Plan my week" claude-code --token-budget 1000',),
    ),
    Named(
        "facts",
        "facts.facts_list",
        FIND,
        "List facts: active, waiting or archived.",
        ("memory-butler facts --subject user", "memory-butler facts --validity waiting"),
    ),
    Named("get", "curation.memory_get", FIND, "Show one memory in full, in any state."),
    Named(
        "explain",
        "receipts.memory_explain",
        FIND,
        "Explain why each line is in a context, and what just missed.",
        ("memory-butler explain 6f1c…",),
    ),
    Named(
        "replay",
        "receipts.memory_replay",
        FIND,
        "Rebuild a context from its receipt, byte for byte.",
    ),
    Named(
        "contexts", "receipts.memory_receipts", FIND, "List the contexts that were built lately."
    ),
    Named(
        "diff",
        "timeline.memory_diff",
        FIND,
        "Show what was learned, changed and forgotten between two dates.",
        ("memory-butler diff --from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z",),
    ),
    Named(
        "context-without",
        "without.memory_context_without",
        FIND,
        "Show what would change in a context without some memories.",
        ('memory-butler context-without "Plan my week" claude-code 6f1c…',),
    ),
    Named(
        "calibration",
        "calibration.memory_calibration",
        FIND,
        "Compare memory's confidence with what came true.",
        ("memory-butler calibration --memory-type fact --days 90",),
    ),
    Named(
        "stats",
        "insight.memory_stats",
        FIND,
        "Show how much memory there is, and how healthy it is.",
    ),
    Named(
        "store-fact",
        "facts.memory_store_fact",
        STORE,
        "Store a fact; it supersedes the one of the same subject and predicate.",
        (_COLOUR, "memory-butler store-fact user city Lisbon --valid-from 2026-01-01T00:00:00Z"),
    ),
    Named(
        "store-rule",
        "rules.memory_store_rule",
        STORE,
        "Store a rule: a lesson on how to behave.",
        ('memory-butler store-rule "Confirm before sending messages"',),
    ),
    Named(
        "store-episode",
        "episodes.memory_store_episode",
        STORE,
        "Store an episode: what happened; - reads standard input.",
        (
            'memory-butler store-episode "Ana called about the trip"',
            "memory-butler store-episode - --butler notes < today.txt",
        ),
        {"butler": "cli"},
    ),
    Named("confirm", "curation.memory_confirm", CURATE, "Confirm that a fact or rule still holds."),
    Named(
        "accept",
        "facts.fact_accept",
        CURATE,
        "Accept a waiting fact, whose evidence is in doubt.",
        ("memory-butler facts --validity waiting", "memory-butler accept 6f1c…"),
    ),
    Named(
        "forget",
        "curation.memory_forget",
        CURATE,
        "Remove a memory from retrieval; `restore` brings it back.",
    ),
    Named(
        "undo",
        "undo.memory_undo",
        CURATE,
        "Undo a change, if nothing later depends on it; without an id your last one.",
        ("memory-butler undo --dry-run", "memory-butler undo --run-id 6f1c…"),
    ),
    Named(
        "conflicts list",
        "conflicts.conflicts_list",
        CURATE,
        "List pairs of facts that repeat or contradict each other.",
    ),
    Named(
        "conflicts settle",
        "conflicts.conflict_settle",
        CURATE,
        "Decide which of two facts holds; nothing is deleted.",
        ("memory-butler conflicts settle 6f1c… 91ab… keep_later",),
    ),
    Named("mark-helpful", "rules.memory_mark_helpful", CURATE, "Report that a rule helped."),
    Named("mark-harmful", "rules.memory_mark_harmful", CURATE, "Report that a rule did harm."),
    Named(
        "entity create",
        "entities.entity_create",
        CURATE,
        "Register a person, organisation or place.",
        ('memory-butler entity create "Ana Silva" person --alias Ana',),
    ),
    Named("entity get", "entities.entity_get", CURATE, "Show an entity with its names."),
    Named("entity update", "entities.entity_update", CURATE, "Correct an entity."),
    Named(
        "entity resolve",
        "entities.entity_resolve",
        CURATE,
        "Find entities by name, best match first.",
    ),
    Named("entity merge", "entities.entity_merge", CURATE, "Merge two entities into one."),
    Named(
        "consolidate",
        "consolidation.memory_run_consolidation",
        KEEP,
        "Turn waiting episodes into facts and rules.",
    ),
    Named(
        "cleanup",
        "episodes.memory_run_episode_cleanup",
        KEEP,
        "Delete expired episodes.",
    ),
    Named(
        "jobs",
        "jobs.memory_jobs",
        KEEP,
        "List the scheduled jobs and how the last runs went.",
    ),
    Named(
        "consolidation begin",
        "consolidation.consolidation_begin",
        KEEP,
        "Claim waiting episodes and print the prompt for your own model.",
        ("memory-butler consolidation begin --json > task.json",),
    ),
    Named(
        "consolidation submit",
        "consolidation.consolidation_submit",
        KEEP,
        "Submit your model's answer.",
        ('memory-butler consolidation submit 6f1c… "$(cat answer.json)"',),
    ),
    Named(
        "dead-letters list",
        "consolidation.dead_letters_list",
        KEEP,
        "List the episodes that consolidation gave up on, and why.",
    ),
    Named(
        "dead-letters retry",
        "consolidation.dead_letters_retry",
        KEEP,
        "Let the next consolidation retry them.",
        ("memory-butler dead-letters retry", "memory-butler dead-letters retry --episode-id 6f1c…"),
    ),
)
