"""The commands of `memory-butler journal`: SQLite alone, no database server is started."""

import typer

from memory_butler.surfaces.cli.journal import chat, keeping, looking
from memory_butler.surfaces.cli.operations import Group
from memory_butler.surfaces.cli.place import located


def add_to(app: typer.Typer, panel: str) -> None:
    """Add the group to the command line."""
    group = typer.Typer(
        cls=Group, help="Talk with a companion that keeps a journal, and look into it."
    )
    group.command("chat", epilog=chat.EXAMPLES)(located(chat.chat))
    group.command("list")(located(looking.list_))
    group.command("mind", epilog=looking.MIND_EXAMPLES)(located(looking.mind))
    group.command("plans", epilog=looking.PLANS_EXAMPLES)(located(looking.plans))
    group.command("recall", epilog=looking.RECALL_EXAMPLES)(located(looking.recall))
    group.command("search", epilog=looking.SEARCH_EXAMPLES)(located(looking.search))
    group.command("assemble", epilog=looking.ASSEMBLE_EXAMPLES)(located(looking.assemble))
    group.command("import", epilog=keeping.IMPORT_EXAMPLES)(located(keeping.import_))
    group.command("export", epilog=keeping.EXPORT_EXAMPLES)(located(keeping.export))
    group.command("delete", epilog=keeping.DELETE_EXAMPLES)(located(keeping.delete))
    group.command("maintain", epilog=keeping.MAINTAIN_EXAMPLES)(located(keeping.maintain))
    group.command("runs")(located(keeping.runs))
    group.command("undo", epilog=keeping.UNDO_EXAMPLES)(located(keeping.undo))
    app.add_typer(group, name="journal", rich_help_panel=panel)
