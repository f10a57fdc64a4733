"""Episodes that butlers have on disk and memory has not got yet."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which of them are to be erased: of these ids, or of a session."""

    episode_ids: frozenset[str]
    session_id: str | None = None


def erase(folder: Path, wanted: Wanted) -> int:
    """Delete those that wait in any butler's spool or were set aside there; how many."""
    erased = 0
    for path in sorted(folder.glob("**/*.json")):
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue  # of a butler that is just sending it, or nothing of ours
        if not isinstance(said, dict):
            continue
        of_session = wanted.session_id is not None and said.get("session_id") == wanted.session_id
        if of_session or said.get("episode_id") in wanted.episode_ids:
            path.unlink(missing_ok=True)
            erased += 1
    return erased
