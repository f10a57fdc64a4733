"""Letters that a pattern takes for others stop no reading of a plan."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memory_butler.journal.due import schedule, times_left_out, undated, window
from memory_butler.journal.policy import JournalPolicy

from .due_phrases import PHRASES

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
BOTH = JournalPolicy(zone=ZoneInfo("Europe/Berlin"), languages=("en", "de"))
ODD = [str.maketrans("si", "ſı"), str.maketrans("iI", "İİ")]
PLANS = [
    *(text for text, _ in PHRASES[::2]),
    *(
        "am Dienstag|nächsten Samstag um sieben|jeden Dienstag|in sechs Tagen|am ersten Dienstag"
        "|in dreißig Minuten|Silvester|heiligabend|am 3. Dezember|viertel nach sieben|jeden Abend"
        "|diese Woche|Ende September|weihnachten|christmas eve|every sunday at six|in six days"
        "|biweekly on friday|last sunday of september|fifteen past six|tonight at six"
    ).split("|"),
]


@pytest.mark.parametrize("odd", ODD)
def test_of_odd_letters_every_plan_can_be_read(odd: dict[int, int]) -> None:
    for text in PLANS:
        said = text.translate(odd)
        schedule(None, said, NOW, BOTH)
        window(said, NOW, BOTH)
        undated(said, BOTH.languages)
        times_left_out(said, NOW)
