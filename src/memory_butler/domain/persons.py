"""A question about the person who asks, put as memory keeps what it is about (C-438).

Facts about that person have the subject "user" (the skill of consolidation says so), while people
ask "Where do I live?". To the model these are far apart.
"""

import re
from typing import Final

from memory_butler.domain.relevance import is_personal

_SHORT: Final = 300  # characters; a longer prompt brings what it is about, and costs more to embed
# In capitals only "I" is a person: "ME" is a state. "We" and "our" are mostly about others, too.
_SELF: Final = re.compile(r"\b(?:(?:[Tt]he|[Mm]y) family|I|i|me|[Mm]yself|[Mm]y)\b")
_AM: Final = re.compile(r"\b[Aa]m\b(?= user)|(?<=user )am\b")
_OF_OTHERS: Final = re.compile(
    r"\b(?:kids?|child|children|son|daughter|eldest|oldest|youngest|baby|wife|husband|partner"
    r"|girlfriend|boyfriend|mum|mom|mother|dad|father|parents?|sister|brother|grandma|grandpa"
    r"|grandmother|grandfather|aunt|uncle|cousin|niece|nephew)\b",
    re.IGNORECASE,
)


def about_user(question: str) -> str | None:
    """A short English question with "user" for "I", "me", "my" and "the family".

    None where it has none of them, asks how anybody does it ("How do I …"), or is about one of
    their own people: "my husband".
    """
    if len(question) > _SHORT or not is_personal(question) or _OF_OTHERS.search(question):
        return None
    put, times = _SELF.subn("user", question)
    return _AM.sub("is", put) if times else None
