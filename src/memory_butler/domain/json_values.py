"""How values stand in the JSON of an answer.

A shape that callers see is one dataclass, made where its values are known; an answer has it as it
is.
"""

from datetime import datetime
from typing import Annotated, Final

from pydantic import PlainSerializer

# After the point: relevance and confidence differ by more where it matters.
DIGITS: Final = 6

# JSON-02 asks for isoformat()'s form ("+00:00"), where pydantic would write "Z".
Moment = Annotated[datetime, PlainSerializer(datetime.isoformat, return_type=str, when_used="json")]

# Digits that nobody reads, and a model pays for, are no part of an answer (C-151).
Rounded = Annotated[
    float,
    PlainSerializer(lambda value: round(value, DIGITS), return_type=float, when_used="json"),
]
