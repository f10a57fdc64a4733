"""Who says what in a text: its turns, its sentences and questions, and their telling words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from memory_butler.domain.trust import Trust
from memory_butler.domain.wording import in_pairs

# Of what a statement says of its subject, the share that somebody must have said unasked: before
# memory spoke, or who is neither the user nor an echo.
STATED: Final = 0.5
BEGINNING: Final = 4  # letters: "backed" and "backup" are of one word
Voice = Literal["user", "assistant", "tool", "unknown"]
_LABEL = re.compile(
    r"^[ \t]{0,8}[*_\[#]{0,4}(?:(?P<user>user|human|customer|nutzer|nutzerin|benutzer|benutzerin|"
    r"utilisateur|utilisatrice|usuario|usuaria|utente)|(?P<assistant>assistant|ai|agent|bot|butler|"
    r"model|outcome|assistent|assistentin|assistante|asistente|assistente)|"
    r"(?P<tool>tool|tool output|tool result|function|system|web page|werkzeug|outil|herramienta))"
    r"[*_\]]{0,4}[ \t]{0,4}:[*_]{0,4}",
    re.IGNORECASE | re.MULTILINE,
)
# As hooks write down a session: what the user asked, a line each, then how it ended.
_ASKED = re.compile(r"^The user (?:asked|said):", re.IGNORECASE | re.MULTILINE)
_ASKS: Final = frozenset(
    """
    what who whom whose why which how wer wen wem wessen warum wieso weshalb welche welchen welchem
    welcher welches woher wohin
    """.split()
)
# These begin a question before a verb, and a clause before anything else: "When you book trains …".
_MAY_ASK: Final = frozenset("when where wann wo wie was".split())
# These begin a question before whom it is about, and a request before anything else: "Do water …".
VERBS: Final = frozenset(
    """
    is are was were am do does did can could will would shall should may might has have had
    """.split()
)
# So do these, after such a word alone: German begins requests and short statements with them, too.
GERMAN_VERBS: Final = frozenset(
    """
    ist sind war waren bin hat habe haben hatte kann können darf dürfen soll sollen muss müssen wird
    werden wurde geht gibt heißt kommt kommen macht
    """.split()
)
_ABOUT: Final = frozenset(
    "i you he she it we they the my our your his her their this that there anybody somebody".split()
)
WORD = re.compile(r"[^\W_]+")
SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
# A colon ends what introduces an answer: "According to my notes: …".
CLAUSE_END = re.compile(r"(?<=[.!?…:])\s+|(?<=[。！？])|\n+")
QUESTION_ENDS: Final = ("?", "？", "؟", "か", "吗", "嗎")
# A question that asks for something to be done, and so for more than an answer: "Can you look …?"
_REQUESTS: Final = frozenset(
    """
    can could would will please kannst könntest würdest bitte peux pourrais pouvez pourriez puedes
    podrías puede puoi potresti pode poderia
    """.split()
)
# Words that say nothing about what a sentence is about. A short list is enough: they only must not
# count as support.
EMPTY_WORDS: Final = frozenset(
    """
    a about an and are as at be been but by do does down for from had has have he her here his i if
    in into is it its me my no not of off on or our out over s she so t that the their them then
    there they this to up was we were what when which who will with you your user users
    aber als am auch auf aus bei bin bist bitte da dann das dass dein deine dem den der des die dir
    doch du ein eine einem einen einer er es euch für habe haben hat hatte ich ihm ihn ihnen ihr
    ihre ihren im ist ja jetzt mein meine meinen meinem meiner mich mir mit nach noch nur oder
    schon sehr sein seine seinen sich sie sind um und uns unser unsere unseren vom von waren wenn
    wie wir wird wo zu zum zur
    al con de del el ella en es esta la las le les lo los mi por que se si su sus un una yo
    au aux avec ce ces cette dans des elle est et il ils je leur ma mes mon nous ou où par pas pour
    qui sa ses sont sur te tu une vous
    che ci di gli ha ho mia mio nel non per più sono
    com da das do dos ela ele em eu minha meu na no nos não o os para seu sua são
    """.split()
)


def stems(text: str) -> frozenset[str]:
    """The telling words of a text, each by its first five letters; of a number, all digits.

    That stands in for stemming in any language with suffixes.
    """
    telling = (word for word in words_of(text) if word not in EMPTY_WORDS)
    return frozenset(word if word[0].isdigit() else word[:5] for word in telling)


def is_question(sentence: str) -> bool:
    """Whether a sentence asks, and so tells nothing: by its mark, or by its first two words."""
    if sentence.rstrip(" 。").endswith(QUESTION_ENDS):
        return True
    words = WORD.findall(sentence)[:2]
    if not words:
        return False
    first, second = words[0].casefold(), words[-1]
    if first in _MAY_ASK and second.casefold() in GERMAN_VERBS | VERBS:
        return True
    if first in VERBS:
        return second.casefold() in _ABOUT or second[0].isupper()
    return first in _ASKS


def beginnings(words: Iterable[str]) -> frozenset[str]:
    """The first letters of each, by which two forms of a word meet; of a number, all digits."""
    return frozenset(word if word[0].isdigit() else word[:BEGINNING] for word in words)


def answers_in(turns: Sequence[tuple[Voice, str]]) -> frozenset[int]:
    """The places of the assistant's turns before which the user asked, and did nothing else."""
    found = set()
    asked = False
    for place, (voice, said) in enumerate(turns):
        if voice == "assistant":
            if asked:
                found.add(place)
            continue
        sentences = [one.strip() for one in CLAUSE_END.split(said) if one.strip()]
        before = turns[place - 1][0] if place else None
        asked = (
            voice == "user"
            and all(is_question(one) and not requests(one) for one in sentences)
            and (asked or before != "user")
        )
    return frozenset(found)


def requests(sentence: str) -> bool:
    """Whether a question asks for something to be done."""
    words = WORD.findall(sentence)
    return bool(words) and words[0].casefold() in _REQUESTS


def turns_of(text: str, speaker: str | None, trust: Trust | None) -> list[tuple[Voice, str]]:
    """What each says in a text, in its order; all of it is the speaker's, where one is given."""
    if speaker is not None:
        label = _LABEL.fullmatch(f"{speaker.strip()}:")  # else it is somebody's name
        return [("user" if label is None else _voice(label), text)]
    marks: list[tuple[int, int, Voice]] = [
        (one.start(), one.end(), _voice(one)) for one in _LABEL.finditer(text)
    ]
    marks += [(one.start(), one.end(), "user") for one in _ASKED.finditer(text)]
    marks.sort()
    if not marks:
        return [("user" if trust is Trust.USER_SAID else "unknown", text)]
    ends = [start for start, _, _ in marks[1:]] + [len(text)]
    told: list[tuple[Voice, str]] = [("unknown", text[: marks[0][0]])] if marks[0][0] else []
    return told + [
        (voice, text[begin:end].strip()) for (_, begin, voice), end in zip(marks, ends, strict=True)
    ]


def _voice(label: re.Match[str]) -> Voice:
    if label["user"]:
        return "user"
    return "assistant" if label["assistant"] else "tool"


def spoken(text: str) -> str:
    """What is said in a text, without who says it."""
    return _LABEL.sub("", text)


def words_of(text: str) -> Iterator[str]:
    """The words in lower case; where a script parts none, pairs of letters."""
    return (match.group().casefold() for match in WORD.finditer(in_pairs(text)))
