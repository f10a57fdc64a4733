"""The error codes, mapped once for every surface."""

from dataclasses import dataclass

from memory_butler.domain.errors import MemoryButlerError


@dataclass(frozen=True, slots=True)
class Mapping:
    """What an error code is on each surface."""

    http_status: int
    exit_code: int
    title: str


# Exit codes: 1 is left to bugs, 2 to usage errors, as shells and Typer have it.
BY_CODE: dict[str, Mapping] = {
    "invalid_input": Mapping(422, 3, "Invalid input"),
    "not_found": Mapping(404, 4, "Not found"),
    "conflict": Mapping(409, 5, "Conflict"),
    "unauthenticated": Mapping(401, 6, "Unauthorized"),
    "permission_denied": Mapping(403, 6, "Permission denied"),
    "unavailable": Mapping(503, 7, "Unavailable"),
    # Not a bug: the server lives, but cannot do this until somebody sets what the message names.
    "configuration": Mapping(503, 8, "Configuration error"),
    "integrity": Mapping(500, 9, "Integrity violation"),
    "internal": Mapping(500, 1, "Internal error"),
}


def mapping(error: MemoryButlerError) -> Mapping:
    """What an error is on each surface."""
    return BY_CODE[error.code]
