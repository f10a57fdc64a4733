"""Whether episodes bear out what a model drew from them.

A fact that nobody said is the worst that consolidation can do. Two cheap signs stand against it:
how many of the fact's words the episodes contain, and how near in meaning they are. What memory
itself told the session is no evidence: otherwise it would learn its own output as new.

Who speaks decides. What the user says is first-hand, whatever memory had served before; an echo is
in the assistant's words, or in what a tool brought (C-117). Where an episode does not tell its
speakers apart, what memory had served may be an echo.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memory_butler.domain.likeness import compare, names_more
from memory_butler.domain.restatement import same_words
from memory_butler.domain.sketch import MAX_WORDS, SHINGLE_WIDTH, shingle_hashes
from memory_butler.domain.statements import Statement
from memory_butler.domain.trust import Trust
from memory_butler.domain.wording import in_pairs

Verdict = Literal["supported", "needs_review", "refused"]

# Why a statement waits instead of being believed: the episodes have it from memory; they hardly
# bear it out, and it would replace what memory knows; what memory knows is trusted more; something
# like it was forgotten a moment ago; or it is a rule that did harm and became a warning.
Hold = Literal["echo", "weak", "outweighed", "forgotten", "warning"]

# A sentence is an echo when this share of its shingles was served. Below one half, because only a
# sample of a long text's shingles is kept.
ECHO_SHARE: Final = 0.4

# The share of a statement's words that echoes have, from which on it is one of them.
QUOTED: Final = 0.6
# The cosine from which on a statement may be what was served, reworded. Another subject, or another
# thing said of the same one, is below (domain/likeness.py).
REWORDED: Final = 0.78

# What a fact of low support is worth: it is recalled last, and fades first.
REVIEW_CONFIDENCE: Final = 0.5
# And one that seems to be what was served, in other words: it may be true all the same.
ECHO_CONFIDENCE: Final = 0.7

# Of what a statement says of its subject, the share that somebody must have said unasked: before
# memory spoke, or who is neither the user nor an echo.
STATED: Final = 0.5
# A number of so many digits is said by nobody by chance.
_TELLING_DIGITS: Final = 3
# The cosine from which on something that the user said means what is stated, in whatever language.
MEANT: Final = 0.5

_BEGINNING: Final = 4  # letters: "backed" and "backup" are of one word
_NEGATED: Final = re.compile(
    r"\b(?:not|never|no|nicht|kein\w{0,2}|nie|mehr|pas|jamais|plus|nunca|non|não)\b|n['’]t\b",
    re.IGNORECASE,
)

# The mark, in a fact's metadata, that the user said it in a conversation.
BY_USER: Final[Mapping[str, object]] = {"said_by": "user"}

# What in a clause says that something is not so, is only supposed, or holds for a time only.
_DENIED: Final = re.compile(
    r"\b(?:not(?! only\b)|never|no|neither|nobody|nicht(?! nur\b)|kein\w{0,2}|nie|niemals|pas"
    r"|jamais|nunca|jamás|non(?! solo\b)|não)\b|n['’]t\b",
    re.IGNORECASE,
)
# These come before the verb that they deny. Before a noun, the verb comes before: "I eat no meat".
_BEFORE_VERBS: Final = frozenset("never non não nunca".split())
_BEFORE_NOUNS: Final = re.compile(r"no|kein\w{0,2}|pas", re.IGNORECASE)
# Verbs of which a noun says what somebody is or has.
_LINKS: Final = frozenset(
    """
    is am are was were has have had ist bin sind war waren hat habe haben hatte suis est sommes êtes
    sont ai as a avons avez ont
    """.split()
)
_SPANISH_LINKS: Final = frozenset("soy es eres somos son está estoy tengo tiene ha he hay".split())
# What may stand between a denial and what it denies, or between it and "to be" or "to have".
_BESIDES: Final = frozenset(
    """
    any anymore longer more even really ever did mehr wirklich gar plus più mais des du ne please
    bitte suis sommes êtes avons avez ont soy eres somos tengo sou estou tenho had being
    """.split()
)
# Predicates that say themselves that something is not, or only perhaps: "dislikes: coriander".
_AVERSE: Final = re.compile(
    r"\b(?:no|not|never|non|without|ex|nicht|kein\w{0,2}|ohne|sans|sin|senza|sem"
    r"|gave up|given up|gives up|auf(?:gehört|gegeben)"
    r"|(?:dis|refus|drop|avoid|avers|hat|intoler|allerg|restrict|exclu|forbid|former|past|end"
    r"|stop|quit|lack|abneig|unvertr|vermeid|évit|détest|evit|odi|rifiut|rechaz)\w{0,20})\b",
    re.IGNORECASE,
)
# In a clause, these say so as well.
_LESS: Final = re.compile(
    r"\b(?:ne|used to|instead|rather|away|free|without|hardly|rarely|less|früher|statt|anstatt|frei"
    r"|kaum|au lieu|avant|en lugar|en vez|em vez|antes|invece|prima)\b",
    re.IGNORECASE,
)
_SELF: Final = frozenset("i we ich wir je nous yo nosotros io noi eu nós".split())
_WISHED: Final = re.compile(
    r"\b(?:consider|plan|wish|possib|potential|idea|option|maybe|goal|want|dream|interest|hope"
    r"|intend|prefer|wunsch|vorlieb|überleg|envie|projet|préf|dese|sogn|sonh)\w{0,20}\b",
    re.IGNORECASE,
)
# "Don't accept it before you have asked" wants it asked.
_BUT_THEN: Final = re.compile(
    r"\b(?:before|until|without|except|bevor|ehe|bis|ohne|außer|avant|sans|antes|hasta|sin|prima"
    r"|senza|até|sem)\b",
    re.IGNORECASE,
)
_SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|(?-i:may) (?:be|have|also|well|even|still)|might|maybe|perhaps|possibly"
    r"|probably|(?:imagine|suppose|pretend)(?: that)?|wish(?! to\b)"
    r"|would(?! (?:never|not|like|love|prefer|rather|hate|say|always|appreciate|you|it|be)\b)"
    r"|(?:wenn|falls)(?=.{1,80}\b(?:wäre|hätte|würde|könnte))|vielleicht|womöglich"
    r"|wahrscheinlich|(?<!gut )(?<!schön )(?<!toll )(?:wäre|hätte|würde|könnte)\w{0,2}"
    r"(?!.{0,40}\b(?:gern|gerne|lieber|nie|niemals|sagen)\b)"
    r"|peut-être(?: que)?|serait|aurait|quizás?|tal vez|sería|si (?:yo )?fuera|forse"
    r"|fosse|sarebbe|talvez|seria)\b",
    re.IGNORECASE,
)
# Where what is supposed ends: "if you cook, remember that I am allergic to nuts".
_NO_LONGER_SUPPOSED: Final = re.compile(
    r"\b(?:and|und|et|y|e|that|dass|que|che|remember|note|know|told|tell|say|possible)\b"
    r"|[^\W_](?<!only)\s(?:I|ich|je)\b",
    re.IGNORECASE,
)
# A question with these tells: "did you know that I moved?", "is it a problem that …?".
_TELLS: Final = re.compile(
    r"\b(?:know|knew|tell|told|mention(?:ed)?|remember|forget|forgot|hear|heard|problem|matter|ok"
    r"|okay|bother|mind|gesagt|erzählt|erwähnt|vergessen|gewusst|dit|dicho|detto|dito"
    r"|(?:that|where) (?:I|we|my)|I say)\b",
    re.IGNORECASE,
)
# What somebody calls theirs is there, in whatever they say of it: "is rice good for my diabetes?"
_OWN: Final = re.compile(
    r"\b(?:my|our|mein\w{0,2}|unser\w{0,2}|mon|ma|mes|notre|nos|mi|mis|mio|mia|meu|minha)"
    r"\s([^\W_]{1,40}(?:\s[^\W_]{1,40})?)",
    re.IGNORECASE,
)
_TODAY: Final = re.compile(
    r"\b(?:today|tonight|this (?:time|morning|evening|afternoon)|for now|right now"
    r"|just (?:this )?once|heute|diesmal|gerade jetzt|vorerst|ausnahmsweise|aujourd['’]hui|ce soir"
    r"|cette fois|hoy|esta (?:vez|noche)|por ahora|oggi|stasera|questa volta|per ora|hoje|desta vez"
    r"|por enquanto)\b",
    re.IGNORECASE,
)
_THIS_WEEK: Final = re.compile(
    r"\b(?:this (?:week|month)|diese (?:woche)|diesen monat|cette semaine|ce mois-ci"
    r"|esta semana|este mes|questa settimana|questo mese|este mês)\b",
    re.IGNORECASE,
)
_FOR_GOOD: Final = re.compile(
    r"\b(?:always|never|every|each|whenever|forever|(?:in|the) future"
    r"|(?:from|as of|since|starting|beginning|after) (?:today|now|tonight|this)|immer"
    r"|nie|niemals|stets|jede\w|(?:ab|seit) (?:heute|jetzt|sofort|diese[rms])"
    r"|von (?:heute|jetzt|nun) an|künftig|(?:dès|depuis) (?:aujourd|ce)|desde (?:hoy|hoje|est[ea])"
    r"|toujours|jamais|chaque|à partir|désormais|siempre|nunca|cada|a partir|sempre|mai|ogni"
    r"|d['’]ora in|da (?:oggi|ora)|todo)\b",
    re.IGNORECASE,
)
_MAX_CLAUSE: Final = 1000
# What was found or agreed on some day holds from then on: "today we decided to test first".
_REPORTED: Final = re.compile(
    r"\b(?:learn(?:ed|t)|agreed|decided|said|told|noticed|found|reali[sz]ed|heard|read|beschlossen"
    r"|entschieden|vereinbart|ausgemacht|gelernt|gesagt|gemerkt|gehört|décidé|convenu|appris|dit"
    r"|decid\w{1,5}|acordado|acordamos|aprend\w{1,4}|dicho|deciso|imparato|detto)\b",
    re.IGNORECASE,
)
_BRIEF: Final = 4  # words of a clause that only says when: "just for today"
_GOES_ON: Final = re.compile(r"\s{0,4}(?:or|nor|oder|noch|ou|ni|né|o|u)\s", re.IGNORECASE)
_CLAUSE: Final = re.compile(
    r"[,;:–—]\s|\s(?:but|aber|sondern|mais|pero|sino|però|mas|because|weil|parce que|porque)\s",
    re.IGNORECASE,
)

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
_VERBS: Final = frozenset(
    """
    is are was were am do does did can could will would shall should may might has have had
    """.split()
)
# So do these, after such a word alone: German begins requests and short statements with them, too.
_GERMAN_VERBS: Final = frozenset(
    """
    ist sind war waren bin hat habe haben hatte kann können darf dürfen soll sollen muss müssen wird
    werden wurde geht gibt heißt kommt kommen macht
    """.split()
)
_ABOUT: Final = frozenset(
    "i you he she it we they the my our your his her their this that there anybody somebody".split()
)

_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
# A colon ends what introduces an answer: "According to my notes: …".
_CLAUSE_END = re.compile(r"(?<=[.!?…:])\s+|(?<=[。！？])|\n+")
_QUESTION_ENDS: Final = ("?", "？", "؟", "か", "吗", "嗎")
# A question that asks for something to be done, and so for more than an answer: "Can you look …?"
_REQUESTS: Final = frozenset(
    """
    can could would will please kannst könntest würdest bitte peux pourrais pouvez pourriez puedes
    podrías puede puoi potresti pode poderia
    """.split()
)

# Words that say nothing about what a sentence is about. A short list is enough: they only must not
# count as support.
_EMPTY_WORDS: Final = frozenset(
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


@dataclass(frozen=True, slots=True)
class Evidence:
    """How well a statement is borne out: 0.0 (not at all) to 1.0."""

    lexical: float
    semantic: float

    @property
    def support(self) -> float:
        """The better of the two signs: a paraphrase shares no words, a name no meaning."""
        return max(self.lexical, self.semantic)

    def verdict(self, review_below: float, refuse_below: float) -> Verdict:
        """What to do with the statement; a bound of 0 never applies."""
        if self.support < refuse_below:
            return "refused"
        return "needs_review" if self.support < review_below else "supported"


def stems(text: str) -> frozenset[str]:
    """The telling words of a text, each by its first five letters; of a number, all digits.

    That stands in for stemming in any language with suffixes.
    """
    return frozenset(
        word if word[0].isdigit() else word[:5] for word in _words(text) if word not in _EMPTY_WORDS
    )


def lexical_support(statement: str, present: Iterable[frozenset[str]]) -> float:
    """The share of the statement's telling words that texts contain; 0.0 if it has none.

    `present` are the `stems` of each text, which is read once for many statements.
    """
    wanted = stems(statement)
    if not wanted:
        return 0.0
    return len(wanted.intersection(frozenset().union(*present))) / len(wanted)


@dataclass(frozen=True, slots=True)
class Assertion:
    """A sentence of the user that is no question; `after_echo`: memory had spoken before it."""

    text: str
    after_echo: bool


@dataclass(frozen=True, slots=True)
class Denial:
    """What one word of denial in a clause denies.

    `verb` is the word before it, if that may be another verb than "to be" or "to have", and `of`
    the word after it; where none is after it, `of` is None and `before` has all words before it.
    """

    verb: str | None
    of: str | None
    before: frozenset[str]


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of whomever, its words by their beginnings; `asked`: it asks if something is so.

    `text` has what it goes on from, too.
    """

    text: str
    words: frozenset[str]
    asked: bool


@dataclass(frozen=True, slots=True)
class Account:
    """What an episode tells, by who says it, as `stems`.

    `own` is everything but echoes, `others` that part of it that is not known to be the user's,
    `echoes` what memory had served; `answers` what the assistant says to a question and nothing
    else, `besides` what else is said; `brought` what tools bring, `talked` all else.
    `labelled`: the episode tells its speakers apart.
    """

    own: frozenset[str]
    others: frozenset[str]
    echoes: frozenset[str]
    answers: frozenset[str]
    besides: frozenset[str]
    brought: frozenset[str]
    talked: frozenset[str]
    assertions: tuple[Assertion, ...]
    clauses: tuple[Clause, ...]
    labelled: bool


def account(
    text: str,
    served: Collection[int],
    speaker: str | None = None,
    trust: Trust | None = None,
    known: Collection[int] = (),
) -> Account:
    """Who says what in an episode, and what of it memory had said.

    Args:
        served: hashes of what memory served before the episode was stored.
        speaker: who said all of it, where that is known.
        trust: the episode's; what is trusted as the user's own words is the user's.
        known: hashes of what memory knows: from an assistant or a tool that is no news either,
            whichever way it came to them.
    """
    turns = _turns(text, speaker, trust)
    answers = _answers(turns)
    own: list[str] = []
    others: list[str] = []
    echoes: list[str] = []
    assertions: list[Assertion] = []
    for voice, said in turns:
        if voice == "user":
            own.append(said)
            assertions += [
                Assertion(one, any(echoes))
                for one in _CLAUSE_END.split(said)
                if one.strip() and not is_question(one)
            ]
            continue
        told = (served,) if voice == "unknown" else (served, known)
        for sentence, heard in _heard(said, told):
            echoes.append(" ".join(heard))
            # What stands in an echo and was never served is news: another value, in the same words.
            others += [word for word in _WORD.findall(in_pairs(sentence)) if word not in heard]
    return Account(
        own=stems("\n".join([*own, *others])),
        others=stems("\n".join(others)),
        echoes=stems("\n".join(echoes)),
        answers=stems("\n".join(turns[place][1] for place in answers)),
        besides=stems(
            "\n".join(said for place, (_, said) in enumerate(turns) if place not in answers)
        ),
        brought=stems("\n".join(said for voice, said in turns if voice == "tool")),
        talked=stems("\n".join(said for voice, said in turns if voice != "tool")),
        assertions=tuple(assertions),
        clauses=tuple(one for _, said in turns for one in _clauses(said)),
        labelled=any(voice != "unknown" for voice, _ in turns),
    )


def is_question(sentence: str) -> bool:
    """Whether a sentence asks, and so tells nothing: by its mark, or by its first two words."""
    if sentence.rstrip(" 。").endswith(_QUESTION_ENDS):
        return True
    words = _WORD.findall(sentence)[:2]
    if not words:
        return False
    first, second = words[0].casefold(), words[-1]
    if first in _MAY_ASK and second.casefold() in _GERMAN_VERBS | _VERBS:
        return True
    if first in _VERBS:
        return second.casefold() in _ABOUT or second[0].isupper()
    return first in _ASKS


def _clauses(said: str) -> Iterator[Clause]:
    for sentence in _SENTENCE_END.split(said):
        asked = sentence.rstrip().endswith(_QUESTION_ENDS) and _asks_whether(sentence)
        text = ""
        for place, clause in enumerate(_CLAUSE.split(sentence)):
            # It goes on with what is denied or supposed: "…, or be allergic to wine".
            text = f"{text} {clause}" if _GOES_ON.match(clause) is not None else clause
            # What is so long is no clause, and would take long to read.
            text = text if len(text) <= _MAX_CLAUSE else ""
            yield Clause(text, _beginnings(stems(clause)), asked and not place)


def _supposed(clause: str) -> frozenset[str]:
    """The words of a clause that are only supposed, by their beginnings."""
    found = _SUPPOSED.search(clause)
    after = clause[found.end() :] if found is not None else ""
    return _beginnings(stems(_NO_LONGER_SUPPOSED.split(after, maxsplit=1)[0]))


def _owned(clause: str) -> frozenset[str]:
    """The words of what somebody calls theirs, by their beginnings."""
    return _beginnings(stems(" ".join(_OWN.findall(clause))))


def _denials(clause: str) -> Iterator[Denial]:
    if _DENIED.search(clause) is None or _BUT_THEN.search(clause) is not None:
        return
    for found in _DENIED.finditer(clause):
        before, after = (
            _WORD.findall(part.casefold())
            for part in (clause[: found.start()], clause[found.end() :])
        )
        denied = _beginnings_in_order(after)
        yield Denial(
            _verb(found.group().casefold(), before, after),
            denied[0] if denied else None,
            frozenset(_beginnings_in_order(before)) if not denied else frozenset(),
        )


def _verb(denial: str, before: Sequence[str], after: Sequence[str]) -> str | None:
    if denial in _BEFORE_VERBS:
        return None
    last = before[-1] if before else ""
    if _BEFORE_NOUNS.fullmatch(denial):
        if last in _LINKS or (after and after[0] in _SPANISH_LINKS):
            return None
        return last[:_BEGINNING]
    return next(iter(_beginnings_in_order([last])), None) if last else None


def _beginnings_in_order(words: Iterable[str]) -> list[str]:
    """The telling words among these, by their beginnings."""
    return [
        one if one[0].isdigit() else one[:_BEGINNING]
        for one in words
        if (len(one) > 1 or one.isdigit()) and one not in _EMPTY_WORDS and one not in _BESIDES
    ]


def _asks_whether(sentence: str) -> bool:
    """Whether a question asks if something is so, and for nothing to be done."""
    words = _WORD.findall(sentence)
    first = words[0].casefold() if words else ""
    if first not in _VERBS | _GERMAN_VERBS or _requests(sentence):
        return False
    return _TELLS.search(sentence) is None


def _beginnings(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word if word[0].isdigit() else word[:_BEGINNING] for word in words)


def _answers(turns: Sequence[tuple[Voice, str]]) -> frozenset[int]:
    """The places of the assistant's turns before which the user asked, and did nothing else."""
    found = set()
    asked = False
    for place, (voice, said) in enumerate(turns):
        if voice == "assistant":
            if asked:
                found.add(place)
            continue
        sentences = [one.strip() for one in _CLAUSE_END.split(said) if one.strip()]
        before = turns[place - 1][0] if place else None
        asked = (
            voice == "user"
            and all(is_question(one) and not _requests(one) for one in sentences)
            and (asked or before != "user")
        )
    return frozenset(found)


def _requests(sentence: str) -> bool:
    words = _WORD.findall(sentence)
    return bool(words) and words[0].casefold() in _REQUESTS


def _turns(text: str, speaker: str | None, trust: Trust | None) -> list[tuple[Voice, str]]:
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


def value_of(stated: Statement) -> frozenset[str]:
    """What a statement says beyond its subject and predicate, as `stems`."""
    content, subject = stems(stated.content), stems(stated.subject)
    asked = stems(stated.predicate.replace("_", " "))
    return content - subject - asked or content - subject or content


def user_says(told: Account, stated: Statement) -> bool:
    """Whether the user says it in words of their own, a question apart.

    Half of what memory had not told is enough, two words at least, in one sentence or two. Where
    it had told all of it, part of the value is, once it has spoken: nobody names it by chance who
    does not mean it. Before, half of the value: the question may have some of its words. Of a value
    that is mostly a number, as in "node 22", that is enough beside a word of what has it.
    """
    value = value_of(stated)
    numbers = frozenset(filter(str.isdigit, value))
    telling = sum(map(len, numbers)) >= _TELLING_DIGITS
    number = len(numbers) >= max(1, STATED * len(value))
    news = (value - told.echoes) or value
    subject, predicate = stems(stated.subject), stems(stated.predicate.replace("_", " "))
    known = value | stems(stated.content) | subject
    whole = known | predicate
    introduced = bool(subject) and not subject <= told.echoes
    beginnings = {word[:_BEGINNING] for word in predicate}
    before = frozenset[str]()
    for one in told.assertions:
        said = stems(one.text)
        named, told_so_far = said & value, (said | before) & news
        before = said
        if len(told_so_far) >= min(len(news), max(2, STATED * len(news))):
            return True
        if not named:
            continue
        if introduced and subject <= said and len(named) >= STATED * len(value):
            other = said - subject - value
            if beginnings & {word[:_BEGINNING] for word in other} and not _NEGATED.search(one.text):
                return True
        if telling and numbers <= said:
            return True  # a time or a code: nobody says it by chance
        if number and numbers <= said and len(said & whole) > len(numbers):
            return True
        if one.after_echo and (
            named == value or len(said & known) > 1 or any(map(_is_telling_number, named))
        ):
            return True
    return False


def borne_by_others(accounts: Iterable[Account], stated: Statement) -> bool:
    """Whether most of the value is in words that are neither the user's nor an echo."""
    value = value_of(stated)
    said = frozenset[str]().union(*(one.others for one in accounts))
    return len(said & value) >= QUOTED * len(value)


def is_said(accounts: Iterable[Account], stated: Statement) -> bool:
    """Whether half of the value is in the words of the episodes, whoever says it."""
    value = value_of(stated)
    said = frozenset[str]().union(*(one.own | one.echoes for one in accounts))
    return len(said & value) >= STATED * len(value)


def only_answered(accounts: Collection[Account], stated: Statement) -> bool:
    """Whether a part of the value is said in answers to questions alone, by the assistant."""
    answers = frozenset[str]().union(*(one.answers for one in accounts))
    besides = frozenset[str]().union(*(one.besides for one in accounts))
    return bool(value_of(stated) & answers - besides)


def only_denied(accounts: Iterable[Account], stated: Statement) -> bool:
    """Whether a statement says just the opposite of what is said: "I am not diabetic".

    What is denied must be a word of the statement: "I don't eat pork" does not deny the pork that
    somebody avoids, nor "don't forget that I am diabetic" the diabetes.
    """
    wanted, subject = _wanted(stated), _beginnings(stems(stated.subject))
    if _DENIED.search(stated.content) is not None:
        who = _SELF | set(_words(stated.subject))
        return _only(accounts, wanted, lambda one: _affirms(one, wanted, who))
    # "I don't like it" speaks against what somebody likes, and for what they avoid.
    averse = _AVERSE.search(_asked(stated)) is not None
    asked = wanted if averse else wanted | _beginnings(stems(_asked(stated)))

    def denies(one: Denial) -> bool:
        if one.of is None:
            return bool(one.before - subject) and one.before - subject <= asked
        if one.of not in asked:
            return False
        return not stated.predicate or one.verb is None or one.verb in asked

    return _only(accounts, wanted, lambda one: any(map(denies, _denials(one.text))))


def _affirms(one: Clause, wanted: frozenset[str], who: Collection[str]) -> bool:
    """Whether a clause says that somebody does it, or is all a request for it.

    What it says of it otherwise may be the reason: "coffee after lunch keeps me awake".
    """
    if one.asked or any(said.search(one.text) for said in (_DENIED, _AVERSE, _LESS)):
        return False
    words = _WORD.findall(one.text.casefold())
    does = (words[place + 1 :] for place, word in enumerate(words) if word in who)
    if any(set(_beginnings_in_order(after)[:1]) & wanted for after in does):
        return True
    return set(_beginnings_in_order(words)) <= wanted


def only_supposed(accounts: Iterable[Account], stated: Statement) -> bool:
    """Whether all that a statement says is only supposed or asked: "if I were a vegetarian", "you
    may have a migraine", "did Lena move to Linz?"."""
    wanted = _wanted(stated)
    last = {*_beginnings_in_order(_words(stated.content))[-1:]}
    # "If the alarm rings, the code is 4711": a number is said for what it is.
    if all(word.isdigit() for word in wanted):
        return False
    supposes = bool(_SUPPOSED.search(stated.content) or _WISHED.search(_asked(stated)))

    def only_supposes(one: Clause) -> bool:
        supposed = one.asked or (not supposes and wanted <= _supposed(one.text))
        return supposed and not last & _owned(one.text)

    return _only(accounts, wanted, only_supposes)


def _wanted(stated: Statement) -> frozenset[str]:
    return _beginnings(stems(stated.content)) - _beginnings(stems(stated.subject))


def _asked(stated: Statement) -> str:
    return stated.predicate.replace("_", " ")


def _only(
    accounts: Iterable[Account], wanted: frozenset[str], doubtful: Callable[[Clause], bool]
) -> bool:
    """Whether each clause that has all words of a statement, one at least, is doubtful."""
    telling = [one for told in accounts for one in told.clauses if wanted and wanted <= one.words]
    return bool(telling) and all(map(doubtful, telling))


def holds_until(told: Iterable[Account], content: str) -> Literal["ephemeral", "volatile"] | None:
    """For how long the user wants something done, where they say that it is for a time only.

    "Answer briefly today" is no rule for good; "from today on" and "always" are.
    """
    wanted = stems(content)
    said = [
        one.text
        for account in told
        for one in account.assertions
        if wanted and len(stems(one.text) & wanted) >= STATED * len(wanted)
    ]
    if not said or any(map(_FOR_GOOD.search, said)) or _TODAY.search(content):
        return None
    if all(_is_wanted(_TODAY, one, wanted) for one in said):
        return "ephemeral"
    weekly = all(_is_wanted(_THIS_WEEK, one, wanted) for one in said)
    return "volatile" if weekly and not _THIS_WEEK.search(content) else None


def _is_wanted(when: re.Pattern[str], sentence: str, wanted: frozenset[str]) -> bool:
    """Whether a sentence says when just this is wanted, and not when something else happened."""
    return any(
        when.search(clause) is not None
        and _REPORTED.search(clause) is None
        and (bool(stems(clause) & wanted) or len(_WORD.findall(clause)) <= _BRIEF)
        for clause in _CLAUSE.split(sentence)
    )


def only_brought(accounts: Iterable[Account], content: str) -> bool:
    """Whether a tool brought most of what is stated, and people and agents say little of it."""
    told, wanted = list(accounts), stems(content)
    brought = frozenset[str]().union(*(one.brought for one in told))
    talked = frozenset[str]().union(*(one.talked for one in told))
    return len(wanted & brought) >= max(1, QUOTED * len(wanted)) and len(
        wanted & talked
    ) < STATED * len(wanted)


def _is_telling_number(word: str) -> bool:
    return word.isdigit() and len(word) >= _TELLING_DIGITS


def is_quoted(statement: str, echoes: frozenset[str]) -> bool:
    """Whether a statement is in the echoes, given by their `stems`."""
    return lexical_support(statement, [echoes]) >= QUOTED


def is_reworded(known: Statement, stated: Statement, nearness: float) -> bool:
    """Whether a statement says what was served in other words, by the cosine of the two.

    A contradiction is as near, and is news; so is another value of the same property, and what
    has a name or a code of its own: "On Wednesday Ida drives" says more than "On Monday Bob
    drives". A rule has neither subject nor predicate.
    """
    if nearness < REWORDED or compare(known, stated, nearness) == "contradiction":
        return False
    if names_more(known, stated):
        return False
    of_one_property = known.predicate != "" and _key(known) == _key(stated)
    return not of_one_property or same_words(known.content, stated.content)


def _key(statement: Statement) -> tuple[str, str]:
    return statement.subject.casefold(), statement.predicate.casefold()


def _echoed(sentence: str, served: Collection[int]) -> frozenset[str]:
    """The words of a sentence that were served, where it is a quotation; else none.

    Each name and number in it must have been served among the same words: "The code is 4711" is no
    echo of another code.
    """
    words = _WORD.findall(in_pairs(sentence))[:MAX_WORDS]
    # What is shorter than a shingle is an echo only where it was served as it stands; a single word
    # tells nothing.
    if len(words) < SHINGLE_WIDTH:
        quoted = len(words) > 1 and shingle_hashes(sentence)[0] in served
        return frozenset(words if quoted else ())
    runs = [words[at : at + SHINGLE_WIDTH] for at in range(len(words) - SHINGLE_WIDTH + 1)]
    known = [run for run in runs if shingle_hashes(" ".join(run))[0] in served]
    heard = frozenset(word for run in known for word in run)
    strange = (word not in heard for word in words[1:] if word[0].isupper() or not word.isalpha())
    if len(known) < ECHO_SHARE * len(runs) or any(strange):
        return frozenset()
    return heard


def _heard(text: str, told: Sequence[Collection[int]]) -> Iterator[tuple[str, frozenset[str]]]:
    """The sentences of a text, each with its words that were told, where it is a quotation.

    One with a colon that is none as a whole is parted there.
    """
    for sentence in _SENTENCE_END.split(text):
        heard = _echoed_of(sentence, told)
        if heard or ": " not in sentence:
            yield sentence, heard
        else:
            yield from ((one, _echoed_of(one, told)) for one in _CLAUSE_END.split(sentence))


def _echoed_of(sentence: str, told: Sequence[Collection[int]]) -> frozenset[str]:
    return next((heard for one in told if (heard := _echoed(sentence, one))), frozenset())


def _words(text: str) -> Iterator[str]:
    """The words in lower case; where a script parts none, pairs of letters."""
    return (match.group().casefold() for match in _WORD.finditer(in_pairs(text)))
