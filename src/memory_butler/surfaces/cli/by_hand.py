"""The commands that have no operation, which stand here."""

from functools import partial

import typer

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
    scanning,
    serving,
    syncing,
    writing_rules,
)
from memory_butler.surfaces.cli.named import CURATE, KEEP, OPERATE, RUN, STORE, TALK
from memory_butler.surfaces.cli.operations import Group
from memory_butler.surfaces.cli.place import located
from memory_butler.surfaces.cli.serving import Serve


def add_commands(app: typer.Typer, serve: Serve) -> None:
    """Add them; `serve` runs the server."""
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
    add("doctor", rich_help_panel=RUN)(_of_all(installation.doctor))
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
        _of_all(maintaining.reembed)
    )
    add("reindex-words", rich_help_panel=KEEP)(_of_all(maintaining.reindex_words))
    add("audit", rich_help_panel=OPERATE, epilog=auditing.EXAMPLES)(located(auditing.audit))
    add("backup", rich_help_panel=OPERATE, epilog=backing_up.BACKUP_EXAMPLES)(
        _of_all(backing_up.backup)
    )
    add("restore-backup", rich_help_panel=OPERATE, epilog=backing_up.RESTORE_EXAMPLES)(
        _of_all(backing_up.restore_backup)
    )
    add("move", rich_help_panel=OPERATE, epilog=moving.EXAMPLES)(located(moving.move))
    add("distribute", rich_help_panel=OPERATE, epilog=distributing.EXAMPLES)(
        _of_all(distributing.distribute)
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


_of_all = partial(located, one_tenant=False)


def _add_groups(app: typer.Typer) -> None:
    """What has commands of its own: `memory-butler keys init`."""
    key = typer.Typer(help="Manage the keys of encrypted backups.", no_args_is_help=True)
    key.command("init", epilog=keys.INIT_EXAMPLES)(_of_all(keys.init))
    key.command("status")(_of_all(keys.status))
    key.command("seal-journals", epilog=keys.SEAL_EXAMPLES)(_of_all(keys.seal_journals))
    key.command("rotate", epilog=keys.ROTATE_EXAMPLES)(_of_all(keys.rotate))
    key.command("export", epilog=keys.EXPORT_EXAMPLES)(_of_all(keys.export))
    key.command("import", epilog=keys.IMPORT_EXAMPLES)(_of_all(keys.import_))
    app.add_typer(key, name="keys", rich_help_panel=OPERATE)

    peers = typer.Typer(cls=Group, help="Choose whose facts `pull` and `push` bring.")
    peers.command("list")(located(exchanging.list_peers))
    peers.command("accept", epilog=exchanging.ACCEPT_EXAMPLES)(located(exchanging.accept))
    peers.command("remove")(located(exchanging.remove))
    app.add_typer(peers, name="peers", rich_help_panel=STORE)

    index = typer.Typer(
        help="Manage the vector index, for faster approximate search.", no_args_is_help=True
    )
    index.command("status")(_of_all(nearest_index.status))
    index.command("build", epilog=nearest_index.EXAMPLES)(_of_all(nearest_index.build))
    index.command("drop")(_of_all(nearest_index.drop))
    app.add_typer(index, name="index", rich_help_panel=OPERATE)

    db = typer.Typer(
        help="Prepare your own PostgreSQL server, and delete what restores have kept.",
        no_args_is_help=True,
    )
    db.command("init", epilog=database.INIT_EXAMPLES)(_of_all(database.init))
    db.command("preview", epilog=database.PREVIEW_EXAMPLES)(_of_all(database.preview))
    db.command("drop-former", epilog=backing_up.DROP_EXAMPLES)(_of_all(backing_up.drop_former))
    app.add_typer(db, name="db", rich_help_panel=OPERATE)
