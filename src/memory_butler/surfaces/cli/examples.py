"""The examples below the help of a command."""


def epilog(*lines: str) -> str:
    """Lines to type, as markup."""
    shown = "\n".join(f"  [cyan]{line.replace('[', chr(92) + '[')}[/]" for line in lines)
    return f"[bold]Examples[/]\n{shown}"
