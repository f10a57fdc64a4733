"""The modules that a butler may load, and their life with it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from mcp.server import MCPServer
from pydantic import BaseModel

from memory_butler.domain.errors import ConfigurationError
from memory_butler.engine.opening import audit_folder
from memory_butler.host.butler import Butler, checked
from memory_butler.host.heartbeat_module import HeartbeatModule
from memory_butler.host.memory_module import MemoryModule
from memory_butler.host.module import HostDatabase, Module

KNOWN: Final[Mapping[str, Callable[[Butler], Module]]] = {
    "memory": lambda butler: MemoryModule(butler.settings.toolsets, audit_folder(butler.settings)),
    "heartbeat": lambda _: HeartbeatModule(),
}


@asynccontextmanager
async def loaded(
    butler: Butler, mcp: MCPServer[Any], db: HostDatabase
) -> AsyncIterator[dict[str, Module]]:
    """The modules of a butler, started in the order of their dependencies, stopped in reverse.

    Raises:
        ConfigurationError: a module is not known, misconfigured, or lacks what it depends on.
    """
    modules = {name: _make(name, butler) for name in butler.modules}
    async with AsyncExitStack() as stack:
        for name in _ordered(modules):
            module = modules[name]
            config = _config(module, butler)
            # Before it starts, because it may be half way when it fails.
            stack.push_async_callback(module.on_shutdown)
            await module.on_startup(config, db)
            await module.register_tools(mcp, config, db)
        yield modules


def _make(name: str, butler: Butler) -> Module:
    if name not in KNOWN:
        known = ", ".join(KNOWN)
        said = f"modules.{name}: there is no module {name!r}; known: {known}"
        raise ConfigurationError(butler.file.complaint(("modules", name), said))
    return KNOWN[name](butler)


def _config(module: Module, butler: Butler) -> BaseModel:
    if isinstance(module, MemoryModule):  # read with the settings: variables may change it too
        return butler.settings.memory
    config: BaseModel = checked(module.config_schema, butler.file, "modules", module.name)
    return config


def _ordered(modules: Mapping[str, Module]) -> list[str]:
    needs = {name: set(module.dependencies) for name, module in modules.items()}
    for name, needed in needs.items():
        if missing := needed - modules.keys():
            raise ConfigurationError(
                f"the module {name!r} needs [modules.{min(missing)}], which is not configured"
            )
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        raise ConfigurationError(f"modules need each other in a circle: {error.args[1]}") from None
