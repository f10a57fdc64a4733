"""A companion's conversation over ten days, told through the journal's own sides."""

from datetime import datetime, timedelta

from memory_butler.companions.opening import Companion
from memory_butler.journal.fragments import Operation, PutEdge, PutFragment, RunType

_DAYS = 10

# Who said what on which day.
_SAID = (
    (0, "user", "Good morning. I am thinking of walking the Fishermen's Trail in spring."),
    (
        0,
        "assistant",
        "He sounds excited.<say>Four days along the cliffs! Shall I keep the idea?</say>"
        "<thought>find out how fit he feels</thought>",
    ),
    (0, "user", "Please do. Ana wants to come for the last day."),
    (
        0,
        "assistant",
        "<say>Gladly. I will remember that Ana joins you.</say>"
        "<pin>Ana joins the last day of the trail</pin><desc>Ana: his daughter, eleven</desc>",
    ),
    (3, "user", "My knee hurts again after the run."),
    (
        3,
        "assistant",
        "<say>Then rest it for two days, and see the physiotherapist.</say>"
        "<feeling>a little worried about his knee</feeling>"
        "<pattern>asks about health in the evening</pattern>",
    ),
    (7, "user", "The physiotherapist says ten minutes of stretching a day."),
    (
        7,
        "assistant",
        "<say>Ten minutes it is.</say><do>writes it on the kitchen board</do>"
        '<plan due="in 5 days">ask how the stretching goes</plan>'
        '<plan due="in 3 months">book the huts of the trail</plan>',
    ),
    (9, "user", "I did the stretching. What was it about the huts?"),
    (9, "assistant", "recall(trail)<say>They fill up early; I will bring it up in time.</say>"),
    (9, "user", "Good. And what should I pack for Ana?"),
)

_KNOWN: tuple[Operation, ...] = (
    PutFragment(
        "trail",
        "wants to walk the Fishermen's Trail in spring",
        "Four days along the cliffs in spring; Ana joins the last day. The huts fill up early.",
        "Idea of the first day. Ana comes for the last day only. Huts are to be booked in time.",
        (1, 3),
    ),
    PutFragment("ana", "his daughter, eleven", "His daughter; joins the last day.", None, (3, 4)),
    PutFragment("knee", "his knee hurts after runs", "Stretching every day helps.", None, (5, 7)),
    PutFragment("running", "runs, when the knee allows", sources=(5,)),
    PutFragment("stretching", "ten minutes a day", "Ordered by the physiotherapist.", None, (7,)),
    PutFragment("huts", "to be booked early", sources=(8,)),
    PutFragment("kitchen board", "where the day's plan stands", sources=(8,)),
    PutEdge("trail", "ana", "with"),
    PutEdge("trail", "huts", "sleeps in"),
    PutEdge("trail", "knee", "depends on"),
    PutEdge("knee", "running", "hurt by"),
    PutEdge("knee", "stretching", "helped by"),
    PutEdge("stretching", "kitchen board", "written on"),
)


class StoryClock:
    """The moment of the story; a minute passes at each look."""

    def __init__(self, present: datetime) -> None:
        self._present = present
        self.day = 0
        self._minute = 0

    def __call__(self) -> datetime:
        self._minute += 1
        return self._present - timedelta(days=_DAYS - self.day) + timedelta(minutes=self._minute)


def tell(companion: Companion, clock: StoryClock) -> None:
    """Log the conversation; compile it on the eighth day, and once more on the last."""
    for said, (day, actor, content) in enumerate(_SAID):
        if clock.day < 8 <= day:
            _compile(companion, "bootstrap", _KNOWN)
        clock.day = day
        companion.live.log(content, actor)
        if said == len(_SAID) - 2:
            better = PutFragment("knee", "his knee is better since he stretches", sources=(9,))
            _compile(companion, "weekly", (better,))


def _compile(companion: Companion, run_type: RunType, operations: tuple[Operation, ...]) -> None:
    run = companion.desk.begin(run_type)
    companion.desk.complete(run, operations)
