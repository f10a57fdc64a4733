"""What the layers below the surfaces count: for `metrics`, in a process that imports it.

They do not import it themselves: prometheus_client takes a twentieth of a command's time, and
nobody asks a command for its figures.
"""

from collections.abc import Mapping


class Counters:
    """Takes what there is to count, and drops it."""

    def acquired(self, seconds: float) -> None:
        """A transaction got its database connection after so long."""

    def embedded(self, texts: int, seconds: float) -> None:
        """The model took so long for a batch of so many texts."""

    def committed(self, changes: Mapping[str, int]) -> None:
        """Changes were committed: how many, by type of event."""


counters = Counters()


def count_with(counting: Counters) -> None:
    """Hand what is counted from now on to `counting`, for the life of this process."""
    global counters
    counters = counting
