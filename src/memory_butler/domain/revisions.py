"""The revision of a memory: a name for the state that somebody saw and wants to edit."""

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Final

# Being read changes the counters, and who edits a text does not care how often it was read; the
# last one is told of another row.
_NOT_STATE: Final = frozenset({"reference_count", "last_referenced_at", "superseded_by"})


def revision_of(row: Mapping[str, object]) -> str:
    """A name for the state of a row: equal for equal rows, reference counters apart.

    32 hexadecimal digits; two states share one by accident about never.
    """
    state = {name: value for name, value in row.items() if name not in _NOT_STATE}
    text = json.dumps(state, default=str, sort_keys=True)
    return blake2b(text.encode(), digest_size=16, person=b"memory-revision").hexdigest()
