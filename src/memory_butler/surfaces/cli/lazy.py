"""A command of which only name and summary are known until it is called."""

from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand


class LazyCommand(TyperCommand):
    """Stands for a command whose parameters need imports that `--help` must not wait for."""

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
