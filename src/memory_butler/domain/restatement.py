"""Whether a statement only says again what memory has.

Nearness in meaning finds the candidates, and cannot decide: all-MiniLM-L6-v2 puts "is left-handed"
and "is right-handed" at 0.97, "likes dogs more than cats" and its reverse at 0.996. So the words
must agree as well, in their order. To take a correction for a repetition loses it; to overlook a
repetition leaves one more fact that says the same: hence the strictness.
"""

from typing import Final

# Low, as the same words with and without "the user" are only 0.7 to 0.8 apart.
SAME_MEANING: Final = 0.6
# The same of two facts with all that they say, from which on they may be one although their
# predicates differ. "Red wine" as a drink and as an allergy are 0.63 apart, "Coriander" as liked
# and as disliked 0.89, "Works as a nurse" as an occupation and as a job 0.93.
SAME_PROPERTY: Final = 0.92
# The same of a sentence: "Is on Friday" of a party and of an appointment are 0.42 near, "Has a dog"
# as wanted and feared 0.70, "Lives in Graz" as a city and as a residence 0.79.
SAME_SENTENCE: Final = 0.78

# Words that change nothing about what is said of a subject. No negation, pronoun or tense is one.
_FILLERS: Final = frozenset({"a", "an", "are", "is", "the", "to", "user"})
# A rule asks no more by them.
_INSISTING: Final = frozenset(
    "please always remember bitte immer toujours siempre sempre rappelle recuerda ricorda".split()
)
# With one of these a content is a sentence.
_VERBS: Final = frozenset(
    """
    is are was has have likes loves hates prefers dislikes wants needs owns lives works studies
    drives speaks uses takes plays eats drinks
    ist sind war hat haben mag liebt hasst bevorzugt will braucht besitzt wohnt lebt arbeitet fährt
    spricht nutzt nimmt spielt isst trinkt
    est sont aime déteste préfère veut habite vit travaille parle utilise prend joue mange boit
    es son tiene prefiere odia quiere vive trabaja habla usa toma juega come bebe
    è sono ha ama preferisce vuole abita lavora parla prende gioca mangia beve
    é são tem prefere quer mora trabalha fala joga bebe
    """.split()
)
# Words of a predicate that say of whom it is, or that it holds no longer or not yet.
_APART: Final = frozenset(
    """
    past former previous ex old dream future planned next
    mother father parents parent son daughter sister brother wife husband partner child children
    grandmother grandfather grandparents aunt uncle cousin friend
    mutter vater eltern sohn tochter schwester bruder frau mann kind kinder oma opa
    """.split()
)
_PUNCTUATION: Final = ".,;:!…\"'“”‘’()"


def restates(statement: str, known: str, similarity: float) -> bool:
    """Whether a statement says again what is known of the same subject.

    `similarity` is the cosine of their embeddings, -1.0 to 1.0.
    """
    return similarity >= SAME_MEANING and same_words(statement, known)


def same_words(statement: str, known: str) -> bool:
    """Whether two texts say the same words in the same order, fillers apart."""
    return without_fillers(statement) == without_fillers(known)


def same_rule(statement: str, known: str) -> bool:
    """Whether two rules ask for the same in the same words: always, please, and remember it."""
    one, other = (
        [word for word in without_fillers(said) if word not in _INSISTING]
        for said in (statement, known)
    )
    return one == other


def begins(statement: str, known: str) -> bool:
    """Whether a text says the first words of a known one, and nothing else, fillers apart."""
    words = without_fillers(statement)
    return bool(words) and without_fillers(known)[: len(words)] == words


def without_fillers(text: str) -> tuple[str, ...]:
    """The words in their order, without fillers; a sign within one counts, as in C++ and -5."""
    words = (word.strip(_PUNCTUATION) for word in text.casefold().split())
    return tuple(word for word in words if word and word not in _FILLERS)


def of_one_property(content: str, predicate: str, other: str, nearness: float) -> bool:
    """Whether one content under two predicates says one thing; `nearness` is the cosine of all.

    A sentence says more by itself of what it is about than a bare value does: peanuts are a snack,
    and an allergy. Two predicates with a word each beside one that both have are of two properties,
    as `morning_dose` and `evening_dose`; so are `home` and `parents_home`.
    """
    one, two = (set(name.casefold().replace("_", " ").split()) for name in (predicate, other))
    if (one & two and one - two and two - one) or one & _APART != two & _APART:
        return False
    is_sentence = bool(_VERBS & set(content.casefold().split()))
    return nearness >= (SAME_SENTENCE if is_sentence else SAME_PROPERTY)
