"""Commands of which only name and summary are known until they are called."""

import inspect
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_command_from_info
from typer.models import CommandInfo


class LazyCommand(TyperCommand):
    """Stands for a command whose parameters take imports and time that no other should wait for."""

    def __init__(
        self, name: str, summary: str, panel: str | None, load: Callable[[], TyperCommand]
    ) -> None:
        super().__init__(name, help=summary, rich_help_panel=panel, rich_markup_mode="rich")
        self._load = load
        self._loaded: TyperCommand | None = None

    def loaded(self) -> TyperCommand:
        """The command itself."""
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: Any = None,
        **extra: Any,
    ) -> Any:
        """Called for the help of the command, for its completion and for itself."""
        return self.loaded().make_context(info_name, args, parent=parent, **extra)


def command_of(info: CommandInfo) -> TyperCommand:
    """The command that Typer makes of a registered function."""
    made = get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode="rich")
    assert isinstance(made, TyperCommand)  # noqa: S101 -- no other class was asked for
    return made


def group_of(app: typer.Typer) -> TyperGroup:
    """The group that Typer makes of an app that has a callback, its commands made when called.

    Every command must have been registered with its name.
    """
    taken = _taken(app)
    group = get_command(app)
    assert isinstance(group, TyperGroup)  # noqa: S101 -- an app with a callback is one
    for above, info in reversed(taken):
        place = group
        for name in above:
            place = place.commands[name]  # type: ignore[assignment]  # a group, as registered
        command = _lazy(info)
        # Before the groups, as Typer has them.
        place.commands = {command.name or "": command, **place.commands}
    return group


def _taken(
    app: typer.Typer, above: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], CommandInfo]]:
    """Take the registered commands out of an app, with the names of the groups above each."""
    taken = [(above, one) for one in app.registered_commands]
    app.registered_commands = []
    for group in app.registered_groups:
        if group.typer_instance is not None and isinstance(group.name, str):
            taken += _taken(group.typer_instance, (*above, group.name))
    return taken


def _lazy(info: CommandInfo) -> LazyCommand:
    name = info.name
    assert name is not None  # noqa: S101 -- see `group_of`
    summary = info.help or inspect.getdoc(info.callback) or ""
    panel = info.rich_help_panel if isinstance(info.rich_help_panel, str) else None
    return LazyCommand(name, summary, panel, lambda: command_of(info))
