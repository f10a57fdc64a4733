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
# model, the server and whatever else runs here. Pages are held from when they are first read, so
# that a small store takes no more than it has; to know of 2 GB of them takes 50 MB. A walk through
# an index of a million vectors reads 1.2 GB.
_SHARE_OF_MEMORY: Final = 8
_LEAST_BUFFERS: Final = 128 * 1024**2
_MOST_BUFFERS: Final = 2 * 1024**3
# What a container or a service may have, where it is bounded (cgroup v2).
_GROUPS: Final = Path("/sys/fs/cgroup")
_OWN_GROUP: Final = Path("/proc/self/cgroup")


def buffers(memory: int) -> str:
    """`shared_buffers` on a machine of so many bytes: an eighth, between 128 MB and 2 GB."""
    share = min(max(memory // _SHARE_OF_MEMORY, _LEAST_BUFFERS), _MOST_BUFFERS)
    return f"{share // 1024**2}MB"


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


def server_settings(own: Mapping[str, str]) -> dict[str, str]:
    """All settings, with the caller's own; raises ConfigurationError for a forbidden one."""
    for name in own:
        if name in _FIXED or name in _SET_ELSEWHERE or not re.fullmatch(r"[a-z_][a-z0-9_.]*", name):
            raise ConfigurationError(
                f"The server setting {name!r} cannot be changed: it is no setting's name, or "
                "access and privacy rest on it."
            )
    return {"shared_buffers": buffers(machine_memory()), **_DEFAULTS, **own, **_FIXED}
