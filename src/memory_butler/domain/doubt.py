"""What is only denied or supposed, or wanted for a time: against what a weak model makes of it."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memory_butler.domain.speech import (
    BEGINNING,
    EMPTY_WORDS,
    GERMAN_VERBS,
    QUESTION_ENDS,
    SENTENCE_END,
    STATED,
    VERBS,
    WORD,
    beginnings,
    requests,
    stems,
    words_of,
)
from memory_butler.domain.statements import Statement

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


def clauses_of(said: str) -> Iterator[Clause]:
    """The clauses of what one speaker says."""
    for sentence in SENTENCE_END.split(said):
        asked = sentence.rstrip().endswith(QUESTION_ENDS) and _asks_whether(sentence)
        text = ""
        for place, clause in enumerate(_CLAUSE.split(sentence)):
            # It goes on with what is denied or supposed: "…, or be allergic to wine".
            text = f"{text} {clause}" if _GOES_ON.match(clause) is not None else clause
            # What is so long is no clause, and would take long to read.
            text = text if len(text) <= _MAX_CLAUSE else ""
            yield Clause(text, beginnings(stems(clause)), asked and not place)


def _supposed(clause: str) -> frozenset[str]:
    """The words of a clause that are only supposed, by their beginnings."""
    found = _SUPPOSED.search(clause)
    after = clause[found.end() :] if found is not None else ""
    return beginnings(stems(_NO_LONGER_SUPPOSED.split(after, maxsplit=1)[0]))


def _owned(clause: str) -> frozenset[str]:
    """The words of what somebody calls theirs, by their beginnings."""
    return beginnings(stems(" ".join(_OWN.findall(clause))))


def _denials(clause: str) -> Iterator[Denial]:
    if _DENIED.search(clause) is None or _BUT_THEN.search(clause) is not None:
        return
    for found in _DENIED.finditer(clause):
        before, after = (
            WORD.findall(part.casefold())
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
        return last[:BEGINNING]
    return next(iter(_beginnings_in_order([last])), None) if last else None


def _beginnings_in_order(words: Iterable[str]) -> list[str]:
    """The telling words among these, by their beginnings."""
    return [
        one if one[0].isdigit() else one[:BEGINNING]
        for one in words
        if (len(one) > 1 or one.isdigit()) and one not in EMPTY_WORDS and one not in _BESIDES
    ]


def _asks_whether(sentence: str) -> bool:
    """Whether a question asks if something is so, and for nothing to be done."""
    words = WORD.findall(sentence)
    first = words[0].casefold() if words else ""
    if first not in VERBS | GERMAN_VERBS or requests(sentence):
        return False
    return _TELLS.search(sentence) is None


def only_denied(clauses: Collection[Clause], stated: Statement) -> bool:
    """Whether a statement says just the opposite of what is said: "I am not diabetic".

    What is denied must be a word of the statement: "I don't eat pork" does not deny the pork that
    somebody avoids, nor "don't forget that I am diabetic" the diabetes.
    """
    wanted, subject = _wanted(stated), beginnings(stems(stated.subject))
    if _DENIED.search(stated.content) is not None:
        who = _SELF | set(words_of(stated.subject))
        return _only(clauses, wanted, lambda one: _affirms(one, wanted, who))
    # "I don't like it" speaks against what somebody likes, and for what they avoid.
    averse = _AVERSE.search(_asked(stated)) is not None
    asked = wanted if averse else wanted | beginnings(stems(_asked(stated)))

    def denies(one: Denial) -> bool:
        if one.of is None:
            return bool(one.before - subject) and one.before - subject <= asked
        if one.of not in asked:
            return False
        return not stated.predicate or one.verb is None or one.verb in asked

    return _only(clauses, wanted, lambda one: any(map(denies, _denials(one.text))))


def _affirms(one: Clause, wanted: frozenset[str], who: Collection[str]) -> bool:
    """Whether a clause says that somebody does it, or is all a request for it.

    What it says of it otherwise may be the reason: "coffee after lunch keeps me awake".
    """
    if one.asked or any(said.search(one.text) for said in (_DENIED, _AVERSE, _LESS)):
        return False
    words = WORD.findall(one.text.casefold())
    does = (words[place + 1 :] for place, word in enumerate(words) if word in who)
    if any(set(_beginnings_in_order(after)[:1]) & wanted for after in does):
        return True
    return set(_beginnings_in_order(words)) <= wanted


def only_supposed(clauses: Collection[Clause], stated: Statement) -> bool:
    """Whether all that a statement says is only supposed or asked: "if I were a vegetarian", "you
    may have a migraine", "did Lena move to Linz?"."""
    wanted = _wanted(stated)
    last = {*_beginnings_in_order(words_of(stated.content))[-1:]}
    # "If the alarm rings, the code is 4711": a number is said for what it is.
    if all(word.isdigit() for word in wanted):
        return False
    supposes = bool(_SUPPOSED.search(stated.content) or _WISHED.search(_asked(stated)))

    def only_supposes(one: Clause) -> bool:
        supposed = one.asked or (not supposes and wanted <= _supposed(one.text))
        return supposed and not last & _owned(one.text)

    return _only(clauses, wanted, only_supposes)


def _wanted(stated: Statement) -> frozenset[str]:
    return beginnings(stems(stated.content)) - beginnings(stems(stated.subject))


def _asked(stated: Statement) -> str:
    return stated.predicate.replace("_", " ")


def _only(
    clauses: Iterable[Clause], wanted: frozenset[str], doubtful: Callable[[Clause], bool]
) -> bool:
    """Whether each clause that has all words of a statement, one at least, is doubtful."""
    telling = [one for one in clauses if wanted and wanted <= one.words]
    return bool(telling) and all(map(doubtful, telling))


def holds_until(asserted: Iterable[str], content: str) -> Literal["ephemeral", "volatile"] | None:
    """For how long the user wants something done, where they say that it is for a time only.

    `asserted` are the user's sentences that are no questions. "Answer briefly today" is no rule for
    good; "from today on" and "always" are.
    """
    wanted = stems(content)
    said = [one for one in asserted if wanted and len(stems(one) & wanted) >= STATED * len(wanted)]
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
        and (bool(stems(clause) & wanted) or len(WORD.findall(clause)) <= _BRIEF)
        for clause in _CLAUSE.split(sentence)
    )
