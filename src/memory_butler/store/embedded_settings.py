"""The PostgreSQL settings that the embedded server is started with."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from memory_butler.domain.errors import ConfigurationError
from memory_butler.store.embedded_postmaster import PORT

# Defaults of `settings`; anything not in _FIXED may be set instead. The first to start decides.
_DEFAULTS: Mapping[str, str] = {
    "max_connections": "100",
    "max_wal_size": "1GB",
    "jit": "off",  # compiling costs more than these queries take
    "timezone": "UTC",
    "fsync": "on",
}
# What access and privacy rest on. Statements, parameters, and errors' texts and details quote what
# people stored, so the server's log has none of them: clients get their errors anyway.
_FIXED: Mapping[str, str] = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "password_encryption": "scram-sha-256",
    "log_destination": "stderr",
    "logging_collector": "on",
    # Seven files, each emptied when its weekday comes again: at midnight, or by the next start.
    "log_filename": "server-%a.log",
    "log_file_mode": "0600",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_truncate_on_rotation": "on",
    "log_timezone": "UTC",
    "log_min_messages": "log",  # above ERROR
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_min_duration_sample": "-1",
    "log_transaction_sample_rate": "0",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
}
_SET_ELSEWHERE = {"unix_socket_directories", "log_directory", "data_directory", "hba_file"}


# PostgreSQL's manual advises a quarter for a machine of its own; an eighth leaves the rest to the
# model, the server and whatever else runs here. A walk through an index of a million vectors reads
# 1.2 GB.
_SHARE_OF_MEMORY: Final = 8
_LEAST_BUFFERS: Final = 128 * 1024**2
_MOST_BUFFERS: Final = 2 * 1024**3
# To lay out 2 GB of pages takes 50 MB and twice the time of all else in a start, and every stop
# looks through them. So a start lays out this many times what is stored, for what comes until the
# next one, and no less than a store of 30,000 facts has (C-542).
_ROOM_TO_GROW: Final = 4
_USUAL_BUFFERS: Final = 256 * 1024**2
# What a container or a service may have, where it is bounded (cgroup v2).
_GROUPS: Final = Path("/sys/fs/cgroup")
_OWN_GROUP: Final = Path("/proc/self/cgroup")


def buffers(memory: int, stored: int) -> str:
    """`shared_buffers` on a machine of so many bytes, for so many that are stored.

    Four times these, 256 MB at least; but no more than an eighth of the memory, which counts as 128
    MB at least and 2 GB at most.
    """
    share = min(max(memory // _SHARE_OF_MEMORY, _LEAST_BUFFERS), _MOST_BUFFERS)
    return f"{min(share, max(stored * _ROOM_TO_GROW, _USUAL_BUFFERS)) // 1024**2}MB"


def machine_memory(groups: Path = _GROUPS, own_group: Path = _OWN_GROUP) -> int:
    """Bytes of memory that this process may have: the machine's, or less where that is bounded."""
    bounds = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    try:
        own = own_group.read_text().rpartition("::")[2].strip().strip("/")
    except OSError:
        own = ""  # no Linux
    for group in (Path(own), *Path(own).parents):
        with suppress(OSError, ValueError):  # there is none, or it is not bounded: "max"
            bounds.append(int((groups / group / "memory.max").read_text()))
    return min(bounds)


def refuse_forbidden(own: Mapping[str, str]) -> None:
    """Raise ConfigurationError where a caller's own settings have a forbidden one."""
    for name in own:
        if name in _FIXED or name in _SET_ELSEWHERE or not re.fullmatch(r"[a-z_][a-z0-9_.]*", name):
            raise ConfigurationError(
                f"The server setting {name!r} cannot be changed: it is no setting's name, or "
                "access and privacy rest on it."
            )


def server_settings(own: Mapping[str, str], stored: int) -> dict[str, str]:
    """All settings for a cluster of so many bytes, with the caller's own."""
    return {"shared_buffers": buffers(machine_memory(), stored), **_DEFAULTS, **own, **_FIXED}
