"""The PostgreSQL settings that the embedded server is started with."""

import os
import re
from collections.abc import Mapping
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
    "log_filename": "server-%a.log",  # seven files, each emptied when its weekday comes again
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


# Pages are held from when they are first read, so that a small store takes no more than it has; to
# know of 2 GB of them takes 50 MB. A walk through an index of a million vectors reads 1.2 GB.
_SHARE_OF_MEMORY: Final = 8
_LEAST_BUFFERS: Final = 128 * 1024**2
_MOST_BUFFERS: Final = 2 * 1024**3
# What a container may have, where it is bounded (cgroup v2).
_BOUND: Final = Path("/sys/fs/cgroup/memory.max")


def buffers(memory: int) -> str:
    """`shared_buffers` on a machine of so many bytes: an eighth, between 128 MB and 2 GB."""
    share = min(max(memory // _SHARE_OF_MEMORY, _LEAST_BUFFERS), _MOST_BUFFERS)
    return f"{share // 1024**2}MB"


def machine_memory(bound: Path = _BOUND) -> int:
    """Bytes of memory that this machine has, or this container."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(memory, int(bound.read_text()))
    except (OSError, ValueError):
        return memory  # no container, or one that is not bounded: "max"


def server_settings(own: Mapping[str, str]) -> dict[str, str]:
    """All settings, with the caller's own; raises ConfigurationError for one that is not his."""
    for name in own:
        if name in _FIXED or name in _SET_ELSEWHERE or not re.fullmatch(r"[a-z_][a-z0-9_.]*", name):
            raise ConfigurationError(
                f"The server setting {name!r} cannot be changed: it is no setting's name, or "
                "access and privacy rest on it."
            )
    return {"shared_buffers": buffers(machine_memory()), **_DEFAULTS, **own, **_FIXED}
