"""Answers of lists and looks as text, and of edits, links, jobs and tokens."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from memory_butler.operations.views import Episode, Fact
from memory_butler.surfaces.cli.answers import (
    View,
    console,
    episodes_table,
    facts_table,
    fields,
    less,
    rules_table,
    stats,
    table,
)
from memory_butler.surfaces.cli.cleaning import clean, short
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.problems import complain


def _listed(what: str, made: Callable[[Iterable[Any]], Table]) -> Callable[[Any], None]:
    """How a part of a list is shown: a table, and how much there is beyond it."""

    def show(output: Any) -> None:
        if not output.items:
            print(f"No {what}.")
            return
        console().print(made(output.items))
        if output.total > len(output.items):
            more = "" if output.total_is_exact else "at least "
            print(
                f"{len(output.items)} of {more}{output.total:,}; --limit and --offset show others."
            )

    return show


def _entities(found: Iterable[Any]) -> Table:
    made = table("Entity", "Type", "Aliases", "Facts>")
    for one in found:
        name = Text.assemble(clean(one.canonical_name), "\n", (str(one.id), "dim"))
        made.add_row(name, one.entity_type, Text(clean(", ".join(one.aliases))), str(one.facts))
    return made


def _events(found: Iterable[Any]) -> Table:
    made = table("When (UTC)", "What", "By", "About")
    for one in found:
        id = one.memory_id or one.entity_id
        about = Text.assemble(short(one.about or "–"), ("" if id is None else f"\n{id}", "dim"))
        said = Text.assemble(one.said, (f"\n{one.id}", "dim"))
        made.add_row(_minute(one.created_at), said, Text(clean(one.actor or "–")), about)
    return made


def _sessions(found: Iterable[Any]) -> Table:
    made = table(
        "Session", "Butlers", "Began (UTC)", "Ended (UTC)", "Episodes>", "Facts>", "Rules>"
    )
    for one in found:
        counts = (str(count) for count in (one.episodes, one.facts, one.rules))
        butlers = Text(clean(", ".join(one.butlers)))
        began, ended = _minute(one.began_at), _minute(one.ended_at)
        session = Text.assemble(short(one.begins_with or "–"), (f"\n{one.session_id}", "dim"))
        made.add_row(session, butlers, began, ended, *counts)
    return made


def _butlers(output: Any) -> None:
    if not output.butlers:
        print("No butlers.")
        return
    made = table("Butler", "Health", "Episodes>", "Waiting>", "Facts learned>", "Last seen (UTC)")
    for one in output.butlers:
        counts = (str(count) for count in (one.episodes, one.pending, one.facts_learned))
        made.add_row(Text(clean(one.name)), one.health, *counts, _minute(one.seen_at))
    console().print(made)


def _minute(moment: datetime | None) -> str:
    return "–" if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def _day(moment: datetime | None, otherwise: str) -> str:
    return otherwise if moment is None else f"{moment:%Y-%m-%d}"


def _looked(name: str) -> Callable[[Any], None]:
    """How one memory is shown with what explains it; `name` is where the answer has it."""

    def show(output: Any) -> None:
        one = getattr(output, name)
        fields(one.model_dump(mode="json", exclude={"scores"}))
        if getattr(output, "superseded_by", None) is not None:
            print(f"Superseded by {output.superseded_by}.")
        if (decay := getattr(output, "decay", None)) is not None:
            fades, expires = _day(decay.fades_at, "never"), _day(decay.expires_at, "never")
            print(f"Unconfirmed it fades: {fades}; expires: {expires}.")
        related = [node for node in output.provenance.nodes if node.id != one.id]
        if related:
            made = table("Related", "State", "Says")
            for node in related:
                where = Text.assemble(node.memory_type, "\n", (str(node.id), "dim"))
                made.add_row(where, node.state, Text(short(node.label or "–")))
            console().print(made)

    return show


def _entity(output: Any) -> None:
    fields(output.entity.model_dump(mode="json"))
    if output.facts:
        console().print(facts_table(output.facts))


def _session(output: Any) -> None:
    fields(output.session.model_dump(mode="json"))
    for some, made in (
        (output.episodes, episodes_table),
        (output.facts, facts_table),
        (output.rules, rules_table),
    ):
        if some:
            console().print(made(some))
    for one in output.served:
        print(
            f"{_minute(one.served_at)} {one.operation}: {counted(len(one.items), 'memory')} served"
        )


def _butler(output: Any) -> None:
    fields(output.butler.model_dump(mode="json"))
    if output.learnings:
        console().print(facts_table(output.learnings))
    if output.sessions:
        console().print(_sessions(output.sessions))


def _edited_rule(output: Any) -> None:
    rule = output.rule
    print(f"Rule {rule.id} is {rule.maturity}, {rule.state}: {short(rule.content)}")


def _preview_of_merge(output: Any) -> None:
    print(
        f"Would move {counted(output.facts_repointed, 'fact')}, "
        f"supersede {output.facts_superseded:,} and add "
        f"{counted(output.aliases_added, 'alias')}. Nothing was changed."
    )
    parts = (
        ("Moves", output.moving),
        ("Goes", [one.goes for one in output.conflicts]),
        ("Holds besides", output.beside),
    )
    for title, some in parts:
        for one in some:
            print(f"{title} {one.id}: {clean(one.subject)}, {clean(one.predicate)}")


def _asked(output: Any) -> None:
    """Each line with where it comes from; what one may do where nothing is known."""
    for line in output.lines:
        memory = line.memory
        print(f"{short(memory.content)}\n  {memory.memory_type} {memory.id}{_sure(memory)}")
        if line.source is not None:
            print(f"  from: {short(line.source.content)}\n  episode {line.source.id}")
    if output.known:
        return
    print("Nothing is known about that.")
    if output.further:
        print("The nearest, which hardly bears on it:")
    for memory in output.further:
        print(f"  {short(memory.content)}\n  {memory.memory_type} {memory.id}")
    print("Next: memory-butler ask … --min-relevance 0, memory-butler search …,")
    print("or store it: memory-butler store-fact SUBJECT PREDICATE CONTENT")


def _sure(memory: View) -> str:
    """How far to believe a line, and whom it is about where it does not say; an episode is what was
    said, whoever believes it."""
    if isinstance(memory, Episode):
        return f", {memory.occurred_at:%Y-%m-%d}{less(memory.trust)}"
    about = ""
    if isinstance(memory, Fact) and memory.subject.lower() not in memory.content.lower():
        about = f", about {short(memory.subject)}"
    return f"{about}, confidence {memory.effective_confidence:.0%}{less(memory.trust)}"


def _links(output: Any) -> None:
    if not output.links:
        print("No links.")
        return
    made = table("From", "Relation", "To", "Since")
    for one in output.links:
        source, target = (
            f"{one.source_type}\n{one.source_id}",
            f"{one.target_type}\n{one.target_id}",
        )
        made.add_row(source, one.relation, target, _minute(one.created_at))
    console().print(made)


def _linked(output: Any) -> None:
    print("Linked." if output.created else "They were linked before; the link stays as it is.")


def _ran(output: Any) -> None:
    if output.dry_run:
        print(f"{output.job}, dry run: nothing was changed.")
    else:  # that of episodes may have failed
        print(f"{output.job}: {output.detail.get('status', 'done')}.")
    for name, value in output.detail.items():
        print(f"  {name.replace('_', ' ')}: {_told(value)}")


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_told(inner)}" for key, inner in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(_told(one) for one in value) or "none"
    return clean(str(value))


def _token(output: Any) -> None:
    complain(f"Keep it now, it is not shown again. Its id: {output.id}")
    print(output.token)


def _tokens(output: Any) -> None:
    if not output.tokens:
        print("No tokens yet; `memory-butler token create --name <whose>` creates one.")
        return
    made, now = table("Id", "Name", "Scopes", "Created", "Last used", "Expires"), datetime.now(UTC)
    for one in output.tokens:
        ends = _day(one.expires_at, "–")
        if one.revoked_at is not None:
            ends = f"revoked {_day(one.revoked_at, '')}"
        elif one.expires_at is not None and one.expires_at <= now:
            ends = f"expired {ends}"
        days = (_day(one.created_at, "–"), _day(one.last_used_at, "–"), ends)
        made.add_row(str(one.id), Text(clean(one.name)), ", ".join(one.scopes), *days)
    console().print(made)


SHOWN: Final[dict[str, Callable[[Any], None]]] = {
    "facts_list": _listed("facts", facts_table),
    "rules_list": _listed("rules", rules_table),
    "episodes_list": _listed("episodes", episodes_table),
    "entities_list": _listed("entities", _entities),
    "sessions_list": _listed("sessions", _sessions),
    "events_list": _listed("events", _events),
    "memory_activity": _listed("events", _events),
    "memory_history": _listed("events", _events),
    "butlers_list": _butlers,
    "fact_look": _looked("fact"),
    "rule_look": _looked("rule"),
    "episode_look": _looked("episode"),
    "entity_look": _entity,
    "session_look": _session,
    "butler_look": _butler,
    "butler_stats": stats,
    "fact_edit": lambda output: print(f"Fact {output.fact.id} supersedes {output.supersedes_id}."),
    "rule_edit": _edited_rule,
    "rule_move": _edited_rule,
    "entity_merge_preview": _preview_of_merge,
    "memory_restore": lambda one: print(f"Restored {one.memory_type} {one.memory_id}."),
    "memory_ask": _asked,
    "links_list": _links,
    "link_create": _linked,
    "job_run": _ran,
    "token_create": _token,
    "tokens_list": _tokens,
    "token_revoke": lambda output: print(f"Revoked token {output.token_id}."),
}
