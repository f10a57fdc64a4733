"""Tokens: letting agents and programs in."""

import json
from datetime import timedelta
from typing import Annotated

import typer

from memory_butler.domain.principals import DEFAULT_TENANT, SCOPES
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import AsJson, Place, with_memory
from memory_butler.surfaces.cli.problems import complain

MAX_LIFETIME_DAYS = 36_500

EXAMPLES = epilog(
    "memory-butler token create --name laptop",
    "memory-butler token create --tenant ana --name dashboard --scope read --expires-days 90",
    "memory-butler token create --name prometheus --scope metrics",
)


def create(
    place: Place,
    name: Annotated[str, typer.Option(help="Whose token it is.", metavar="NAME")],
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help="read, write (the default) or admin, each with the ones before it; or metrics: "
            "the server's figures, and nothing else.",
            metavar="|".join(SCOPES),
            autocompletion=lambda: list(SCOPES),
        ),
    ] = None,
    expires_days: Annotated[
        float | None,
        typer.Option(
            help="Days that it is valid; without this, until it is revoked.",
            metavar="DAYS",
            min=0,
            max=MAX_LIFETIME_DAYS,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a token for --tenant; it is shown this once."""
    from memory_butler.engine.tokens import create_token

    lifetime = None if expires_days is None else timedelta(days=expires_days)
    made = with_memory(
        place,
        lambda memory: create_token(memory, place.tenant, name, scope or ["write"], lifetime),
    )
    if as_json:
        answer = {
            "id": str(made.id),
            "token": made.token,
            "tenant": made.tenant,
            "name": made.name,
            "scopes": list(made.scopes),
            "expires_at": None if made.expires_at is None else made.expires_at.isoformat(),
        }
        print(json.dumps(answer, indent=2))
        return
    complain("Keep it now, it is not shown again. Its id, to revoke it: " + str(made.id))
    print(made.token)


def list_(place: Place, as_json: AsJson = False) -> None:
    """All tokens, without their secrets; those of one tenant with --tenant."""
    from memory_butler.engine.tokens import list_tokens

    tenant = None if place.tenant == DEFAULT_TENANT else place.tenant
    found = with_memory(place, lambda memory: list_tokens(memory, tenant))
    if as_json:
        moments = ("created_at", "expires_at", "last_used_at", "revoked_at")
        rows = [
            row | {name: row[name] and row[name].isoformat() for name in moments} for row in found
        ]
        print(json.dumps({"tokens": rows}, default=str, indent=2))
        return
    if not found:
        print("No tokens yet; `memory-butler token create --name <whose>` makes one.")
        return
    from memory_butler.surfaces.cli.answers import clean, console, table

    made = table("Id", "Tenant", "Name", "Scopes", "Made", "Last used", "Ends")
    for row in found:
        days = [
            "–" if row[name] is None else f"{row[name]:%Y-%m-%d}"
            for name in ("created_at", "last_used_at", "expires_at")
        ]
        if row["revoked_at"] is not None:
            days[2] = f"revoked {row['revoked_at']:%Y-%m-%d}"
        made.add_row(
            str(row["id"]), row["tenant_id"], clean(row["name"]), ", ".join(row["scopes"]), *days
        )
    console().print(made)


def revoke(
    place: Place, token_id: Annotated[str, typer.Argument(metavar="ID", help="Its id.")]
) -> None:
    """End a token at once, of whatever tenant it is."""
    from memory_butler.engine.tokens import revoke_token

    with_memory(place, lambda memory: revoke_token(memory, token_id))
    print(f"Revoked token {token_id}.")
