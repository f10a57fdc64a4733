"""Check the event log of a Memory Butler: `python audit.py DUMP --key FILE [--checkpoint FILE]`.

It needs Python and nothing else: copy it to another machine, and check there what `memory-butler
audit --export DUMP` wrote. The store makes its seals with the functions of this file.

Each event has a seal: `content` is a keyed hash of what the event says, `mac` of all that it is,
`link` of this seal and the one before. A checkpoint signs the last link (Ed25519). Erasing an event
takes its payload and the salt of `content`; the seal stays. docs/audit.md has the format.
"""

import argparse
import hashlib
import hmac
import json
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any, Final

KIND: Final = "memory-butler-audit"
START: Final = "00" * 32
EVENT: Final = ("id", "event_type", "actor", "created_at", "step")
ERASING: Final = "memories_erased"
# Clocks of several servers differ, and are corrected: a step back of more is reported.
CLOCK_TOLERANCE: Final = timedelta(seconds=60)
# What a field that somebody changed can raise, wherever it is used.
_MALFORMED: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
_LONG: Final = 4000  # digits: Python refuses to read an int of more than 4300


def parsed(text: str) -> Any:
    """JSON with every digit of its numbers."""
    return json.loads(text, parse_float=Decimal, parse_int=_integer)


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) < _LONG else Decimal(text)


def canonical(value: Any) -> str:
    """JSON in one form alone: keys sorted, no spaces, ASCII, numbers without superfluous zeros."""
    if isinstance(value, Mapping):
        parts = (f"{json.dumps(key)}:{canonical(value[key])}" for key in sorted(value))
        return "{" + ",".join(parts) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return json.dumps(value)
    text = format(Decimal(str(value)), "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def content_mac(key: bytes, salt: bytes, payload: Any) -> bytes:
    """The keyed hash of what an event says; without its salt nobody can guess the content."""
    return hmac.digest(key, b"content\0" + salt + canonical(payload).encode(), "sha256")


def event_mac(key: bytes, tenant: str, event: Mapping[str, Any], content: bytes) -> bytes:
    """The keyed hash of an event: its columns in `EVENT`, and its content."""
    said = [tenant, *(event[name] for name in EVENT), content.hex()]
    return hmac.digest(key, b"event\0" + canonical(said).encode(), "sha256")


def link_mac(key: bytes, before: str, seq: int, at: str, event_id: str, mac: str) -> str:
    """The keyed hash that ties a seal to the one before it; hashes as hex, `at` as ISO 8601."""
    said = canonical([before, seq, at, event_id, mac])
    return hmac.digest(key, b"link\0" + said.encode(), "sha256").hex()


@dataclass(frozen=True, slots=True)
class Break:
    """A place where the log is not what it was; `kind` says in which way."""

    kind: str
    tenant: str
    seq: int | None
    event_id: str | None
    said: str


@dataclass(slots=True)
class Report:
    """What was checked, and every break in the order of the log; last what may follow from one."""

    tenant: str = ""
    sealed: int = 0
    waiting: int = 0
    erased: int = 0
    since: str = "no checkpoint yet"
    last_seq: int = 0
    breaks: list[Break] = field(default_factory=list)


class Audit:
    """Checks the lines of a dump, one by one; `finish` gives the report.

    Args:
        key: of the chain.
        public: the Ed25519 key that signs checkpoints, 32 bytes.
        kept: checkpoints that were kept outside of the store.
    """

    def __init__(self, key: bytes, public: bytes, kept: Iterable[Mapping[str, str]] = ()):
        self._key, self._public, self.report = key, public, Report()
        self._given = list(kept)
        self._heads: dict[int, str] = {}
        self._signed_until = 0
        self._next, self._link, self._ended = 1, START, False
        self._uncounted = 0
        self._latest: datetime | None = None
        self._erasures: dict[str, set[str]] = {}
        self._emptied: list[tuple[int | None, str, str]] = []

    def feed(self, text: str) -> None:
        """Take the next line: the header, the seals in their order with their events, the end.

        A line that cannot be read is a break.
        """
        try:
            self._take(parsed(text))
        except _MALFORMED as error:
            said = f"this line cannot be read ({type(error).__name__})"
            self._break("changed", self._next, None, said)

    def _take(self, line: Mapping[str, Any]) -> None:
        if "kind" in line:
            self._begin(line["tenant"], line["checkpoint"])
        elif "end" in line:
            self._ended = True
        elif line["seal"] is None:
            self._break("inserted", None, line["event"]["id"], "an event without a seal")
        elif line["seal"]["seq"] is None:
            self.report.waiting += 1
            self._event(line["seal"], line["event"])
        else:
            self._sealed(line["seal"], line["event"])

    def finish(self) -> Report:
        """Compare the end with the checkpoints, and erased events with the erasures."""
        last = self.report.last_seq = self._next - 1
        if not self._ended:
            self._break("truncated", self._next, None, "the file ends before its end line")
        end = max(self._heads, default=0)
        said = f"the log ends at {last}; a checkpoint was signed at {end}"
        if end > last:
            self._break("truncated", self._next, None, said)
        elif last > self._signed_until:
            self._break("checkpoint", last, None, said)
        self.report.breaks.sort(key=lambda one: (one.seq is None, one.seq or 0))
        # Last, because they may follow from an erasure that was changed or is gone.
        for seq, event_id, erasure in self._emptied:
            if event_id not in self._erasures.get(erasure, ()):
                self._break("changed", seq, event_id, "its content is gone without an erasure")
        return self.report

    def _begin(self, tenant: str, checkpoint: Mapping[str, str] | None) -> None:
        self.report.tenant = tenant
        kept = [found for one in self._given if (found := self._statement(one))]
        signed = self._statement(checkpoint) if checkpoint else {}
        self._heads = {one["seq"]: one["link"] for one in (*kept, signed) if one}
        if not signed:
            return
        base, self._signed_until = signed["base"], signed["seq"]
        self._next, self._link = base["seq"] + 1, base["link"]
        # An erasure takes the seals before it; only where the operator accepted are they there.
        self._uncounted = base["seq"] if base["why"] == "accepted" else 0
        self.report.since = f"{base['why']} at {base['at']}, after seal {base['seq']}"
        if base["adopted"]:
            self.report.since += f"; {base['adopted']} events were there before"
        for one in kept:
            late = one["number"] >= signed["number"] and one != signed
            if late and one["seq"] <= signed["seq"]:
                self._break("checkpoint", signed["seq"], None, "another checkpoint was kept")

    def _break(self, kind: str, seq: int | None, event_id: str | None, said: str) -> None:
        self.report.breaks.append(Break(kind, self.report.tenant, seq, event_id, said))

    def _statement(self, one: Mapping[str, str]) -> dict[str, Any]:
        with suppress(*_MALFORMED):
            text, signature = one["statement"], bytes.fromhex(one["signature"])
            if verified(self._public, signature, text.encode()):
                statement: dict[str, Any] = parsed(text)
                if statement["tenant"] == self.report.tenant:
                    return statement
        said = "a checkpoint is not signed with the expected key, or is of another tenant"
        self._break("checkpoint", None, None, said)
        return {}

    def _sealed(self, seal: Mapping[str, Any], event: Mapping[str, Any] | None) -> None:
        seq, event_id, link = seal["seq"], seal["event_id"], seal["link"]
        if 1 <= seq <= self._uncounted:
            return  # before the place from which the log counts
        if seq < self._next:
            self._break("inserted", seq, event_id, "a seal of a number that was not given")
            return
        self.report.sealed += 1
        made = link_mac(self._key, self._link, seq, seal["sealed_at"], event_id, seal["mac"])
        if seq > self._next:
            self._break("dropped", self._next, None, f"no seals {self._next} to {seq - 1}")
        elif made != link:
            self._break("reordered", seq, event_id, "this seal, or its place, was changed")
        elif self._heads.get(seq, link) != link:
            self._break("checkpoint", seq, event_id, "a signed checkpoint says otherwise")
        self._clock(seq, event_id, seal["sealed_at"])
        self._event(seal, event)
        self._next, self._link = seq + 1, link

    def _clock(self, seq: int, event_id: str, text: str) -> None:
        try:
            at = datetime.fromisoformat(text)
            latest = max(at, self._latest or at)
            if at.tzinfo is None:
                raise ValueError
        except _MALFORMED:
            self._break("clock", seq, event_id, f"sealed at {text}, which is not a date")
            return
        if latest - at > CLOCK_TOLERANCE:
            said = f"sealed at {at.isoformat()}, after {latest.isoformat()}"
            self._break("clock", seq, event_id, said)
        self._latest = latest

    def _event(self, seal: Mapping[str, Any], event: Mapping[str, Any] | None) -> None:
        seq, event_id, content = seal["seq"], seal["event_id"], bytes.fromhex(seal["content"])
        payload: Any = None if event is None else event["payload"]
        if event is None:
            self._break("dropped", seq, event_id, "the event is gone, its seal is there")
        elif event_mac(self._key, self.report.tenant, event, content).hex() != seal["mac"]:
            self._break("changed", seq, event_id, "type, actor, time, step or seal was changed")
        elif seal["salt"] is None:
            self.report.erased += 1
            erasure = payload.get("erased") if isinstance(payload, dict) else None
            if payload != {"erased": erasure}:
                self._break("changed", seq, event_id, "an erased event says something")
            self._emptied.append((seq, event_id, str(erasure)))
        elif content_mac(self._key, bytes.fromhex(seal["salt"]), payload) != content:
            self._break("changed", seq, event_id, "the payload is not what was stored")
        elif event["event_type"] == ERASING:
            said = payload if isinstance(payload, dict) else {}
            erasure, taken = said.get("erasure"), said.get("events")
            if isinstance(erasure, str) and isinstance(taken, list):
                self._erasures.setdefault(erasure, set()).update(map(str, taken))
            else:
                self._break("changed", seq, event_id, "an erasure that does not name its events")


def shown(report: Report) -> str:
    """The report for a person: what was checked, then the breaks, the first one first."""
    checked = (
        f"Tenant {report.tenant}: {report.sealed} sealed events checked, {report.waiting} wait for "
        f"a seal, {report.erased} were erased. The log counts from: {report.since}."
    )
    lines = []
    for one in report.breaks:
        place = "-" if one.seq is None else one.seq
        lines.append(f"{one.kind} at seal {place}, event {one.event_id or '-'}: {one.said}")
    found = f"{len(lines)} break{'' if len(lines) == 1 else 's'}."
    return "\n".join([checked, *(lines[:20] or ["The log is whole."]), found])


_P: Final = 2**255 - 19
_D: Final = -121665 * pow(121666, -1, _P) % _P
_ORDER: Final = 2**252 + 27742317777372353535851937790883648493
_BASE: Final = (4 * pow(5, -1, _P) % _P).to_bytes(32, "little")
_Point = tuple[int, int, int, int]


def verified(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether an Ed25519 signature holds (RFC 8032)."""
    if len(signature) != 64 or len(public) != 32:
        return False
    key, nonce, base = _point(public), _point(signature[:32]), _point(_BASE)
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or nonce is None or base is None or scalar >= _ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    left = _times(scalar, base)
    right = _plus(nonce, _times(int.from_bytes(digest, "little") % _ORDER, key))
    return all((left[at] * right[2] - right[at] * left[2]) % _P == 0 for at in (0, 1))


def _point(raw: bytes) -> _Point | None:
    """A point of the curve from its 32 bytes, as (X, Y, Z, XY/Z)."""
    number = int.from_bytes(raw, "little")
    y, odd = number & (2**255 - 1), number >> 255
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if y >= _P or (x * x - square) % _P or (x == 0 and odd):
        return None
    x = x if x % 2 == odd else _P - x
    return x, y, 1, x * y % _P


def _plus(one: _Point, two: _Point) -> _Point:
    a = (one[1] - one[0]) * (two[1] - two[0]) % _P
    b = (one[1] + one[0]) * (two[1] + two[0]) % _P
    c, d = 2 * _D * one[3] * two[3] % _P, 2 * one[2] * two[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(factor: int, point: _Point) -> _Point:
    found = (0, 1, 1, 0)
    while factor:
        found = _plus(found, point) if factor & 1 else found
        point, factor = _plus(point, point), factor >> 1
    return found


def main(arguments: list[str] | None = None) -> int:
    """Check a dump; 0: it is whole, 1: it is not, 2: a file cannot be read."""
    parser = argparse.ArgumentParser(description="Check an exported event log offline.")
    parser.add_argument("dump", help="the file that `memory-butler audit --export` wrote")
    parser.add_argument("--key", required=True, help="verify.key of the installation")
    parser.add_argument("--checkpoint", action="append", default=[], help="one kept elsewhere")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    try:
        keys = json.loads(Path(given.key).read_text(encoding="utf-8"))
        kept = [json.loads(Path(one).read_text(encoding="utf-8")) for one in given.checkpoint]
        audit = Audit(bytes.fromhex(keys["chain"]), bytes.fromhex(keys["public"]), kept)
        with open(given.dump, encoding="utf-8") as file:
            if parsed(header := file.readline())["kind"] != KIND:
                raise ValueError("this is no exported event log")
            for line in chain([header], file):
                audit.feed(line)
    except (OSError, *_MALFORMED) as error:
        print(f"cannot check: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    report = audit.finish()
    print(json.dumps(asdict(report), indent=2) if given.json else shown(report))
    return 1 if report.breaks else 0


if __name__ == "__main__":
    sys.exit(main())
