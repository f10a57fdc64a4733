"""What came of taking what another installation has."""

from dataclasses import dataclass, fields


@dataclass(slots=True)
class Taken:
    """What taking did.

    Attributes:
        new: facts and rules that were not here.
        changed: those that are in another state now, or have another text.
        conflicts: those that wait beside one that was said elsewhere at the same time.
        kept: those that stay as they are: they are trusted more than what came, or have the same id
            and other words.
        gone: those that were erased there, and are forgotten here.
        refused: those that were not stored, since they were erased or undone here, are damaged, or
            are refused by a setting of this installation.
    """

    new: int = 0
    changed: int = 0
    conflicts: int = 0
    kept: int = 0
    gone: int = 0
    refused: int = 0

    def add(self, other: "Taken") -> None:
        """Count what else was taken."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))
