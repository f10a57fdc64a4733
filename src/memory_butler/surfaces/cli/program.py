"""The command line as a whole: the commands of the operations, and those written by hand."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from memory_butler.surfaces.cli import operations
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.lazy import group_of
from memory_butler.surfaces.cli.named import PANELS
from memory_butler.surfaces.cli.place import SHARED_OPTIONS
from memory_butler.surfaces.cli.problems import exit_codes

if TYPE_CHECKING:
    from memory_butler.surfaces.cli.serving import Serve

Addition = Callable[[typer.Typer], None]


class Program(TyperGroup):
    """The root. Commands written by hand are added when one of them is called, or all are shown.

    They are thirty modules, for which a command of an operation need not wait.
    """

    add_by_hand: Callable[[typer.Typer], None] | None = None

    def whole(self) -> "Program":
        """This, with all commands in the order of the help."""
        add, self.add_by_hand = self.add_by_hand, None
        if add is not None:
            app = typer.Typer(callback=_root)  # which makes it a group, of however many
            add(app)
            by_hand = group_of(app).commands
            self.commands = dict(
                sorted(
                    {**by_hand, **self.commands}.items(),
                    key=lambda one: (PANELS.index(one[1].rich_help_panel), one[0] in by_hand),  # type: ignore[attr-defined]
                )
            )
        return self

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Say where an option of the commands goes, if it is given before one."""
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            option = getattr(error, "option_name", None)
            if option in SHARED_OPTIONS:
                error.message += f". It goes behind the command: {self.name} facts {option} …"
            raise

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name; those of operations need no other to be found."""
        return self.commands.get(cmd_name) or self.whole().commands.get(cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands."""
        return list(self.whole().commands)


def build(serve: "Serve", *additions: Addition) -> Program:
    """The whole command line; `additions` bring the commands of the rooms above this one."""

    def add_by_hand(app: typer.Typer) -> None:
        from memory_butler.surfaces.cli import by_hand

        by_hand.add_commands(app, serve)
        for add in additions:
            add(app)

    program = group_of(
        typer.Typer(
            cls=Program,
            name="memory-butler",
            help="Long-term memory for LLM agents: [bold]episodes[/], [bold]facts[/] and "
            "[bold]rules[/] that agents reach over MCP, programs over REST, and you from here.",
            epilog=_epilog(),
            no_args_is_help=True,
            rich_markup_mode="rich",
            context_settings={"help_option_names": ["-h", "--help"]},
            callback=_root,
        )
    )
    assert isinstance(program, Program)  # noqa: S101 -- that class was asked for
    operations.add_commands(program)
    program.add_by_hand = add_by_hand
    return program


def _show_version(asked: bool) -> None:
    if asked:
        from memory_butler.surfaces.cli import installation

        installation.version()
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version),
    ] = False,
) -> None:
    pass


def _epilog() -> str:
    codes = ", ".join(f"{code} {title.lower()}" for code, title in exit_codes())
    return (
        epilog(
            "memory-butler serve",
            'memory-butler store-fact user favorite_color "Prefers dark green"',
            'memory-butler recall "which colour for the poster?"',
        )
        + f"\n\n[dim]Exit codes: {codes}.[/]"
    )
