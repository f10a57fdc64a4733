"""What a question points at by something else than words and meaning: a day, or who asks."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from memory_butler.domain.days_ahead import days_ahead
from memory_butler.domain.links import MemoryType
from memory_butler.domain.named_days import (
    FEW,
    WEEKLY,
    besides,
    is_regular_on,
    names_one_of,
    names_weekday,
    sought,
    with_english_dates,
)
from memory_butler.domain.periods import days_of
from memory_butler.domain.persons import OF_USER, SHORT, asks_all_of_user
from memory_butler.domain.prompts import is_personal, is_pleasantry, is_statement, is_task
from memory_butler.domain.written_dates import Days
from memory_butler.engine.questions import Question
from memory_butler.store.search import Records, about, saying
from memory_butler.store.transaction import Transaction

# "What happened on 20 July 1969?" asks for nothing that memory has of no such day.
LONG_AGO: Final = timedelta(days=1500)


class Pointed(NamedTuple):
    """What a deep search points at by something else than words and meaning; mostly facts."""

    ahead: Records = ()  # they name a day to come that it is surely about
    perhaps: Records = ()  # they name a day that it may be about, of before or to come; rules, too
    of_user: Records = ()  # it asks for all of who asks

    @property
    def rows(self) -> Records:
        return (*self.ahead, *self.perhaps, *self.of_user)

    @property
    def ids(self) -> frozenset[UUID]:
        return frozenset(row["id"] for row in self.rows)


async def pointed_at(tx: Transaction, types: Sequence[MemoryType], asked: Question) -> Pointed:
    """Nothing of a standpoint in the past, whose views have no index of words."""
    # A longer prompt brings dates of its own, as a log does.
    if tx.past or asked.mode != "deep" or len(asked.text) > SHORT:
        return Pointed()
    if asks_all_of_user(asked.text):
        of_user = await about(tx, asked.wanted(types), OF_USER) if "fact" in types else ()
        return Pointed(of_user=of_user)
    # "Translate this by Friday" asks for no plan, nor does "Good morning, see you tomorrow".
    if is_pleasantry(asked.text) or (is_task(asked.text) and not is_personal(asked.text)):
        return Pointed()
    today = asked.here_now.date()
    ahead = days_ahead(asked.dated, today, is_foreign=asked.is_foreign)
    to_come = [days for days in (ahead.days, ahead.or_else) if days is not None] if ahead else []
    rules = await _rules_naming(tx, types, asked, to_come)
    if ahead is not None and ahead.surely:
        dated, regular = await _facts_naming(tx, types, asked, to_come)
        if len(ahead.days) <= FEW:
            return Pointed(ahead=[*dated, *regular], perhaps=rules)
        return Pointed(ahead=dated, perhaps=regular)
    # "I saw a dog yesterday" asks for nothing of that day.
    past = None if is_statement(asked.text) else days_of(asked.period, today)
    dated, regular = await _facts_naming(tx, types, asked, [*to_come, *([past] if past else [])])
    if is_long_ago(asked):  # what is on Thursdays now says nothing of one in 1989
        regular = []
    return Pointed(perhaps=[*dated, *regular, *rules])


async def _facts_naming(
    tx: Transaction, types: Sequence[MemoryType], asked: Question, some: Sequence[Days]
) -> tuple[Records, Records]:
    """The facts that name one of the days, and those of what happens regularly on one."""
    dated, regular = [], []
    if "fact" in types:
        for row, text in await _saying(tx, "fact", asked, some):
            if any(names_one_of(days, text) for days in some):
                dated.append(row)
            elif any(len(days) <= WEEKLY and is_regular_on(days, text) for days in some):
                regular.append(row)
    return dated, regular


async def _rules_naming(
    tx: Transaction, types: Sequence[MemoryType], asked: Question, some: Sequence[Days]
) -> Records:
    """The rules for one of the days: "Before the Friday market" is for each Friday (C-545).

    Only of a day or two, in what asks for something.
    """
    some = [days for days in some if len(days) <= FEW]
    if "rule" not in types or not some or is_statement(asked.text):
        return ()
    return [
        row
        for row, text in await _saying(tx, "rule", asked, some)
        if any(
            names_one_of(days, text) or is_regular_on(days, text) or names_weekday(days, text)
            for days in some
        )
    ]


async def _saying(
    tx: Transaction, memory_type: Literal["fact", "rule"], asked: Question, some: Sequence[Days]
) -> list[tuple[Mapping[str, Any], str]]:
    """What has the words of some days, each with its text; which days it names, the text says.

    "On 3 December" is of two years, whose days have the same words.
    """
    queries = dict.fromkeys(
        said
        for days in some
        for said in (sought(days, asked.calendar), *besides(days, asked.calendar))
    )
    wanted = asked.wanted([memory_type])
    found = {row["id"]: row for said in queries for row in await saying(tx, wanted, said)}
    return [
        (row, with_english_dates(f"{row.get('predicate', '')} {row['content']}", asked.calendar))
        for row in found.values()
    ]


def is_long_ago(asked: Question) -> bool:
    """Whether the days of a time long past were looked for; those of a year are too many."""
    if asked.period is None or asked.period.end >= asked.now - LONG_AGO:
        return False
    return days_of(asked.period, asked.here_now.date()) is not None


def long_ago(asked: Question, pointed: Pointed) -> frozenset[str]:
    """A time long past of which memory has nothing: a name that it does not know."""
    return frozenset({"long ago"}) if is_long_ago(asked) and not pointed.ids else frozenset()
