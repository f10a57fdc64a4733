"""All commands: those of the operations, and those that have no operation, which stand here."""

from collections.abc import Callable
from typing import Annotated

import typer
from typer.core import TyperGroup

from memory_butler.surfaces.cli import (
    auditing,
    backing_up,
    connecting,
    database,
    demonstrating,
    distributing,
    erasing,
    exchanging,
    exporting,
    importing,
    installation,
    journal,
    keys,
    maintaining,
    moving,
    nearest_index,
    operations,
    scanning,
    serving,
    syncing,
    writing_rules,
)
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.lazy import group_of
from memory_butler.surfaces.cli.named import CURATE, KEEP, OPERATE, PANELS, RUN, STORE, TALK
from memory_butler.surfaces.cli.place import located
from memory_butler.surfaces.cli.problems import exit_codes
from memory_butler.surfaces.cli.serving import Serve

__all__ = ["Addition", "Serve", "build"]

Addition = Callable[[typer.Typer], None]


def build(serve: Serve, *additions: Addition) -> TyperGroup:
    """The whole command line; `additions` bring the commands of the rooms above this one."""
    app = typer.Typer(
        name="memory-butler",
        help="Long-term memory for LLM agents: [bold]episodes[/], [bold]facts[/] and "
        "[bold]rules[/] that agents reach over MCP, programs over REST, and you from here.",
        epilog=_epilog(),
        no_args_is_help=True,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        callback=_root,
    )
    add = app.command
    add("serve", rich_help_panel=RUN, epilog=serving.SERVE_EXAMPLES)(
        located(serving.serve_command(serve))
    )
    add("demo", rich_help_panel=RUN, epilog=demonstrating.EXAMPLES)(
        demonstrating.demo_command(serve)
    )
    add("mcp", rich_help_panel=RUN, epilog=serving.MCP_EXAMPLES)(located(serving.mcp))
    add("connect", rich_help_panel=RUN, epilog=connecting.CONNECT_EXAMPLES)(
        located(connecting.connect)
    )
    add("disconnect", rich_help_panel=RUN)(located(connecting.disconnect))
    add("doctor", rich_help_panel=RUN)(located(installation.doctor))
    add("import", rich_help_panel=STORE, epilog=importing.EXAMPLES)(located(importing.import_))
    add("export", rich_help_panel=STORE, epilog=exporting.EXAMPLES)(located(exporting.export))
    add("write-rules", rich_help_panel=STORE, epilog=writing_rules.EXAMPLES)(
        located(writing_rules.write_rules)
    )
    add("sync", rich_help_panel=STORE, epilog=syncing.EXAMPLES)(located(syncing.sync))
    add("pull", rich_help_panel=STORE, epilog=exchanging.PULL_EXAMPLES)(located(exchanging.pull))
    add("push", rich_help_panel=STORE, epilog=exchanging.PUSH_EXAMPLES)(located(exchanging.push))
    add("scan-secrets", rich_help_panel=CURATE, epilog=scanning.EXAMPLES)(
        located(scanning.scan_secrets)
    )
    add("erase", rich_help_panel=CURATE, epilog=erasing.ERASE_EXAMPLES)(located(erasing.erase))
    add("verify", rich_help_panel=CURATE, epilog=erasing.VERIFY_EXAMPLES)(erasing.verify)
    add("reembed", rich_help_panel=KEEP, epilog=maintaining.REEMBED_EXAMPLES)(
        located(maintaining.reembed)
    )
    add("reindex-words", rich_help_panel=KEEP)(located(maintaining.reindex_words))
    add("audit", rich_help_panel=OPERATE, epilog=auditing.EXAMPLES)(located(auditing.audit))
    add("backup", rich_help_panel=OPERATE, epilog=backing_up.BACKUP_EXAMPLES)(
        located(backing_up.backup)
    )
    add("restore-backup", rich_help_panel=OPERATE, epilog=backing_up.RESTORE_EXAMPLES)(
        located(backing_up.restore_backup)
    )
    add("move", rich_help_panel=OPERATE, epilog=moving.EXAMPLES)(located(moving.move))
    add("distribute", rich_help_panel=OPERATE, epilog=distributing.EXAMPLES)(
        located(distributing.distribute)
    )
    add(
        "psql",
        rich_help_panel=OPERATE,
        epilog=database.PSQL_EXAMPLES,
        context_settings={"ignore_unknown_options": True},
    )(located(database.psql))
    add("db-url", rich_help_panel=OPERATE, epilog=database.URL_EXAMPLES)(located(database.url))
    add("version", rich_help_panel=OPERATE)(installation.version)

    journal.add_to(app, TALK)

    _add_groups(app)
    for addition in additions:
        addition(app)
    group = group_of(app)
    by_hand = set(group.commands)
    operations.add_commands(group)
    group.commands = dict(
        sorted(
            group.commands.items(),
            key=lambda one: (PANELS.index(one[1].rich_help_panel), one[0] in by_hand),  # type: ignore[attr-defined]
        )
    )
    return group


def _add_groups(app: typer.Typer) -> None:
    """What has commands of its own: `memory-butler keys init`."""
    key = typer.Typer(help="Manage the keys of encrypted backups.", no_args_is_help=True)
    key.command("init", epilog=keys.INIT_EXAMPLES)(located(keys.init))
    key.command("status")(located(keys.status))
    key.command("seal-journals", epilog=keys.SEAL_EXAMPLES)(located(keys.seal_journals))
    key.command("rotate", epilog=keys.ROTATE_EXAMPLES)(located(keys.rotate))
    key.command("export", epilog=keys.EXPORT_EXAMPLES)(located(keys.export))
    key.command("import", epilog=keys.IMPORT_EXAMPLES)(located(keys.import_))
    app.add_typer(key, name="keys", rich_help_panel=OPERATE)

    peers = typer.Typer(help="Choose whose facts `pull` and `push` bring.", no_args_is_help=True)
    peers.command("list")(located(exchanging.list_peers))
    peers.command("accept", epilog=exchanging.ACCEPT_EXAMPLES)(located(exchanging.accept))
    peers.command("remove")(located(exchanging.remove))
    app.add_typer(peers, name="peers", rich_help_panel=STORE)

    index = typer.Typer(
        help="Manage the vector index, for faster approximate search.", no_args_is_help=True
    )
    index.command("status")(located(nearest_index.status))
    index.command("build", epilog=nearest_index.EXAMPLES)(located(nearest_index.build))
    index.command("drop")(located(nearest_index.drop))
    app.add_typer(index, name="index", rich_help_panel=OPERATE)

    db = typer.Typer(help="Prepare your own PostgreSQL server.", no_args_is_help=True)
    db.command("init", epilog=database.INIT_EXAMPLES)(located(database.init))
    db.command("preview", epilog=database.PREVIEW_EXAMPLES)(located(database.preview))
    app.add_typer(db, name="db", rich_help_panel=OPERATE)


def _show_version(asked: bool) -> None:
    if asked:
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
