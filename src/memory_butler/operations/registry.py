"""Every operation, in the order in which surfaces list them."""

from collections.abc import Collection
from typing import Any

from memory_butler.operations import (
    consolidation,
    curation,
    entities,
    episodes,
    facts,
    fragments,
    insight,
    jobs,
    journal,
    retrieval,
    rules,
)
from memory_butler.operations.operation import Operation, Toolset

# The default toolset is exactly these 19 tools (TOOL-01, C-63).
OPERATIONS: tuple[Operation[Any, Any], ...] = (
    episodes.STORE_EPISODE,
    facts.STORE_FACT,
    rules.STORE_RULE,
    retrieval.SEARCH,
    retrieval.RECALL,
    curation.GET,
    curation.CONFIRM,
    rules.MARK_HELPFUL,
    rules.MARK_HARMFUL,
    curation.FORGET,
    insight.STATS,
    retrieval.CONTEXT,
    entities.CREATE,
    entities.GET,
    entities.UPDATE,
    entities.RESOLVE,
    entities.MERGE,
    consolidation.RUN_CONSOLIDATION,
    episodes.RUN_EPISODE_CLEANUP,
    consolidation.LIST_DEAD_LETTERS,
    consolidation.RETRY_DEAD_LETTERS,
    jobs.JOBS,
    consolidation.BEGIN,
    consolidation.SUBMIT,
    journal.COMPANIONS,
    journal.LOG,
    journal.STREAM,
    journal.MIND,
    journal.PROMPT,
    journal.RECALL,
    journal.PLANS,
    journal.END_SESSION,
    fragments.GRAPH,
    fragments.FRAGMENT,
    fragments.RUNS,
    fragments.RUN,
    fragments.MAINTAIN,
    fragments.UNDO,
)


def of_toolsets(toolsets: Collection[Toolset]) -> tuple[Operation[Any, Any], ...]:
    """The operations that MCP offers when these toolsets are on."""
    return tuple(one for one in OPERATIONS if one.toolset in toolsets)
