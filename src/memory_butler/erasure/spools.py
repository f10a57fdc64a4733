"""Episodes that butlers have on disk and memory has not got yet."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Characters of an id.
_ID: Final = 36


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which of them are to be erased: of these ids, or of a session."""

    episode_ids: frozenset[str]
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Spooled:
    """What was deleted, and what still waits: a spool does not say to which tenant it will go."""

    erased: int
    left: int


def erase(folder: Path, wanted: Wanted) -> Spooled:
    """Delete those that wait in any butler's spool or were set aside there."""
    erased = left = 0
    for path in sorted(folder.glob("**/*.sealed")):
        # Encrypted; its name ends with the ids of the session and the episode.
        session_id, episode_id = path.stem[-2 * _ID - 1 : -_ID - 1], path.stem[-_ID:]
        if episode_id in wanted.episode_ids or session_id == wanted.session_id:
            path.unlink(missing_ok=True)
            erased += 1
        else:
            left += 1
    for path in sorted(folder.glob("**/*.json")):
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue  # a butler has just sent it
        except (OSError, ValueError):
            said = {}  # nobody can say what it is, so it is told
        if not isinstance(said, dict):
            said = {}
        of_session = wanted.session_id is not None and said.get("session_id") == wanted.session_id
        if of_session or said.get("episode_id") in wanted.episode_ids:
            path.unlink(missing_ok=True)
            erased += 1
        else:
            left += 1
    return Spooled(erased, left)
