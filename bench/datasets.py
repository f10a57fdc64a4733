"""Public conversations with labelled evidence, as the benchmarks read them.

LoCoMo: Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", 2024; gold
is the dialogue turns named by `qa[].evidence`. BEAM: the 100K chats of Tavakoli et al., 2025; gold
is the messages named by `source_chat_ids`. REALTALK: chats between people over 21 days; gold as in
LoCoMo. The data is not part of this repository: pass its folder with `--data`.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DEFAULT_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message; `session` groups the messages of one sitting."""

    id: str
    speaker: str
    text: str
    session: str
    said_at: datetime | None

    def rendered(self) -> str:
        """The turn as an agent would write it down: when, who, what."""
        when = f"[{self.said_at.day} {self.said_at:%B %Y}] " if self.said_at else ""
        return f"{when}{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns that hold its answer."""

    text: str
    category: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in order, and the questions about them that have usable gold."""

    name: str
    turns: list[Turn]
    questions: list[Question] = field(default_factory=list)


def locomo(data: Path) -> Iterator[Conversation]:
    """The LoCoMo conversations of `locomo_dev.json`."""
    for document in json.loads((data / "locomo_dev.json").read_text(encoding="utf-8")):
        talk = document["conversation"]
        sessions = sorted(
            (key for key in talk if re.fullmatch(r"session_\d+", key)),
            key=lambda key: int(key.removeprefix("session_")),
        )
        turns = [
            Turn(
                id=turn["dia_id"],
                speaker=turn["speaker"],
                text=_with_caption(turn),
                session=session,
                said_at=_locomo_time(talk.get(f"{session}_date_time", "")),
            )
            for session in sessions
            for turn in talk[session]
        ]
        known = {turn.id for turn in turns}
        yield Conversation(
            document["sample_id"],
            turns,
            [
                Question(asked["question"], f"category {asked['category']}", gold)
                for asked in document["qa"]
                if (gold := frozenset(_evidence(asked.get("evidence"))) & known)
            ],
        )


def beam(data: Path) -> Iterator[Conversation]:
    """The BEAM chats under `beam_100k/`."""
    for chat in _chats(data / "beam_100k", "*/chat.json"):
        turns: list[Turn] = []
        said_at: datetime | None = None
        for batch in json.loads(chat.read_text(encoding="utf-8")):
            for message in (one for turn in batch["turns"] for one in turn):
                said_at = _beam_time(message.get("time_anchor")) or said_at
                text = re.sub(r"\s*->->\s*[\d,\sN/A]*$", "", message["content"]).strip()
                session = f"batch {batch['batch_number']}"
                turns.append(Turn(str(message["id"]), message["role"], text, session, said_at))
        known = {turn.id for turn in turns}
        probing = json.loads((chat.parent / "probing_questions.json").read_text(encoding="utf-8"))
        yield Conversation(
            f"beam-{chat.parent.name}",
            turns,
            [
                Question(asked["question"], category, gold)
                for category, questions in probing.items()
                for asked in questions
                if (gold := frozenset(_numbers(asked.get("source_chat_ids"))) & known)
            ],
        )


def realtalk(data: Path) -> Iterator[Conversation]:
    """The REALTALK chats under `realtalk_dev/`."""
    for chat in _chats(data / "realtalk_dev", "Chat_*.json"):
        document = json.loads(chat.read_text(encoding="utf-8"))
        sessions = sorted(
            (key for key in document if re.fullmatch(r"session_\d+", key)),
            key=lambda key: int(key.removeprefix("session_")),
        )
        turns = [
            Turn(
                id=turn["dia_id"],
                speaker=turn["speaker"],
                text=_with_caption(turn, "clean_text"),
                session=session,
                said_at=_realtalk_time(turn.get("date_time", "")),
            )
            for session in sessions
            for turn in document[session]
        ]
        known = {turn.id for turn in turns if turn.text}
        yield Conversation(
            chat.stem,
            turns,
            [
                Question(asked["question"], f"category {asked['category']}", gold)
                for asked in document["qa"]
                if (gold := frozenset(_evidence(asked.get("evidence"))) & known)
            ],
        )


def _chats(folder: Path, pattern: str) -> list[Path]:
    """The files of a set, in order; FileNotFoundError where there is none."""
    found = sorted(folder.glob(pattern))
    if not found:
        raise FileNotFoundError(f"no {pattern} in {folder}: name the data's folder with --data")
    return found


SETS = {"locomo": locomo, "beam": beam, "realtalk": realtalk}


def _with_caption(turn: dict[str, Any], text_key: str = "text") -> str:
    text: str = (turn.get(text_key) or "").strip()
    caption = turn.get("blip_caption")
    if isinstance(caption, list):
        caption = "; ".join(map(str, caption))
    return f"{text} [shared photo: {caption.strip()}]".strip() if caption else text


def _evidence(named: list[Any] | None) -> Iterator[str]:
    """Ids such as `D8:6`; some are joined ("D8:6; D9:17") or mistyped ("D:11:26", "D30:05")."""
    for text in named or []:
        for session, turn in re.findall(r"D\s*:?\s*(\d+):(\d+)", str(text)):
            yield f"D{int(session)}:{int(turn)}"


def _numbers(value: Any) -> Iterator[str]:
    """Every whole number in a nest of lists and objects, as an id."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int):
        yield str(value)
    elif isinstance(value, str):
        yield from re.findall(r"\d+", value)
    else:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _numbers(item)


def _locomo_time(text: str) -> datetime | None:
    """For example "1:56 pm on 8 May, 2023"."""
    return _parsed(text, "%I:%M %p on %d %B, %Y")


def _realtalk_time(text: str) -> datetime | None:
    """For example "29.12.2023, 22:42:04"."""
    return _parsed(text, "%d.%m.%Y, %H:%M:%S")


def _beam_time(text: str | None) -> datetime | None:
    """For example "March-15-2024"."""
    return _parsed(text or "", "%B-%d-%Y")


def _parsed(text: str, pattern: str) -> datetime | None:
    try:
        return datetime.strptime(text.strip(), pattern).replace(tzinfo=UTC)
    except ValueError:
        return None
