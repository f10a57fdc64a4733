"""What a person and a companion say to each other in a year, and what the companion must know when.

The script is a list of entries in the order of time, from a world of `companion_worlds.json`:

* `turn`: `user` is said at `at`; `draft`, where there is one, is the companion's first answer, with
  a look-up in it; `reply` is what it then says. `again`: a command of the turn before and the
  plain words to say it in, if the prompt tells that it missed. `expect` is what the prompt of the
  reply must hold and must not.
* `alone`: the companion says something by itself, between two messages of the user.
* `maintain`: a run of maintenance is due.

The truth is kept by `_Life`, which knows nothing of the journal: dates come from the calendar, and
words are made from dates, never the other way round.
"""

import calendar
import json
import random
import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from dateutil.relativedelta import relativedelta  # type: ignore[import-untyped]  # ships none

WORLDS: Final = Path(__file__).with_name("companion_worlds.json")
FIRST_DAY: Final = date(2026, 1, 5)
RESURFACE: Final = timedelta(hours=48)
REPLY_AFTER: Final = timedelta(seconds=20)
# Of the plans with a date.
SHARE_DONE_LATE: Final = 0.2
SHARE_DROPPED: Final = 0.1
SHARE_MOVED: Final = 0.15
ASKED_AFTER_DAYS: Final = 40

Entry = dict[str, Any]


@dataclass(slots=True)
class Plan:
    """A plan as it truly is; `unsure`: whether it has ended depends on what a command matched."""

    content: str
    due: datetime | None
    told: datetime
    task: str = ""
    done_words: list[str] = field(default_factory=list)
    finish: datetime | None = None
    fate: str = "done"
    move_at: datetime | None = None
    ended: datetime | None = None
    how: str = "active"
    unsure: bool = False
    back: bool = False
    chore: dict[str, Any] | None = None


def worlds() -> dict[str, Any]:
    """The worlds, by name."""
    found: dict[str, Any] = json.loads(WORLDS.read_text("utf-8"))
    return found


def make(world: dict[str, Any], seed: int, days: int) -> tuple[list[Entry], list[Entry]]:
    """The script of `days` days, and the plans as they are at its end."""
    life = _Life(world, random.Random(seed))
    life.live(days)
    return life.entries, [
        {
            "content": one.content,
            "due": one.due.isoformat() if one.due else None,
            "told": one.told.isoformat(),
            "status": one.how,
            "ended": one.ended.isoformat() if one.ended else None,
            "unsure": one.unsure,
            "chore": one.chore is not None,
        }
        for one in life.plans
    ]


def words_of(due: datetime, zone: ZoneInfo) -> str:
    """A date as the prompt tells it."""
    local = due.astimezone(zone)
    return f"{local:%A}, {local.day} {local:%B} {local.year}, {local:%H:%M}"


class _Life:
    def __init__(self, world: dict[str, Any], rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.zone = ZoneInfo(world["zone"])
        self.entries: list[Entry] = []
        self.plans: list[Plan] = []
        self.pins: list[tuple[str, datetime]] = []
        self.dropped_pins: list[str] = []
        self.secrets: list[str] = []
        self.again: Entry | None = None
        self.last: datetime | None = None
        self.said: list[str] = []
        self.left_alone: str | None = None

    # ---------------------------------------------------------------- the year

    def live(self, days: int) -> None:
        facts = list(enumerate(self.world["facts"]))
        self.rng.shuffle(facts)
        span = max(1, min(days - 60, 200))
        tell = {
            n: FIRST_DAY + timedelta(days=2 + i * span // len(facts))
            for i, (n, _) in enumerate(facts)
        }
        asks: dict[int, list[date]] = {
            n: [
                day + timedelta(days=ASKED_AFTER_DAYS + self.rng.randint(0, 60) + 80 * i)
                for i in (0, 1)
            ]
            for n, day in tell.items()
        }
        gaps = self._gaps(days)
        shifts = self._shift_days(days)
        for offset in range(days):
            day = FIRST_DAY + timedelta(days=offset)
            if day.weekday() == 0 and offset:
                run = "monthly" if day.day <= 7 else "weekly"
                self._entry("maintain", self._moment(day, time(2, 0)), run=run)
            quiet = self.rng.random() < 0.12
            if day in gaps or (quiet and day not in shifts):
                if self.entries and self.rng.random() < 0.06:
                    self._alone(self._moment(day, time(12, 0)))
                continue
            at = self._moment(day, time(self.rng.randint(7, 9), self.rng.randint(0, 59)))
            number = self.rng.randint(2, 5)
            for turn in range(number):
                self._turn(at, day, tell, asks, shifts, first=turn == 0)
                at += timedelta(minutes=self.rng.randint(10, 170))
                if at.astimezone(self.zone).date() != day:
                    break

    def _gaps(self, days: int) -> set[date]:
        """Weeks in which nothing is said."""
        found: set[date] = set()
        for place in (0.2, 0.45, 0.75):
            start = FIRST_DAY + timedelta(days=int(days * place) + self.rng.randint(0, 10))
            length = self.rng.randint(8, 20) if days > 120 else 3
            found |= {start + timedelta(days=one) for one in range(length)}
        return found

    def _shift_days(self, days: int) -> set[date]:
        """The days on which the clocks change, as far as they lie within the year."""
        found = set()
        for offset in range(days):
            day = FIRST_DAY + timedelta(days=offset)
            ends = [
                self._moment(day + timedelta(days=one), time(0, 0)).utcoffset() for one in (0, 1)
            ]
            if ends[0] != ends[1]:
                found.add(day)
        return found

    def _moment(self, day: date, at: time) -> datetime:
        return datetime.combine(day, at, self.zone)

    def _entry(self, kind: str, at: datetime, **more: Any) -> None:
        self.entries.append({"kind": kind, "at": at.isoformat(), **more})

    def _alone(self, at: datetime) -> None:
        thought = self.rng.choice(self.world["heartbeats"])
        self._entry("alone", at, reply=f"They are away. <say>{thought}</say>")
        self.left_alone = thought

    # ---------------------------------------------------------------- a turn

    def _turn(  # noqa: PLR0912  one branch for each thing that may be said
        self,
        at: datetime,
        day: date,
        tell: dict[int, date],
        asks: dict[int, list[date]],
        shifts: set[date],
        *,
        first: bool,
    ) -> None:
        user, said = self.rng.choice(self.world["small"])
        reply = [f"<say>{said}</say>"]
        more: Entry = {}
        expect: Entry = {}
        for one in [one for one in self.plans if one.unsure]:
            one.unsure = False
        before = list(self.again["wait"]) if self.again else []
        again, self.again = self.again, None
        facts = self.world["facts"]
        due_tell = [n for n, when in tell.items() if when <= day]
        due_ask = [n for n, when in asks.items() if when and when[0] <= day and n not in tell]
        finishing = [one for one in self.plans if one.how == "active" and self._finishes(one, at)]
        moving = [
            one for one in self.plans if one.how == "active" and one.move_at and one.move_at <= at
        ]
        near_shift = [one for one in shifts if timedelta(0) < one - day <= timedelta(days=4)]
        dice = self.rng.random()
        if due_tell:
            del tell[due_tell[0]]
            user = facts[due_tell[0]]["told"]
        elif finishing:
            reply.append(self._finish(self.rng.choice(finishing), at))
            user = self._small_word()
        elif moving:
            reply.append(self._move(moving[0], at))
        elif due_ask:
            asks[due_ask[0]].pop(0)
            user, draft, expect["answer"] = self._ask(facts[due_ask[0]])
            if draft:
                more["draft"] = draft
        elif near_shift and dice < 0.5:
            user = self._told_by_user(at, near_shift[0])
        elif dice < 0.2:
            user = self._told_by_user(at)
        elif dice < 0.34:
            reply.append(self._told_by_companion(at))
        elif dice < 0.40 and (text := self._chore(at) if dice < 0.37 else self._open(at)):
            user = text
        elif dice < 0.43:
            reply.append(f"plan>done {self.rng.choice(self.world['unplanned'])}")
        elif dice < 0.47 and (vague := self._vague()):
            reply.append(f"plan>done {vague}")
        elif dice < 0.52:
            user, extra = self._pin(user, at)
            reply += extra
        elif dice < 0.54 and len(self.secrets) < len(self.world["secrets"]):
            self.secrets.append(self.world["secrets"][len(self.secrets)])
            reply.append(f"<secret>{self.secrets[-1]}</secret>")
        elif dice < 0.57:
            user = self.world["paste"] * self.rng.randint(26, 34)
            expect["after"] = self.said[-2:]
        if self.rng.random() < 0.3:
            reply.append(f"<feeling>{self.rng.choice(self.world['feelings'])}</feeling>")
        if again:
            more["again"] = {"call": again["call"], "with": again["with"]}
        expect |= self._expected(at, day, before)
        if self.last is not None:
            was, now = self.last.astimezone(self.zone).date(), day
            if (apart := (now - was).days) >= 2:
                expect["days_later"] = apart
        if first:
            expect["greeting"] = True
        if self.left_alone is not None:
            expect["left"], self.left_alone = self.left_alone, None
        expect["secrets"] = list(self.secrets)
        self._entry("turn", at, user=user, reply="\n".join(reply), expect=expect, **more)
        self.said.append(user)
        self.last = at

    def _small_word(self) -> str:
        return str(
            self.rng.choice(["That is off my list.", "One thing less.", "Done with that one."])
        )

    # ---------------------------------------------------------------- plans

    def _told_by_user(self, at: datetime, on: date | None = None) -> str:
        kinds = [one for one in self.world["when"] if not one.get("attribute")]
        if on is not None:
            kinds = [one for one in kinds if "date}" in one["say"] and "time" in one]
        content, due, words, task = self._new(at, kinds, on)
        self._remember(f"{content} {words}", due, at, task)
        before = self.rng.choice(
            ["I must not forget:", "Note this, please.", "Oh, and", "Remind me."]
        )
        return f"{before} <plan>{content} {words}</plan>"

    def _told_by_companion(self, at: datetime) -> str:
        kinds = [one for one in self.world["when"] if one.get("attribute")]
        later = at + REPLY_AFTER
        content, due, words, task = self._new(later, kinds)
        self._remember(content, due, later, task)
        return f'<plan due="{words}">{content}</plan>'

    def _new(
        self, at: datetime, kinds: list[Entry], on: date | None = None
    ) -> tuple[str, datetime, str, Entry]:
        """A task that nobody plans now, its date, and the words for it."""
        busy = {one.content for one in self.plans if one.how == "active"}
        while True:
            task = self.rng.choice(self.world["tasks"])
            values = {name: self.rng.choice(pool) for name, pool in self.world["pools"].items()}
            content = task["plan"].format(**values)
            if not any(one.startswith(content) for one in busy):
                break
        kind = self.rng.choice(kinds)
        if task.get("late") and "late" in kind:
            kind = {**kind, "time": kind["late"]}  # dinner at half past seven is in the evening
        due, words = self._when(kind, at, on)
        done = [one.format(**values) for one in task["done"]]
        return content, due, words, {"task": task["plan"], "done": done}

    def _when(self, kind: Entry, at: datetime, on: date | None) -> tuple[datetime, str]:
        today = at.astimezone(self.zone).date()
        if "months" in kind:
            day = today + relativedelta(months=kind["months"])
        else:
            days = kind["days"]
            day = today + timedelta(days=days if isinstance(days, int) else self.rng.randint(*days))
        day = on or day
        if kind.get("snap") == "month":
            day = day.replace(day=calendar.monthrange(day.year, day.month)[1])
        ending = {1: "st", 2: "nd", 3: "rd"}.get(
            day.day % 10 if day.day not in (11, 12, 13) else 0, "th"
        )
        words = kind["say"].format(
            weekday=f"{day:%A}".lower(),
            date=f"{day.day} {day:%B}",
            us_date=f"{day:%B} {day.day}",
            nth=f"{day.day}{ending}",
            month=f"{day:%B}".lower(),
            iso=day.isoformat(),
        )
        day += timedelta(days=kind.get("shift", 0))
        clock = time.fromisoformat(kind["time"]) if "time" in kind else time(23, 59, 59)
        return self._moment(day, clock), words

    def _remember(self, content: str, due: datetime | None, at: datetime, task: Entry) -> Plan:
        plan = Plan(content, due, at, task["task"], task["done"])
        dice = self.rng.random()
        if due is not None:
            plan.finish = due - timedelta(hours=self.rng.uniform(0, 30))
            if dice < SHARE_DONE_LATE:
                plan.finish = due + timedelta(hours=self.rng.uniform(1, 120))
            elif dice < SHARE_DONE_LATE + SHARE_DROPPED:
                plan.fate, plan.finish = "cancel", at + (due - at) * self.rng.uniform(0.2, 0.9)
            elif dice < SHARE_DONE_LATE + SHARE_DROPPED + SHARE_MOVED and due - at > timedelta(
                days=6
            ):
                plan.move_at = at + (due - at) * 0.6
        else:
            plan.finish = at + timedelta(days=self.rng.uniform(30, 200))
        self.plans.append(plan)
        return plan

    def _chore(self, at: datetime) -> str | None:
        known = {one.content for one in self.plans}
        chore = next((one for one in self.world["chores"] if one["plan"] not in known), None)
        if chore is None:
            return None
        due = self._next_round(chore, None, at)
        plan = Plan(chore["plan"], due, at, chore["plan"], [chore["done"]], chore=chore)
        plan.finish = due + timedelta(hours=self.rng.uniform(-5, 20))
        self.plans.append(plan)
        return f"From now on: <plan>{chore['plan']}</plan>"

    def _next_round(self, chore: Entry, due: datetime | None, after: datetime) -> datetime:
        """When a chore comes round: first after it was told, then by its step from the last one."""
        clock = time.fromisoformat(chore["time"]) if "time" in chore else time(23, 59, 59)
        day = after.astimezone(self.zone).date()
        last = due.astimezone(self.zone).date() if due else None
        for ahead in range(100):
            one = day + timedelta(days=ahead)
            if "month_day" in chore:
                fits = one.day == chore["month_day"]
            else:
                fits = one.weekday() == chore["weekday"]
                fits &= last is None or (one - last).days % chore.get("step", 7) == 0
            moment = self._moment(one, clock)
            if fits and moment > after and (due is None or moment > due):
                return moment
        raise AssertionError(f"{chore['plan']} never comes round")

    def _open(self, at: datetime) -> str | None:
        known = {one.content for one in self.plans}
        one = next((one for one in self.world["open"] if one["plan"] not in known), None)
        if one is None:
            return None
        self._remember(one["plan"], None, at, {"task": one["plan"], "done": [one["done"]]})
        return f"Some day: <plan>{one['plan']}</plan>"

    def _finishes(self, plan: Plan, at: datetime) -> bool:
        return plan.finish is not None and plan.finish <= at

    def _finish(self, plan: Plan, at: datetime) -> str:
        """End a plan by a command of the companion, in its very words or in others."""
        ended = at + REPLY_AFTER
        plan.ended, plan.unsure = ended, True
        plan.how = "resolved" if plan.fate == "done" else "dropped"
        verb = plan.fate
        words = plan.content
        if self.rng.random() < 0.7:
            words = self.rng.choice(plan.done_words) if verb == "done" else _bare(plan)
        call = f"plan>{verb} {words}"
        self.again = {"call": call, "with": f"plan>{verb} {plan.content}", "wait": [plan]}
        if plan.chore is not None and verb == "done":
            due = self._next_round(plan.chore, plan.due, ended)
            following = Plan(plan.content, due, ended, plan.task, plan.done_words, chore=plan.chore)
            following.finish = due + timedelta(hours=self.rng.uniform(-5, 20))
            following.unsure = True
            self.plans.append(following)
        return call

    def _move(self, plan: Plan, at: datetime) -> str:
        """Put a plan off: one without a date in its words is told again, another replaced."""
        assert plan.due is not None
        later = plan.due + timedelta(days=self.rng.randint(3, 20))
        told = at + REPLY_AFTER
        words = f"{later.astimezone(self.zone):%Y-%m-%d %H:%M}"
        plan.move_at = None
        if plan.due.astimezone(self.zone).time() == time(23, 59, 59):
            words = words[:10]
        if plan.content == _bare(plan):
            plan.due = self._moment(later.date(), later.timetz().replace(tzinfo=None))
            plan.finish = plan.due - timedelta(hours=self.rng.uniform(0, 20))
            # The prompt of this turn has the date of before.
            plan.unsure = True
            return f'<plan due="{words}">{plan.content}</plan>'
        plan.ended, plan.how, plan.unsure = told, "dropped", True
        call = f"plan>cancel {plan.content}"
        self.again = {"call": call, "with": call, "wait": [plan]}
        due = self._moment(later.date(), later.timetz().replace(tzinfo=None))
        new = Plan(_bare(plan), due, told, plan.task, plan.done_words)
        new.finish = due - timedelta(hours=self.rng.uniform(0, 20))
        self.plans.append(new)
        return f'{call}\n<plan due="{words}">{new.content}</plan>'

    def _vague(self) -> str | None:
        """Words that fit several plans alike, and must end none."""
        by_task: dict[str, list[Plan]] = {}
        for one in self.plans:
            if one.how == "active" and "{" in one.task:
                by_task.setdefault(one.task, []).append(one)
        several = [
            task for task, found in by_task.items() if len({_bare(one) for one in found}) > 1
        ]
        return re.sub(r"\s*\{\w+\}", "", several[0]) if several else None

    # ---------------------------------------------------------------- the rest

    def _ask(self, fact: Entry) -> tuple[str, str | None, Entry]:
        way = fact["way"]
        draft = None
        if way == "recall":
            deep = ", deep=True" if fact.get("deep") else ""
            draft = f"Let me think. recall({fact['key']}{deep})"
        elif way == "search":
            draft = f'Let me think. search("{fact["look"]}")'
        name = "search, in other words" if fact.get("paraphrase") else way
        return fact["asks"], draft, {"text": fact["answer"], "way": name}

    def _pin(self, user: str, at: datetime) -> tuple[str, list[str]]:
        if self.pins and self.rng.random() < 0.3:
            content, _ = self.pins.pop(0)
            self.dropped_pins.append(content)
            return f"pin>drop {content}", []
        free = [one for one in self.world["pins"] if one not in [name for name, _ in self.pins]]
        if not free:
            return user, []
        content = self.rng.choice(free)
        if content in self.dropped_pins:
            self.dropped_pins.remove(content)
        self.pins.append((content, at))
        return user, [f"<pin>{content}</pin>"]

    def _expected(self, at: datetime, day: date, before: list[Plan]) -> Entry:
        """What the prompt of a turn shows of plans and pins. What a command ended only just now,
        in words that may not have matched, is not asked for."""
        shown, silent, back, today, overdue = [], [], [], [], []
        active = [one for one in self.plans if one.how == "active" and one.told <= at]
        unsure = {one.content for one in [*before, *(one for one in self.plans if one.unsure)]}
        for one in active:
            if one.content in unsure:
                continue
            if one.due is None:
                shown.append([one.content, ""])
                continue
            # Of hours, not of the clock's face: it may have changed in between.
            back_at = one.due.astimezone(UTC) - RESURFACE
            if at < back_at:
                silent.append(one.content)
                continue
            shown.append([one.content, words_of(one.due, self.zone)])
            if not one.back:
                one.back = True
                if one.told + timedelta(minutes=1) < back_at:
                    back.append(one.content)
            if one.due.astimezone(self.zone).date() == day:
                today.append(one.content)
            if one.due < at:
                overdue.append(one.content)
        alive = {one.content for one in self.plans if one.how == "active"} | unsure
        gone = {one.content for one in self.plans if one.how != "active"} - alive
        week = at - timedelta(days=7)
        return {
            "shown": shown,
            "silent": silent,
            "back": back,
            "today": today,
            "overdue": overdue,
            "gone": sorted(gone),
            "pins": [one for one, told in self.pins if week < told < at],
            "dropped_pins": list(self.dropped_pins),
        }


def _bare(plan: Plan) -> str:
    """A plan's words without its date."""
    pattern = (
        re.escape(re.sub(r"\{\w+\}", "~", plan.task)).replace(r"\~", "~").replace("~", r"[\w ]+?")
    )
    match = re.match(
        rf"({pattern})(?= (?:by|on|in|at|this|next|until|before|tomorrow|a week)\b| [A-Z]\w+ \d|$)",
        plan.content,
    )
    return match[1] if match else plan.content
