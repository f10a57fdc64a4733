"""What an operation answered, for people: sentences for writes, tables for what was found."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from memory_butler.domain.trust import DEFAULT_TRUST, TrustName, parse_trust
from memory_butler.engine.screening import KEEP_IT
from memory_butler.operations.views import Episode, Fact, Rule
from memory_butler.surfaces.cli.cleaning import clean, short
from memory_butler.surfaces.cli.counting import counted

# Without a terminal there is no width to keep to; this one keeps most lines whole.
_WIDTH_OF_A_PIPE = 140
_ID = 36  # characters of one, the longest word that must stay whole
# Two decimals of a share in a name, as in "from_050_to_080".
_SHARE = re.compile(r"\b0(\d\d)\b")

View = Episode | Fact | Rule


def console() -> Console:
    """Where tables go: standard output."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH_OF_A_PIPE)


class _Columns(Table):
    """Columns; where they would break words and ids, each row is a list of its cells (C-529)."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        cells = [[str(one) for one in (column.header, *column.cells)] for column in self.columns]
        longest = (max(map(cell_len, " ".join(some).split()), default=0) for some in cells)
        needed = sum(min(one, _ID) for one in longest) + 3 * (len(cells) - 1)
        # What a pipe reads keeps its shape, whatever stands in it.
        if needed <= options.max_width or options.max_width == _WIDTH_OF_A_PIPE:
            yield from super().__rich_console__(console, options)
            return
        names = [str(column.header) for column in self.columns]
        for row in zip(*(column.cells for column in self.columns), strict=True):
            for name, cell in zip(names, row, strict=True):
                if str(cell) not in ("", "–"):
                    yield Text.assemble((f"{name}: " if name else "", "bold"), cell)
            yield ""


def table(*columns: str) -> Table:
    """A table; a column that ends with > is aligned to the right."""
    made = _Columns(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in columns:
        made.add_column(
            name.removesuffix(">"),
            justify="right" if name.endswith(">") else "left",
            overflow="fold",
        )
    return made


def show(operation: str, output: Any) -> None:
    """Print the answer of an operation."""
    # Here and not above, because they print with what is here.
    from memory_butler.surfaces.cli import browsing, trusting

    shown = _SHOWN | trusting.SHOWN | browsing.SHOWN
    shown.get(operation, _plain)(output)


def _plain(output: BaseModel) -> None:
    fields(output.model_dump(mode="json"))


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def content(one: View) -> Text:
    """What it says, its id, and how far to believe it."""
    return Text.assemble(short(one.content), "\n", (str(one.id), "dim"), less(one.trust))


def less(trust: TrustName | None) -> str:
    """How far to believe a memory, where that is less than an agent's word."""
    return "" if trust is None or parse_trust(trust) >= DEFAULT_TRUST else f"  {trust}"


def _score(one: View) -> str:
    return "–" if one.scores is None else f"{one.scores.score:.3f}"


def facts_table(found: Iterable[Fact]) -> Table:
    made = table("Subject", "Predicate", "Fact", "State", "Scope", "Confidence>", "Score>")
    for one in found:
        made.add_row(
            Text(clean(one.subject)),
            Text(clean(one.predicate)),
            content(one),
            one.lifecycle_state,
            Text(clean(one.scope)),
            number(one.effective_confidence),
            _score(one),
        )
    return made


def rules_table(found: Iterable[Rule]) -> Table:
    made = table("Rule", "Maturity", "Scope", "Helped>", "Harmed>", "Effective>", "Score>")
    for one in found:
        made.add_row(
            content(one),
            "forgotten" if one.metadata.get("forgotten") is True else one.maturity,
            Text(clean(one.scope)),
            str(one.success_count),
            str(one.harmful_count),
            number(one.effectiveness_score),
            _score(one),
        )
    return made


def episodes_table(found: Iterable[Episode]) -> Table:
    made = table("Episode", "Butler", "When (UTC)", "Consolidation", "Score>")
    for one in found:
        made.add_row(
            content(one),
            Text(clean(one.butler)),
            f"{one.occurred_at:%Y-%m-%d %H:%M}",
            one.consolidation_status,
            _score(one),
        )
    return made


def _memories(found: Iterable[View]) -> None:
    found = list(found)
    if not found:
        print("Nothing found.")
        return
    facts = [one for one in found if isinstance(one, Fact)]
    rules = [one for one in found if isinstance(one, Rule)]
    episodes = [one for one in found if isinstance(one, Episode)]
    for some, made in ((facts, facts_table(facts)), (rules, rules_table(rules))):
        if some:
            console().print(made)
    if episodes:
        console().print(episodes_table(episodes))
    for one in found:
        if one.scores is not None and one.scores.explain is not None:
            parts = (f"{name}={_part(value)}" for name, value in one.scores.explain.items())
            print(f"{one.id}: {', '.join(parts)}")


def _searched(output: Any) -> None:
    _memories(output.results)
    if output.deleted is not None and output.deleted.total:
        print(f"{counted(output.deleted.total, 'episode')} known then, deleted since.")


def _part(value: float | None) -> str:
    return f"{value:.4f}" if isinstance(value, float) else "–" if value is None else str(value)


def _one(output: Any) -> None:
    """A memory with everything that is known of it."""
    if output.memory is None:
        print(output.deleted.sentence())
        return
    fields(output.memory.model_dump(mode="json", exclude={"scores"}))


def _entity(output: Any) -> None:
    fields(output.entity.model_dump(mode="json"))


def fields(values: Mapping[str, Any]) -> None:
    made = Table(box=None, show_header=False, pad_edge=False)
    made.add_column(style="cyan", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in values.items():
        if value is None or value in ([], {}):
            continue
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        made.add_row(name.replace("_", " "), Text(clean(text)))
    console().print(made)


def _stored(kind: str, output: Any, more: str = "") -> None:
    print(f"Stored {kind} {output.id}{more}.")
    if output.secrets is not None:
        print(output.secrets.replace(KEEP_IT, "To store it as it was, add --allow-secrets."))


def _stored_rule(output: Any) -> None:
    if output.confirmed:
        print(f"Rule {output.id} says this already. It was confirmed.")
    else:
        _stored("rule", output)


def _stored_fact(output: Any) -> None:
    superseded = output.supersedes_id
    more = ""
    if superseded is not None:
        more = f"; it supersedes {superseded} ({short(output.superseded)})"
    _stored("fact", output, more)
    if output.besides is not None:
        print(clean(output.besides))
    for one in output.alike:
        says = "contradicts" if one.kind == "contradiction" else "says the same as"
        known = f"{clean(one.subject)}, {clean(one.predicate)}: {short(one.content)}"
        print(f"It {says} {one.id} ({known}).")
    if output.alike:
        print("Both are kept. Say which holds: memory-butler conflicts settle --help")
    for one in output.related or ():
        print(f"Also known: {one.id} ({clean(one.predicate)}: {short(one.content)}).")
    if output.related:
        print("Forget what no longer holds: memory-butler forget --help")


def _marked(output: Any) -> None:
    rule = output.rule
    print(
        f"Rule {rule.id} is {rule.maturity}: helped {rule.success_count}, "
        f"harmed {rule.harmful_count}, effectiveness {rule.effectiveness_score:.2f}."
    )


def _confirmed(output: Any) -> None:
    end = "." if output.inactive is None else f", but {output.inactive}."
    print(f"Confirmed {output.memory.memory_type} {output.memory.id}; its decay starts anew{end}")


def _forgotten(output: Any) -> None:
    what = f"{output.memory_type} {output.memory_id}"
    if output.status == "forgotten":
        print(f"Forgot {what}; `memory-butler restore {what}` brings it back.")
    else:
        print(f"{what.capitalize()} was forgotten before.")


def _merged(output: Any) -> None:
    from memory_butler.operations.entities import linked_facts

    print(
        f"Merged {output.source_entity_id} into {output.target_entity_id}: "
        f"{counted(output.facts_repointed, 'fact')} moved, {output.facts_superseded} superseded, "
        f"{counted(output.aliases_added, 'alias')} added.{clean(linked_facts(output))}"
    )


def _named(done: str, output: Any) -> None:
    from memory_butler.operations.entities import linked_facts

    print(f"{done} entity {output.entity.id}.{clean(linked_facts(output))}")


def _candidates(output: Any) -> None:
    if not output.candidates:
        print("Nobody of that name; `memory-butler entities create` registers one.")
        return
    made = table("Entity", "Type", "Match", "Aliases", "Score>")
    for one in output.candidates:
        name = Text.assemble(clean(one.canonical_name), "\n", (str(one.entity_id), "dim"))
        aliases = Text(clean(", ".join(one.aliases)))
        made.add_row(name, one.entity_type, one.name_match, aliases, f"{one.score:.1f}")
    console().print(made)


def stats(output: Any) -> None:
    for place, (title, figures) in enumerate(output.model_dump(mode="json").items()):
        if place:
            print()
        made = Table(box=None, show_header=False, pad_edge=False, title=title.capitalize())
        made.title_justify, made.title_style = "left", "bold"
        made.add_column(style="cyan", no_wrap=True)
        made.add_column(justify="right")
        for name, value in _flat(figures):
            made.add_row(f"  {name}", value)
        console().print(made)


def _flat(figures: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, str]]:
    for name, value in figures.items():
        shown = above + _SHARE.sub(r"0.\1", name.replace("_", " "))
        if isinstance(value, Mapping):
            yield from _flat(value, f"{shown}: ")
        else:
            number = f"{value:.2f}" if isinstance(value, float) else str(value)
            yield shown, "–" if value is None else number


def show_context(output: Any) -> None:
    # As it is for a program, which puts it into a prompt; for a terminal without what it obeys.
    text = clean(output.context) if sys.stdout.isatty() else output.context
    print(text, end="" if text.endswith("\n") else "\n")


def _consolidated(output: Any) -> None:
    waited = counted(output.episodes, "episode", "wait" if output.status == "dry_run" else "")
    print(f"{waited}; {clean(output.message)}.")
    for butler, count in output.groups.items():
        print(f"  {clean(butler)}: {count}")
    if output.status != "dry_run":
        print(
            f"Facts: {output.facts_created} new, {output.facts_updated} updated, "
            f"{output.facts_confirmed} confirmed. Rules: {output.rules_created} new."
        )
    for error in output.errors:
        print(f"  failed: {clean(error)}")


def _begun(output: Any) -> None:
    if output.status == "nothing_waits":
        print("Nothing waits.")
        return
    print(f"{clean(output.instructions)}\n\n{clean(output.material)}\n")
    print(
        f"Run {output.run_id}: {counted(output.episodes, 'episode')} of {clean(output.butler)}, "
        f"held for {output.lease_minutes:g} minutes. Hand in the answer with consolidation submit."
    )


def _submitted(output: Any) -> None:
    counts = ", ".join(
        f"{name.replace('_', ' ')}: {count}" for name, count in output.counts.items()
    )
    print(
        f"{counted(output.episodes, 'episode', 'are')} consolidated. {counts or 'Nothing to keep'}."
    )
    for error in output.errors:
        print(f"  left out: {clean(error)}")


def _jobs(output: Any) -> None:
    if not output.enabled:
        print("Nothing runs by itself: the schedule is off.")
    made = table("Job", "Schedule", "Next (UTC)")
    for one in output.planned:
        made.add_row(one.job, one.cron, f"{one.next_run:%Y-%m-%d %H:%M}")
    console().print(made)
    runs = table("Job", "Began (UTC)", "Ended (UTC)", "Status")
    for one in output.runs:
        ended = "–" if one.finished_at is None else f"{one.finished_at:%Y-%m-%d %H:%M}"
        runs.add_row(one.job, f"{one.started_at:%Y-%m-%d %H:%M}", ended, one.status)
    if output.runs:
        console().print(runs)
    sessions = table("Consolidation of", "Began (UTC)", "Status", "Episodes>", "Tokens>", "Cost>")
    for one in output.consolidations:
        cost = "–" if one.cost_usd is None else f"${one.cost_usd:.4f}"
        tokens = f"{one.tokens_in + one.tokens_out:,}"
        began = f"{one.started_at:%Y-%m-%d %H:%M}"
        of = Text.assemble(clean(one.butler), (f"\n{one.id}", "dim"))
        sessions.add_row(of, began, one.status, str(one.episodes), tokens, cost)
    if output.consolidations:
        console().print(sessions)
    print(f"Language model: {output.language_model or 'none, so consolidation only counts'}.")
    print(f"{counted(output.expiring_unread, 'episode', 'expire')} within 48 hours, not yet read.")


def _dead_letters(output: Any) -> None:
    if not output.dead_letters:
        print("None: consolidation gave up on no episode.")
        return
    made = table("Episode", "Butler", "Attempts>", "Last error")
    for one in output.dead_letters:
        text = Text.assemble(short(one.content), "\n", (str(one.id), "dim"))
        error = Text(clean(one.last_consolidation_error or "–"))
        made.add_row(text, Text(clean(one.butler)), str(one.consolidation_attempts), error)
    console().print(made)


def _cleaned(output: Any) -> None:
    print(
        f"Deleted {output.expired_deleted} expired and "
        f"{counted(output.capacity_deleted, 'surplus episode')}; {output.remaining:,} left."
    )


_SHOWN: dict[str, Callable[[Any], None]] = {
    "memory_store_episode": lambda output: _stored("episode", output),
    "memory_store_fact": _stored_fact,
    "memory_store_rule": _stored_rule,
    "memory_search": _searched,
    "memory_recall": lambda output: _memories(output.results),
    "memory_get": _one,
    "memory_confirm": _confirmed,
    "memory_mark_helpful": _marked,
    "memory_mark_harmful": _marked,
    "memory_forget": _forgotten,
    "memory_stats": stats,
    "memory_context": show_context,
    "entity_create": lambda output: _named("Registered", output),
    "entity_get": _entity,
    "entity_update": lambda output: _named("Updated", output),
    "entity_resolve": _candidates,
    "entity_merge": _merged,
    "memory_run_consolidation": _consolidated,
    "memory_run_episode_cleanup": _cleaned,
    "memory_jobs": _jobs,
    "dead_letters_list": _dead_letters,
    "fact_accept": lambda output: print(f"Accepted fact {output.fact.id}."),
    "consolidation_begin": _begun,
    "consolidation_submit": _submitted,
    "dead_letters_retry": lambda output: print(
        f"{counted(len(output.retried), 'episode', 'wait')} again."
    ),
}
