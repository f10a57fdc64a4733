"""What a person may want to know beside an answer: on standard error, never with --json."""

import sys
from typing import Any

from memory_butler.surfaces.cli.problems import complain


def of_period(asked: Any) -> None:
    """Say that a period which ends before it begins holds nothing."""
    since, until = (getattr(asked, name, None) for name in ("since", "until"))
    if since is not None and until is not None and since >= until:
        complain("Nothing lies in that period: --from is not before --to.")


def of_rule(asked: Any, output: Any) -> None:
    """Say at a terminal how a person makes a rule last (C-580).

    Agents run the command too, so that what is typed is nobody's own word by itself.
    """
    stated = asked.trust not in (None, "agent_inferred") or asked.permanence is not None
    if stated or output.confirmed or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    complain(
        "It counts as an agent's word, and fades in about three months without use. If it is "
        "yours: memory-butler undo, then store-rule again with --trust user_said."
    )
