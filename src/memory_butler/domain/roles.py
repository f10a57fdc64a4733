"""What people are to who asks, in German, French, Spanish, Italian and Portuguese.

"Meine Frau", "mon mari" and "mi jefe" are put as the English words of `persons.py`, so that a fact
and a question need not be in one language.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from memory_butler.domain.text import plain


class _Words(NamedTuple):
    """The words of a language: whose somebody is, and what, by the English words for it."""

    own: str  # "my" and "our"
    the: str
    people: Mapping[str, str]  # family, whom no "the" makes the asker's
    others: Mapping[str, str]  # "der Vermieter" is the asker's


# Several English words for one are several keys of facts.
_LANGUAGES: Final = {
    "de": _Words(
        r"mein(?:e[mnrs]?)?|unser(?:e[mnrs]?)?",
        r"der|die|das|den|dem",
        {
            "wife": "frau ehefrau", "husband": "mann ehemann", "mother mum mom": "mutter mama",
            "father dad": "vater papa", "son": "sohn", "daughter": "tochter", "brother": "bruder",
            "sister": "schwester", "grandmother grandma": "großmutter oma",
            "grandfather grandpa": "großvater opa", "aunt": "tante", "uncle": "onkel",
            "niece": "nichte", "nephew": "neffe", "cousin": "cousin cousine vetter",
            "girlfriend": "freundin", "partner": "partner partnerin", "kids": "kinder",
            "parents": "eltern", "siblings": "geschwister",
        },
        {
            "boss manager": "chef chefin", "dentist": "zahnarzt zahnärztin",
            "doctor gp": "arzt ärztin hausarzt hausärztin", "vet": "tierarzt tierärztin",
            "landlord landlady": "vermieter vermieterin", "teacher": "lehrer lehrerin",
            "lawyer solicitor": "anwalt anwältin", "neighbour neighbor": "nachbar nachbarin",
            "colleague": "kollege kollegin", "hairdresser": "friseur friseurin",
            "therapist": "therapeut therapeutin", "plumber": "klempner",
            "accountant": "steuerberater steuerberaterin", "dog": "hund", "cat": "katze kater",
        },
    ),
    "fr": _Words(
        r"mon|ma|mes|notre|nos",
        r"le|la|l['’]",
        {
            "wife": "femme épouse", "husband": "mari époux", "mother mum mom": "mère maman",
            "father dad": "père papa", "son": "fils", "daughter": "fille", "brother": "frère",
            "sister": "soeur sœur", "grandmother grandma": "grand-mère mamie",
            "grandfather grandpa": "grand-père papi", "aunt": "tante", "uncle": "oncle",
            "niece": "nièce", "nephew": "neveu", "cousin": "cousin cousine",
            "girlfriend": "copine", "boyfriend": "copain", "partner": "conjoint compagne",
            "kids": "enfants", "parents": "parents",
        },
        {
            "boss manager": "chef cheffe patron patronne", "dentist": "dentiste",
            "doctor gp": "médecin docteur", "vet": "vétérinaire",
            "landlord landlady": "propriétaire", "teacher": "professeur professeure",
            "lawyer solicitor": "avocat avocate",
            "neighbour neighbor": "voisin voisine", "colleague": "collègue",
            "hairdresser": "coiffeur coiffeuse", "therapist": "thérapeute", "plumber": "plombier",
            "accountant": "comptable", "dog": "chien chienne", "cat": "chat chatte",
        },
    ),
    "es": _Words(
        r"mis?|nuestr[oa]s?",
        r"el|la",
        {
            "wife": "mujer esposa", "husband": "marido esposo", "mother mum mom": "madre mamá",
            "father dad": "padre papá", "son": "hijo", "daughter": "hija", "brother": "hermano",
            "sister": "hermana", "grandmother grandma": "abuela", "grandfather grandpa": "abuelo",
            "aunt": "tía", "uncle": "tío", "niece": "sobrina", "nephew": "sobrino",
            "cousin": "primo prima", "girlfriend": "novia", "boyfriend": "novio",
            "partner": "pareja", "kids": "hijos", "parents": "padres",
            "siblings": "hermanos",
        },
        {
            "boss manager": "jefe jefa", "dentist": "dentista",
            "doctor gp": "médico médica doctora", "vet": "veterinario veterinaria",
            "landlord landlady": "casero casera", "teacher": "profesor profesora",
            "lawyer solicitor": "abogado abogada",
            "neighbour neighbor": "vecino vecina", "colleague": "compañero compañera",
            "hairdresser": "peluquero peluquera", "therapist": "terapeuta",
            "plumber": "fontanero", "accountant": "gestor", "dog": "perro perra",
            "cat": "gato gata",
        },
    ),
    "it": _Words(
        r"mi[oae]|miei|nostr[oaie]",
        r"il|la|lo|l['’]",
        {
            "wife": "moglie", "husband": "marito", "mother mum mom": "madre mamma",
            "father dad": "padre papà", "son": "figlio", "daughter": "figlia",
            "brother": "fratello", "sister": "sorella", "grandmother grandma": "nonna",
            "grandfather grandpa": "nonno", "aunt": "zia", "uncle": "zio",
            "cousin": "cugino cugina", "girlfriend": "ragazza fidanzata",
            "boyfriend": "fidanzato", "kids": "figli", "parents": "genitori",
        },
        {
            "boss manager": "capo", "dentist": "dentista", "doctor gp": "medico dottoressa",
            "vet": "veterinario veterinaria", "teacher": "professore professoressa",
            "lawyer solicitor": "avvocato", "neighbour neighbor": "vicino vicina",
            "colleague": "collega", "hairdresser": "parrucchiere parrucchiera",
            "plumber": "idraulico", "accountant": "commercialista", "dog": "cane",
            "cat": "gatto gatta",
        },
    ),
    "pt": _Words(
        r"meus?|minhas?|noss[oa]s?",
        r"o|a(?!\sprofessor\b)",  # which is English
        {
            "wife": "mulher esposa", "husband": "marido esposo", "mother mum mom": "mãe mamãe",
            "father dad": "pai papai", "son": "filho", "daughter": "filha", "brother": "irmão",
            "sister": "irmã", "grandmother grandma": "avó vovó", "grandfather grandpa": "avô vovô",
            "aunt": "tia", "uncle": "tio", "niece": "sobrinha", "nephew": "sobrinho",
            "cousin": "primo prima", "girlfriend": "namorada", "boyfriend": "namorado",
            "kids": "filhos", "parents": "pais",
        },
        {
            "boss manager": "chefe patrão", "dentist": "dentista", "doctor gp": "médico médica",
            "vet": "veterinário veterinária", "landlord landlady": "senhorio senhoria",
            "teacher": "professor professora", "lawyer solicitor": "advogado advogada",
            "neighbour neighbor": "vizinho vizinha", "colleague": "colega",
            "hairdresser": "cabeleireiro cabeleireira", "plumber": "canalizador encanador",
            "accountant": "contabilista contador", "dog": "cão cachorro", "cat": "gato gata",
        },
    ),
}  # fmt: skip


def _table() -> dict[str, tuple[str, ...]]:
    """Each word of all languages, without accents, with its English ones."""
    table: dict[str, tuple[str, ...]] = {}
    for words in _LANGUAGES.values():
        for english, said in (*words.people.items(), *words.others.items()):
            for word in plain(said).split():
                known = (*table.get(word, ()), *english.split())
                table[word] = tuple(dict.fromkeys(known))
    return table


def _any_of(*tables: Mapping[str, str]) -> str:
    words = (word for table in tables for said in table.values() for word in plain(said).split())
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


_ENGLISH: Final = _table()
# "My late husband" is no husband, "ma belle mère" no mother.
_ADJECTIVE: Final = (
    r"(?:(?!(?:ex|belle|beau|ancien|futur|fruh|verstorb|kunftig|antigu|difunt|defunt|ehemal)\w{0,9}\b)"
    r"[^\W\d_]{2,15}\s)?"
)
# "La femme du maire" is the mayor's, "die Ärztin meiner Mutter" hers.
_OF: Final = r"(?!\s(?:(?:de[lrs]?|du|vo[nm]|d[io]|da|dos|das|mein|meine[mnrs]?)\b|(?:d|dell)['’]))"
_USER: Final = (
    r"(?:(?:des|der|von|de\sl['’]|de\sla|du|del|della|dell['’]|do|da|de)\s?"
    r"(?:(?:be)?nutzers?|(?:be)?nutzerin|utilisat(?:eur|rice)|usuari[oa]|utente|users?))"
)
# "Meine Frau heißt Carla", "mi jefe se llama Pablo". "Ist Lehrerin" is no name.
SAYS_NAME: Final = (
    r"heißt|heisst|namens|(?:[Vv]erheiratet|[Vv]erlobt) mit"
    r"|s['’]appelle|nommée?|[Mm]ariée? (?:à|avec)"
    r"|[Ss]e llama|llamad[oa]|[Cc]asad[oa] con|[Ss]i chiama|[Ss]posat[oa] con"
    r"|[Cc]hama-se|[Ss]e chama|[Cc]asad[oa] com"
    r"|ist(?= (?:Dr|Herr|Frau)\b)(?: Herr| Frau)?|est|es|è|é"
)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Who is called by a role, and what is said of somebody. Made by the first question."""
    called, said = [], []
    for code, words in _LANGUAGES.items():
        anybody, others = _any_of(words.people, words.others), _any_of(words.others)
        called += [
            rf"\b(?:{words.own})\s{_ADJECTIVE}(?P<{code}>{anybody})(?:e?s)?(?![\w-])",
            rf"\b(?:{words.the})(?:\s|(?<=['’]))(?P<{code}_the>{others}){_OF}(?![\w-])",
        ]
        said += [
            rf"(?:(?:il|la|o|a)\s)?(?:{words.own})\s(?P<{code}>{anybody})",
            rf"(?:{words.the})\s?(?P<{code}_the>{anybody})\s{_USER}",
        ]
    is_somebody = rf"^\s*(?:ist|est|es|e|:)\s(?:{'|'.join(said)})(?![\w-])"
    return re.compile("|".join(called), re.IGNORECASE), re.compile(is_somebody, re.IGNORECASE)


def in_english(relation: str) -> tuple[str, ...]:
    """The English words for what somebody is; nothing where no such language has the word."""
    return _ENGLISH.get(plain(relation).rpartition(" ")[2].lower(), ())


def called(text: str) -> Iterator[tuple[re.Match[str], tuple[str, ...]]]:
    """Where a text calls somebody by what they are to who asks, and the English words for that."""
    for one in _patterns()[0].finditer(plain(text)):
        yield one, in_english(_word(one))


def said_of(content: str) -> tuple[str, ...]:
    """What a text after its subject says that this is to the user, in English."""
    found = _patterns()[1].match(plain(content))
    return in_english(_word(found)) if found else ()


def words_for(english: str) -> Iterator[str]:
    """The words of these languages for an English one."""
    return (word for word, meant in _ENGLISH.items() if english in meant)


def _word(match: re.Match[str]) -> str:
    return next(word for word in match.groupdict().values() if word)
