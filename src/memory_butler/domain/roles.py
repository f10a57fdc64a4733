"""What people are to who asks, in German, French, Spanish, Italian and Portuguese.

"Meine Frau", "mon mari" and "mi jefe" are put as the English words of `persons.py`, so that a fact
and a question need not be in one language.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from memory_butler.domain.text import plain


class _Words(NamedTuple):
    """The words of a language: whose somebody is, and its articles."""

    own: str  # "my" and "our"
    the: str


# German, French, Spanish, Italian, Portuguese, in this order below, too.
_LANGUAGES: Final = (
    _Words(
        r"mein(?:e[mnrs]?)?|unser(?:e[mnrs]?)?",
        r"der|die(?!\s(?:lehrer|vermieter|klempner)\b)|das|den|dem",
    ),
    _Words(r"mon|ma|mes|notre|nos", r"le|la|l['’]"),
    _Words(r"mis?|nuestr[oa]s?", r"el|la"),
    _Words(r"mi[oae]|miei|nostr[oaie]", r"il|la|lo|l['’]"),
    _Words(r"meus?|minhas?|noss[oa]s?", r"o|a(?!\sprofessor\b)"),  # "a professor" is English
)
# What somebody is, by the English words for it: several are several keys of facts. Only "my" makes
# these the asker's: "die Frau am Telefon" is anybody's.
_PEOPLE: Final = {
    "wife": ("frau ehefrau", "femme épouse", "mujer esposa", "moglie", "mulher esposa"),
    "husband": ("mann ehemann", "mari époux", "marido esposo", "marito", "marido esposo"),
    "mother mum mom": ("mutter mama", "mère maman", "madre mamá", "madre mamma", "mãe mamãe"),
    "father dad": ("vater papa", "père papa", "padre papá", "padre papà", "pai papai"),
    "son": ("sohn", "fils", "hijo", "figlio", "filho"),
    "daughter": ("tochter", "fille", "hija", "figlia", "filha"),
    "brother": ("bruder", "frère", "hermano", "fratello", "irmão"),
    "sister": ("schwester", "soeur sœur", "hermana", "sorella", "irmã"),
    "grandmother grandma": ("großmutter oma", "grand-mère mamie", "abuela", "nonna", "avó vovó"),
    "grandfather grandpa": ("großvater opa", "grand-père papi", "abuelo", "nonno", "avô vovô"),
    "grandson": ("enkel enkelsohn", "petit-fils", "nieto", "", "neto"),
    "granddaughter": ("enkelin enkeltochter", "petite-fille", "nieta", "", "neta"),
    "mother-in-law": ("schwiegermutter", "belle-mère", "suegra", "suocera", "sogra"),
    "father-in-law": ("schwiegervater", "beau-père", "suegro", "suocero", "sogro"),
    "brother-in-law": ("schwager", "beau-frère", "cuñado", "cognato", "cunhado"),
    "sister-in-law": ("schwägerin", "belle-soeur belle-sœur", "cuñada", "cognata", "cunhada"),
    "son-in-law": ("schwiegersohn", "gendre", "yerno", "genero", "genro"),
    "daughter-in-law": ("schwiegertochter", "belle-fille", "nuera", "nuora", "nora"),
    "aunt": ("tante", "tante", "tía", "zia", "tia"),
    "uncle": ("onkel", "oncle", "tío", "zio", "tio"),
    "niece": ("nichte", "nièce", "sobrina", "", "sobrinha"),  # an Italian "nipote" is either
    "nephew": ("neffe", "neveu", "sobrino", "", "sobrinho"),
    "cousin": (
        "cousin cousine vetter", "cousin cousine", "primo prima", "cugino cugina",
        "primo prima",
    ),
    "girlfriend": ("freundin", "copine", "novia", "ragazza fidanzata", "namorada"),
    "boyfriend": ("", "copain", "novio", "fidanzato", "namorado"),  # "Freund" is any friend
    "partner": (
        "partner partnerin", "conjoint compagne", "pareja", "compagno compagna",
        "companheiro companheira",
    ),
    "kids": ("kinder", "enfants", "hijos", "figli", "filhos"),
    "parents": ("eltern", "parents", "padres", "genitori", "pais"),
    "siblings": ("geschwister", "", "hermanos", "fratelli", "irmãos"),
    "dog": ("hund", "chien chienne", "perro perra", "cane", "cão cachorro"),
    "cat": ("katze kater", "chat chatte", "gato gata", "gatto gatta", "gato gata"),
}  # fmt: skip
# "Der Vermieter" is the asker's, too.
_TRADES: Final = {
    "boss manager": (
        "chef chefin", "chef cheffe patron patronne", "jefe jefa", "capo", "chefe patrão",
    ),
    "dentist": ("zahnarzt zahnärztin", "dentiste", "dentista", "dentista", "dentista"),
    "doctor gp": (
        "arzt ärztin hausarzt hausärztin", "médecin docteur", "médico médica doctora",
        "medico dottoressa", "médico médica",
    ),
    "vet": (
        "tierarzt tierärztin", "vétérinaire", "veterinario veterinaria",
        "veterinario veterinaria", "veterinário veterinária",
    ),
    "landlord landlady": (
        "vermieter vermieterin", "propriétaire", "casero casera", "", "senhorio senhoria",
    ),
    "teacher": (
        "lehrer lehrerin", "professeur professeure", "profesor profesora",
        "professore professoressa", "professor professora",
    ),
    "lawyer solicitor": (
        "anwalt anwältin", "avocat avocate", "abogado abogada", "avvocato", "advogado advogada",
    ),
    "neighbour neighbor": (
        "nachbar nachbarin", "voisin voisine", "vecino vecina", "vicino vicina",
        "vizinho vizinha",
    ),
    "colleague": ("kollege kollegin", "collègue", "compañero compañera", "collega", "colega"),
    "hairdresser": (
        "friseur friseurin", "coiffeur coiffeuse", "peluquero peluquera",
        "parrucchiere parrucchiera", "cabeleireiro cabeleireira",
    ),
    "therapist": ("therapeut therapeutin", "thérapeute", "terapeuta", "terapeuta", "terapeuta"),
    "plumber": ("klempner", "plombier", "fontanero", "idraulico", "canalizador encanador"),
    "accountant": (
        "steuerberater steuerberaterin", "comptable", "gestor", "commercialista",
        "contabilista contador",
    ),
}  # fmt: skip
# Who asks, as the subject of a fact or in "der Chef des Nutzers".
USERS: Final = tuple(
    """
    nutzer nutzerin benutzer benutzerin utilisateur utilisatrice usuario usuaria utente usuário
    usuária
    """.split()
)
# As the name of a fact these may be another thing: a favourite chef, a chat, Spanish "país" and
# "género".
_DOUBTFUL: Final = frozenset("chat chef cane genero neto pais padres primo prima".split())


def _table() -> dict[str, tuple[str, ...]]:
    """Each word of all languages, without accents, with its English ones."""
    table: dict[str, tuple[str, ...]] = {}
    for english, said in (*_PEOPLE.items(), *_TRADES.items()):
        for word in plain(" ".join(said)).split():
            table[word] = tuple(dict.fromkeys((*table.get(word, ()), *english.split())))
    return table


def _any_of(language: int, *tables: Mapping[str, Sequence[str]]) -> str:
    some = (said[language] for table in tables for said in table.values())
    words = sorted(plain(" ".join(some)).split(), key=len, reverse=True)
    return f"({'|'.join(words)})"


_ENGLISH: Final = _table()
# "My late husband" is no husband, "ma belle mère" no mother, "meine beste Freundin" a friend.
_ADJECTIVE: Final = (
    r"(?:(?!(?:ex|belle|beau|anci|futur|fruh|verstorb|(?:zu)?kunftig|antig|difunt|defunt|ehemal|best|erst"
    r"|zweit|letzt|vorig|alt(?!ere|est)|geschied|premi|primer|segund|dern|ultim|anterior|medi|halb|stief)"
    r"\w{0,9}\b|grand\w?\s(?:mere|pere|parent)|petite?s?\s(?:fil|enf))[^\W\d_]{2,15}\s)?"
)
# "Ma femme de ménage" cleans, "mi padre político" is the father in law.
_ANOTHER: Final = r"(?!\s(?:politic|d[aeo]\b|d['’]))"
# "La femme du maire" is the mayor's, "die Ärztin meiner Mutter" hers, "der Chef bei uns" and "der
# Arzt, der das Penicillin entdeckte" anybody.
_OF: Final = (
    r"(?!\s(?:(?:de[lrs]?|du|vo[nm]|d[io]|da|dos|das|dell[aeo]|degli|dei|mein|meine[mnrs]?|in|im"
    r"|bei|beim|chez|en|em|qui|que|che)\b|(?:d|dell)['’])|,\s(?:der|die|das)\b)"
)
_USER: Final = (
    r"(?:(?:des|der|von|de\sl['’]|de\sla|du|del|della|dell['’]|do|da|de)\s?"
    rf"(?:{'|'.join(plain(one) for one in USERS)}|user)s?)"
)
# "Meine Frau heißt Carla", "mi jefe se llama Pablo". "Ist Lehrerin" is no name.
SAYS_NAME: Final = (
    r"heißt|heisst|namens|(?:[Vv]erheiratet|[Vv]erlobt) mit"
    r"|s['’]appelle|nommée?|[Mm]ariée? (?:à|avec)"
    r"|[Ss]e llama|llamad[oa]|[Cc]asad[oa] con|[Ss]i chiama|[Ss]posat[oa] con"
    r"|[Cc]hama-se|[Ss]e chama|[Cc]asad[oa] com"
    r"|ist(?= (?:Dr|Herr|Frau)\b)(?: Herr| Frau)?"
)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Who is called by a role, and what is said of somebody. Made by the first question."""
    called, said = [], []
    for language, words in enumerate(_LANGUAGES):
        # "Le docteur Martin" and "mon frère Tom" have a name; so does any German noun.
        behind = "" if words is _LANGUAGES[0] else r"(?!\s(?-i:[A-Z][a-z]))"
        anybody, trades = _any_of(language, _PEOPLE, _TRADES), _any_of(language, _TRADES)
        called += [
            rf"\b(?<!the\s)(?:{words.own})\s{_ADJECTIVE}{anybody}(?:e?s)?{_ANOTHER}{behind}(?![\w-])",
            rf"\b(?<!the\s)(?:{words.the})(?:\s|(?<=['’])){trades}{_OF}{behind}(?![\w-])",
        ]
        said += [
            rf"(?:(?:il|la|o|a)\s)?(?:{words.own})\s{anybody}",
            rf"(?:{words.the})\s?{anybody}\s{_USER}",
        ]
    is_somebody = rf"^\s*(?:ist|est|es|e|:)\s(?:{'|'.join(said)})(?![\w-])"
    return re.compile("|".join(called), re.IGNORECASE), re.compile(is_somebody, re.IGNORECASE)


def predicate_means(predicate: str, content: str) -> tuple[str, ...]:
    """The English words for a role that is the name of a fact; nothing where it may be none."""
    meant = _ENGLISH.get(plain(predicate), ())
    if plain(predicate) in _DOUBTFUL and not any(some == meant for _, some in called(content)):
        return ()
    return meant


def called(text: str) -> Iterator[tuple[re.Match[str], tuple[str, ...]]]:
    """Where a text calls somebody by what they are to who asks, and the English words for that."""
    for one in _patterns()[0].finditer(plain(text)):
        yield one, _meant_by(one)


def said_of(content: str) -> tuple[str, ...]:
    """What a text after its subject says that this is to the user, in English."""
    found = _patterns()[1].match(plain(content))
    return _meant_by(found) if found else ()


def words_for(english: str) -> Iterator[str]:
    """The words of these languages for an English one."""
    return (word for word, meant in _ENGLISH.items() if english in meant)


def is_one(word: str) -> bool:
    """Whether it is such a word: "Oma", "chef"."""
    return plain(word.lower()) in _ENGLISH


def _meant_by(match: re.Match[str]) -> tuple[str, ...]:
    return _ENGLISH.get(match[match.lastindex or 0].lower(), ())
