"""Whether memory has anything for a question: a calibrated probability, from what is cheap.

A search always has nearest neighbours; this says whether they are near enough to be shown. It is a
logistic model of eight signs of one question and its candidates, fitted by maximum likelihood on
half of what `bench/silence.py` asks, every kind of question weighing alike, questions and what
they are put to half right and half wrong. docs/retrieval.md has how often it errs on the other
half.

* How near the best candidate is, less what the best of so many would reach by chance: the maximum
  of n normal values lies near sqrt(2 ln n) standard deviations (Gumbel), so the same nearness says
  less in a larger store. The standard deviation is that of this store's memories to this question.
* How few telling words the question has, and how many of them one candidate has: of a question of
  four words and more the nearness tells enough, a topic of one word must be found. How near the one
  is that has them all: "grafana" is answered by what is about it, "next" by nothing that has it.
* Whether it names somebody or something that no candidate has, and that is no known entity: half
  as bad where the asker's own matters are the point ("our", "my"), who may bring in somebody new.
* Whether it has a code that a candidate has: an error's, a ticket's, a path, a commit. Nobody types
  such a thing by chance, and meaning says nothing of it. A code alone that no candidate has is as
  a name that nobody knows.
* Whether it is about the person who asks, or about somebody, something or a month or weekday that
  memory knows. A question that is about neither ("Who painted the Night Watch?") seldom rests on
  memory, unless one candidate has all of its words ("How do I deploy?").
* Whether it sets a task ("translate", "explain") that is about neither, and whose matter no
  candidate has: "refactor the rate limiter" is about the limiter.
* How long it is: a long question is near to something sooner.

A prompt of pleasantries alone ("thanks, bye") is about nothing.
"""

import math
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, TypeVar

# The standard deviation of one prompt's cosines to unrelated English texts, under the model that
# every installation has (212 everyday prompts against 7,000 memories). It stands in, as so many
# memories, for what a small store cannot say about itself.
UNRELATED_SPREAD: Final = 0.07
# The mean of the cosines of a question to the memories of an English store, under that model. Of
# other languages it is 0.3 to 0.5 (thirty facts and questions of each of fifteen languages).
USUAL_MEAN: Final = 0.1
PRIOR_MEMORIES: Final = 16
PRIOR_WITHOUT_WORDS: Final = 4  # where no memory shares a word with the question
# A store of so many is what the constants were fitted at: there, chance takes nothing away.
USUAL_SIZE: Final = 300
LEAST_SIZE: Final = 10  # smaller stores count as this large: nothing was fitted there

# No fact brings in a rule that alone makes a smaller probability: the best of few rules is the best
# of its kind whatever it says (C-453). A topic of few words says too little of a rule.
RULES_FROM: Final = 0.05
RULES_FROM_TOPIC: Final = 0.02

# The fitted coefficients (logits), rounded to what the data can tell.
_NEARNESS: Final = 12.4  # for each 1.0 of cosine beyond chance
_FEW_WORDS: Final = -2.12  # for each telling word short of four …
_FEW_FOUND: Final = 1.2  # … times the share of them that one candidate has
_FEW_WHOLE: Final = 3.2  # … times the nearness of one that has them all, …
_WHOLE_FROM: Final = 0.15  # … beyond this
_REWORDED_FROM: Final = 0.25  # nearness from which on it may have them in other words …
_REWORDED: Final = 0.45  # … and from which on it has
_UNKNOWN_NAME: Final = -4.4
_UNKNOWN_TO_ASKER: Final = -2.0  # the same where the asker's own matters are the point
_PERSONAL: Final = 0.16
_ABOUT_SOMEBODY: Final = 0.4
_ABOUT_NOBODY: Final = -0.8
_LONG: Final = -0.3  # for each telling word beyond six, twelve at most
_TASK: Final = -4.0
_KNOWN_CODE: Final = 6.0  # not fitted: no set has any. It outweighs all that is against it.
_CONSTANT: Final = -3.48
ENOUGH_WORDS: Final = 4
_LONG_FROM: Final = 6
_LONG_TO: Final = 12

# An answer is as strong as it is near and has words of the question. From this share of the best
# one of its kind on it counts in full, below it quickly less: measured on two years of a household,
# where more takes needed lines away and less lets twice as many others in.
_OWN_WORDS: Final = 0.3
_IN_FULL: Final = 0.45
_FALL: Final = 5.5

Id = TypeVar("Id", bound=Hashable)


class Bearing(NamedTuple):
    """What a candidate has to do with the question: its cosine, the question's words it has.

    `coded`: it has a code of the question's.
    """

    similarity: float | None
    words: frozenset[str]
    coded: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks, and where.

    Attributes:
        words: its telling words, stemmed as those of memories are.
        names: those of them that are names.
        names_entity: whether it names an entity that is known.
        personal, question, task, pleasantry: see the module.
        code_alone: it is a code, and nothing else.
        memories: how many memories it was put to, about.
        spread: the standard deviation of their cosines to it; `sampled` of them tell.
    """

    words: frozenset[str]
    names: frozenset[str]
    names_entity: bool
    personal: bool
    question: bool
    task: bool
    pleasantry: bool
    memories: int
    spread: float
    sampled: int
    code_alone: bool = False


def weakened(asked: Asked, candidates: Mapping[Id, Bearing], best: float) -> dict[Id, float]:
    """The relevance of each candidate of one kind, 0.0 to 1.0.

    The best has `best`, a probability; one that is far weaker has less.
    """
    strengths = {id: _strength(asked, one) for id, one in candidates.items()}
    full = _IN_FULL * max(strengths.values(), default=0.0)
    if full <= 0:
        return dict.fromkeys(candidates, best)
    return {id: best * min(1.0, max(0.0, own) / full) ** _FALL for id, own in strengths.items()}


def probability(asked: Asked, candidates: Mapping[Id, Bearing]) -> float:
    """The probability that memory, with these candidates, has something for the question."""
    if asked.pleasantry:
        return 0.0
    nearest = max((one.similarity or 0.0 for one in candidates.values()), default=0.0)
    chance = _by_chance(asked)
    nearness = nearest - chance
    shared = max((_share(asked, one) for one in candidates.values()), default=0.0)
    # What is near enough has the words in other words.
    found = max(shared, min(1.0, (nearness - _REWORDED_FROM) / (_REWORDED - _REWORDED_FROM)))
    whole = max((_nearness_of_whole(asked, one) for one in candidates.values()), default=0.0)
    beyond = max(0.0, whole - chance - _WHOLE_FROM) if whole else 0.0
    known = frozenset[str]().union(*(one.words for one in candidates.values()))
    few = max(0, ENOUGH_WORDS - len(asked.words))
    coded = any(one.coded for one in candidates.values())
    unknown_name = bool(asked.names - known) and not asked.names_entity
    unknown_name = unknown_name or (asked.code_alone and not coded)
    about_somebody = asked.personal or asked.names_entity or bool(asked.names & known)
    bare_task = asked.task and not about_somebody and not _has_matter(asked, candidates)
    about_known = about_somebody or bool(asked.words & known & _DATED)
    logit = (
        _CONSTANT
        + _NEARNESS * nearness
        + few * (_FEW_WORDS + _FEW_FOUND * found + _FEW_WHOLE * beyond)
        + unknown_name * (_UNKNOWN_TO_ASKER if asked.personal else _UNKNOWN_NAME)
        + _PERSONAL * asked.personal
        + (_ABOUT_SOMEBODY if about_known else _ABOUT_NOBODY * (asked.question and not whole))
        + _LONG * (min(max(len(asked.words), _LONG_FROM), _LONG_TO) - _LONG_FROM)
        + _TASK * bare_task
        + _KNOWN_CODE * coded
    )
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, logit))))


def _by_chance(asked: Asked) -> float:
    """By how much the best of this store is nearer than that of a usual one, by chance alone."""
    spread = likely_spread(asked.spread, asked.sampled)
    return spread * (_of_maximum(asked.memories) - _of_maximum(USUAL_SIZE))


def likely_mean(mean: float, sampled: int, prior: int = PRIOR_MEMORIES) -> float:
    """The mean of a store's cosines, of which a sample shows this one; unrelated texts have 0.

    A small sample says little of it, and may hold the answer alone.
    """
    return mean * sampled / (sampled + prior)


def likely_spread(spread: float, sampled: int) -> float:
    """The standard deviation of a store's cosines, of which a sample shows this one.

    A small sample says little of it: the usual one stands in.
    """
    variance = sampled * spread**2 + PRIOR_MEMORIES * UNRELATED_SPREAD**2
    return math.sqrt(variance / (sampled + PRIOR_MEMORIES))


def _of_maximum(memories: int) -> float:
    return math.sqrt(2 * math.log(max(LEAST_SIZE, memories)))


def _nearness_of_whole(asked: Asked, one: Bearing) -> float:
    """How near a candidate is that has every word of the question; 0 of another."""
    return (one.similarity or 0.0) if asked.words and asked.words <= one.words else 0.0


def _share(asked: Asked, one: Bearing) -> float:
    return len(one.words & asked.words) / len(asked.words) if asked.words else 0.0


def _has_matter(asked: Asked, candidates: Mapping[Id, Bearing]) -> bool:
    """Whether one has all that a short task is about, its verb apart; a long one brings its own."""
    enough = max(2, len(asked.words) - 1)
    return len(asked.words) <= ENOUGH_WORDS and any(
        len(one.words & asked.words) >= enough for one in candidates.values()
    )


def _strength(asked: Asked, one: Bearing) -> float:
    return (one.similarity or 0.0) + _OWN_WORDS * (1.0 if one.coded else _share(asked, one))


# What no prose has: a name of letters and digits, or of parts joined by a sign or by capitals.
_TOKEN: Final = re.compile(r"[^\s,;()\[\]{}<>\"'’`“”«»「」、。，]+")
_JOINED: Final = re.compile(r"[^\W_]_[^\W_]|[^\W_]{2}\.[^\W\d_]|^[/~]\w|^\w+[/\\][^/\\]+[/\\]\w")
_HUMPED: Final = re.compile(r"^(?:[a-z]{2,}(?:[A-Z]+[a-z]+)+[A-Z]*|(?:[A-Z]+[a-z]+){3,}[A-Z]*)$")
_MIXED: Final = re.compile(r"[\w.:#+-]{4,}")
_AMOUNT: Final = re.compile(r"\W?\d[\d.,:/-]*(?:[^\W\d_]{0,5}|h\d\d)|\d{4}-\d\d-\d\d.*")
_CODES: Final = 20  # of one question
_LONGEST_CODE: Final = 200

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_READ: Final = 4000  # characters of a prompt: what comes later is material, not question

# Of who asks.
_PERSONAL_WORDS: Final = frozenset(
    """
    i my mine myself we us our ours ourselves ich mich mein meine meinen meinem meiner meines wir
    uns unser unsere unseren unserem unserer unseres je mon ma mes nous notre nos yo mi mis
    nosotros nuestro nuestra nuestros nuestras io mio mia mie miei noi nostro nostra nostri nostre
    eu meu meus minha minhas nós nosso nossa nossos nossas
    """.split()
)
HOW_ONE_DOES: Final = re.compile(
    r"\b(?:how (?:do|can|could|should|would) i|wie (?:kann|könnte|soll|muss|mache) ich|"
    r"comment (?:puis|peux|dois|fais)-je|comment je (?:peux|dois|fais))\b",
    re.IGNORECASE,
)
# "Me" in English, as in "Who insures me?"; not of whom something is told, given or done for.
_ME: Final = re.compile(r"\bme\b", re.IGNORECASE)
_FOR_ONESELF: Final = re.compile(
    r"\b(?:tell|give|show|teach|help|send|let|write|make|find|get|bring|draw|sing|read|play|remind"
    r"|recommend|suggest|walk|talk|guide|take|ask|excuse|pardon|forgive|trust|believe|correct|quiz"
    r"|to|for)\s+me\b",
    re.IGNORECASE,
)
_OTHERS: Final = frozenset("he she they him them her hers his their theirs".split())
_BEGINNING: Final = 4  # words
_POINTING_BACK: Final = _OTHERS | frozenset("it its that those these".split())
_PEOPLE: Final = frozenset(
    """
    family kids kid children son daughter wife husband mum mom mother dad father parents sister
    brother grandma grandpa home familie kinder sohn tochter eltern mama papa mutter vater bruder
    schwester oma opa enkel enkelin enkelkinder famille enfants fils fille mari parents mère père
    sœur frère familia hijo hija hijos marido padres madre padre hermana hermano abuela abuelo figli
    figlio figlia marito moglie genitori sorella fratello nonna nonno famiglia família filho filha
    filhos esposa pais mãe pai irmã irmão avó avô
    """.split()
)
_TASKS: Final = frozenset(
    """
    write draft compose translate convert explain summarise summarize rewrite rephrase proofread
    define solve calculate compute generate implement sort alphabetise alphabetize invent describe
    count spell paraphrase refactor debug parse schreib schreibe verfasse formuliere übersetz
    übersetze erklär erkläre berechne rechne sortiere erfinde beschreibe buchstabiere korrigiere
    definiere konvertiere traduis traduisez écris écrivez rédige explique expliquez résume calcule
    convertis corrige reformule définis résous génère trie invente décris épelle traduce
    tradúceme escribe redacta explica explícame calcula convierte reformula define resuelve
    genera inventa describe deletrea traduci scrivi spiega riassumi calcola converti correggi
    riscrivi definisci risolvi inventa descrivi traduza escreva explique resuma calcule converta
    corrija reescreva defina resolva invente descreva fasse
    """.split()
)
_POLITELY: Final = re.compile(
    r"^\W*(?:(?:please|pls|bitte|por favor|s['’]il (?:te|vous) pla[iî]t|per favore|per piacere"
    r"|(?:can|could|would|will) you|help me(?: to)?|i (?:want|need) you to)\b[\s,]*)+",
    re.IGNORECASE,
)
_ASKING: Final = frozenset(
    """
    who whose whom what which when where why how name give whos whats whens wheres hows
    wer wessen wen wem was welche welchen welchem welcher welches wann wo woher wohin warum wieso
    weshalb wie wieviel wieviele nenne nenn
    qui que quel quelle quels quelles quand où pourquoi comment combien quién quiénes qué cuál
    cuáles cuándo dónde cómo cuánto cuántos chi che quale quali quando dove perché come quanto
    quanti quem qual quais onde porque quantos
    """.split()
)
# "How are you doing this morning?" asks nothing, and "What are we doing this morning?" does.
_OF_SOMETHING: Final = frozenset("what when where who which why whats whens wheres whos".split())
_PLEASANTRIES: Final = frozenset(
    """
    hi hiya hello hey howdy yo there greetings thanks thank thx ty cheers ok okay okey cool great
    perfect awesome nice fine good morning evening night afternoon bye goodbye see later lol haha
    yes no yep yeah nope please sure sorry welcome hmm well hallo guten gute guter tag tage morgen
    abend nacht moin servus grüß danke dank schön schöne schönen vielen lieben bitte gern gerne ja
    nein doch klar gut prima super genau stimmt einverstanden passt tschüs tschüss wiedersehen
    dir hola sí vale genial tal gracias muchas adiós buenas buenos días tardes noches hasta luego
    merci beaucoup bonjour bonsoir salut oui non parfait super revoir bientôt bonne journée
    soirée nuit ciao grazie mille sì va bene perfetto buongiorno buonasera arrivederci prego olá oi
    não bom dia boa tarde noite obrigado obrigada tchau tack tak bedankt dank hoi kiitos
    dziękuję bardzo cześć merhaba teşekkürler привет спасибо 谢谢 你好 再见 早上好 晚安 好的
    こんにちは ありがとう ありがとうございます
    ありがとうございました おはよう おはようございます こんばんは おやすみ おやすみなさい はい
    お願いします よろしくお願いします お疲れ様です お疲れ様でした 了解です 了解しました
    안녕하세요 감사합니다 مرحبا شكرا नमस्ते
    """.split()
)
# Between pleasantries these say nothing: "so how are you doing today", "see you tomorrow".
_BETWEEN: Final = frozenset(
    """
    i you he she it we they me my your a an the and or so much very that is are was am be to of for
    how what s do doing up all this today tomorrow ich du es ihr wir ihnen das der
    die den und auch in ordnung alles sehr so dann noch auf bis bald später geht wie heute go ahead
    sounds d vas y
    """.split()
)
# Capital letters tell names in a sentence with these; a German noun has one, too.
_ENGLISH: Final = frozenset(
    "the what how when where who which why is are did does has have with for and of my our".split()
)
CAPITALISED: Final = frozenset(
    """
    i january february march april may june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday mr mrs ms dr english
    """.split()
)

# Months and weekdays, stemmed as the words of memories are; "may" and "march" are mostly verbs.
_DATED: Final = frozenset(
    """
    januari februari april june juli august septemb octob novemb decemb monday tuesday
    wednesday thursday friday saturday sunday
    """.split()
)


def is_personal(question: str) -> bool:
    """Whether it is about the asker or their people: "my", "notre", "the kids", "she".

    Beside a name, "she" and "her kids" are those of whoever is named. "How do I …" asks how
    anybody does it.
    """
    words = frozenset(_words(HOW_ONE_DOES.sub(" ", question)))
    others = bool(words & _OTHERS)
    if words & _PERSONAL_WORDS or (words & _PEOPLE and not others):
        return True
    if words & _ENGLISH and _ME.search(_FOR_ONESELF.sub(" ", question[:_READ])):
        return True
    return others and not names_in(question)


def points_back(question: str) -> bool:
    """Whether it begins with what another sentence names: "when does she …", "is it far?"."""
    return not _POINTING_BACK.isdisjoint(_words(question)[:_BEGINNING]) and not names_in(question)


def is_question(question: str) -> bool:
    """Whether it begins as a question, and is no topic."""
    return next(iter(_words(question)), "") in _ASKING


def is_task(question: str) -> bool:
    """Whether it begins with what to do to a text or a problem: "translate …", "Can you sort …"."""
    return next(iter(_words(_POLITELY.sub("", question[:_READ]))), "") in _TASKS


def is_pleasantry(question: str) -> bool:
    """Whether it is a greeting, thanks or the like, and nothing else; a blank one is."""
    words = _words(question)
    if words[:1] and words[0] in _OF_SOMETHING:
        return False
    said = [word for word in words if word not in _BETWEEN]
    return all(word in _PLEASANTRIES for word in said) and bool(said or not words)


def names_in(question: str) -> list[str]:
    """Words of an English question that are somebody's or something's name, by their capitals.

    None of the first word of a sentence, none where most words have capitals ("Who is Ida Novak?"
    apart, which goes on in small letters after its first word), no days, no months.
    """
    text = question[:_READ].replace("’", "'")
    if not _ENGLISH & set(_words(text)):
        return []
    words = list(_WORD.finditer(text))
    capitals = [one for one in words if one.group()[0].isupper()]
    goes_on = len(words) > 1 and (words[1].group().islower() or "'" in words[0].group())
    is_sentence = is_question(text) and goes_on
    if 2 * len(capitals) > len(words) and not is_sentence:
        return []
    return [
        word
        for one in capitals
        if not _begins_sentence(text, one.start())
        and not (word := one.group().removesuffix("'s")).isupper()
        and word.lower() not in CAPITALISED | _PERSONAL_WORDS
        and word.partition("'")[0].lower() not in CAPITALISED
    ]


def codes_in(question: str) -> list[str]:
    """What is written as programs write names: KES-421, 9f3c2ab, TEST_DSN, app/client.py.

    No number, amount or date ("10km", "19h30", "2026-05-01"). Of long ones the first 20.
    """
    codes = (one for one in _tokens(question) if _is_code(one))
    return list(islice(dict.fromkeys(codes), _CODES))


def is_code(question: str) -> bool:
    """Whether it is a code, or several, and nothing else."""
    tokens = _tokens(question)
    return bool(tokens) and all(map(_is_code, tokens))


def _tokens(question: str) -> list[str]:
    return [one.group().strip(".:!?*#") for one in _TOKEN.finditer(question[:_READ])]


def _is_code(token: str) -> bool:
    if not token.isascii() or len(token) > _LONGEST_CODE or _AMOUNT.fullmatch(token):
        return False
    mixed = any(map(str.isdigit, token)) and any(map(str.isalpha, token))
    return bool(
        _JOINED.search(token) or _HUMPED.fullmatch(token) or (mixed and _MIXED.fullmatch(token))
    )


def _begins_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip()
    return not before or before[-1] in ".!?:;\"'“‘(\n-*"


def _words(question: str) -> list[str]:
    text = question[:_READ].replace("’", "'").lower()
    return [one.group().partition("'")[0] for one in _WORD.finditer(text)]
