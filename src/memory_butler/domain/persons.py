"""Whom a question is about, put as memory keeps it (C-438, C-441).

Facts about the person who asks have the subject "user" (the skill of consolidation says so), while
people ask "Where do I live?". To the model these are far apart. And people ask for "my sister",
whose birthday memory has under her name.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from memory_butler.domain import roles
from memory_butler.domain.prompts import CAPITALISED, is_personal, names_in

SHORT: Final = 300  # characters; a longer prompt brings what it is about, and costs more to embed
# In capitals only "I" is a person: "ME" is a state. "We" and "our" are mostly about others, too.
_SELF: Final = re.compile(r"\b(?:(?:[Tt]he|[Mm]y) family|I|i|me|[Mm]yself|[Mm]y)\b")
_AM: Final = re.compile(r"\b[Aa]m\b(?= user)|(?<=user )am\b")
_OF_OTHERS: Final = re.compile(
    r"\b(?:kids?|child|children|son|daughter|eldest|oldest|youngest|baby|wife|husband|partner"
    r"|girlfriend|boyfriend|mum|mom|mother|dad|father|parents?|sister|brother|grandma|grandpa"
    r"|grandmother|grandfather|aunt|uncle|cousin|niece|nephew)\b",
    re.IGNORECASE,
)


# "What do you know about me?", "Tell me all about us", in six languages.
_ALL_OF_USER: Final = re.compile(
    r"(?:(?:\byou\b(?:\s\w{1,12}){0,3}\s(?:know|remember|learned|learnt|stored|saved|kept|noted)"
    r"(?:\s(?:everything|anything|all|something))?"
    r"|^\W*(?:(?:please|can you|could you)\s)?(?:tell|remind|show) me"
    r"(?:\s(?:everything|all|more|what))?(?:\syou know)?"
    r"|^\W*(?:everything|all)(?:\syou know)?)\s(?:about|of)\s(?:me|us|myself|ourselves|my family)\b"
    r"|(?:weißt|weisst|wissen)(?:\s\w{1,12}){0,3}\s(?:über|von)\s(?:mich|mir|uns)\b"
    r"|(?:sais|savez|sait)(?:-?\s?(?:tu|vous|on))?\s(?:de|sur)\s(?:moi|nous)\b"
    r"|(?:sabes|sabe|recuerdas|recuerda)\s(?:de|sobre)\s(?:mí|mi|nosotros)\b"
    r"|(?:sai|sapete|ricordi)\s(?:di|su)\s(?:me|noi)\b"
    r"|(?:sabes|sabe|lembras|lembra)\s(?:de|sobre)\s(?:mim|nós)\b)"
    r"(?:,?\s(?:and my family|so far|already|please|today|bisher|schon))?\W{0,5}$",
    re.IGNORECASE,
)
# The subjects of their facts, as keys.
OF_USER: Final = ("user", "the user", "family", "the family")


def asks_all_of_user(question: str) -> bool:
    """Whether a short question wants all of who asks: "What do you know about me?"."""
    return len(question) <= SHORT and _ALL_OF_USER.search(question) is not None


def about_user(question: str) -> str | None:
    """A short English question with "user" for "I", "me", "my" and "the family".

    None where it has none of them, asks how anybody does it ("How do I …"), or is about one of
    their own people: "my husband".
    """
    if len(question) > SHORT or not is_personal(question) or _OF_OTHERS.search(question):
        return None
    put, times = _SELF.subn("user", question)
    return _AM.sub("is", put) if times else None


class Known(NamedTuple):
    """The three parts of a fact that may say who is meant."""

    subject: str
    predicate: str
    content: str


_CALLED: Final = re.compile(
    r"\b(my|our|the|[^\W\d_][\w-]{0,30}['’]s)((?:\s+(?!(?:my|our|the)\b)[^\W\d_][\w-]{0,30}){1,4})",
    re.IGNORECASE,
)
# "My mother in law" is no mother.
_IN_LAW: Final = re.compile(r"(?<=[a-z]) in law\b", re.IGNORECASE)
# Whose people "my sister" and "our vet" are.
_ASKERS: Final = frozenset(
    """
    user the_user family the_family home household team project
    familie famille familia famiglia família
    """.split()
) | frozenset(roles.USERS)
# Whose people "our booker" and "the booker" are where the asker has none of their own.
_FIRMS: Final = "company firm business office practice studio crew band".split()
_LABEL: Final = re.compile(r"[_ ]name$")
# What people are to each other: "sister" says who is meant, "birthday" and "deadline" do not.
_RELATIONS: Final = frozenset(
    """
    accountant agent apprentice architect assistant aunt babysitter barber bookkeeper boss boyfriend
    brother butcher cat child cleaner client coach colleague company cook cousin dad daddy daughter
    dentist designer director doctor dog driver electrician employer father fiance fiancee flatmate
    foreman friend gardener girlfriend godfather godmother gp gran grandad granddaughter grandfather
    grandma grandmother grandpa grandson granny guardian hairdresser horse husband kid landlady
    landlord lawyer manager mechanic mentor midwife minder mom mother mum mummy nanny neighbor
    neighbour nephew niece notary nurse optician owner partner pet pharmacist physio physiotherapist
    plumber priest principal rabbit roommate secretary sister solicitor son spouse supervisor
    supplier surgeon teacher tenant therapist trainer tutor twin uncle vet wife
    """.split()
)
# Words for one relation, by each of them.
_SAME: Final[Mapping[str, tuple[str, ...]]] = {
    one: tuple(words)
    for words in (
        ("mother", "mum", "mom", "mummy"),
        ("father", "dad", "daddy"),
        ("grandmother", "grandma", "gran", "granny"),
        ("grandfather", "grandpa", "grandad"),
        ("neighbour", "neighbor"),
    )
    for one in words
}
# Several at once, and what each of them is: "my kids" are whoever is a son or a daughter.
_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("kids", "children"), ("son", "daughter", "child", "kid")),
    "parents": ("mother", "father", "mum", "mom", "dad"),
    "siblings": ("brother", "sister"),
    "grandparents": ("grandmother", "grandfather", "grandma", "grandpa", "gran", "grandad"),
    **dict.fromkeys(("grandchildren", "grandkids"), ("grandson", "granddaughter")),
    "pets": ("cat", "dog", "horse", "rabbit", "pet"),
    **{f"{one}s": (one,) for one in ("son", "daughter", "brother", "sister", "cat", "dog")},
}
_GROUP: Final = re.compile(
    r"\b(?:(my|our|the|[^\W\d_][\w-]{0,30}['’]s)\s+(?:(?:two|three|four|five)\s+)?)?"
    rf"({'|'.join(_GROUPS)})\b['’]?(?!\w|-|\sof\b)",
    re.IGNORECASE,
)
# Before a group without an owner they say whose it is, or that it is none of anybody's.
_NOT_OURS: Final = frozenset("his her their your its no other foster step hot these those".split())
_OWN: Final = re.compile(r"my|our", re.IGNORECASE)
# "When is Mum's birthday?" asks for one's own mother; "a mum", "new dad" and "Tom's gran" do not,
# nor "Grandma Ilse", "Gran Canaria" and "mom jeans".
_ADDRESSED: Final = re.compile(
    r"(?:(?<=^)|(?<=[,;:.!?] )|\b(?:about|and|are|as|ask|at|buy|by|call|can|could|did|do|does|for"
    r"|from|get|give|had|has|help|how|if|invite|is|like|may|meet|mean|might|must|near|of|or|remind"
    r"|ring|see|should|tell|text|than|that|to|visit|was|what|when|where|why|will|with|would) )"
    r"(?=(?:mum|mummy|mom|dad|daddy|gran|granny|grandma|grandpa|grandad)(?![\w-])"
    r"(?! (?:jeans|jokes?|rock|bod)\b)(?!(?-i: [^\W\d_a-zà-ÿ])))",
    re.IGNORECASE,
)
# Before a relation they say that it is not the one whom all call so: "my mum", "Tom's mum".
_WHOSE: Final = re.compile(
    r"(?:\b(?:my|our|your|his|her|their|(?:mein|dein|sein|ihr|unser)\w{0,2}|mon|ma|notre|votre"
    r"|mi|mis|su|tu|mio|mia|meu|minha)|['’]s) $",
    re.IGNORECASE,
)
_BEGINS: Final = re.compile(r"(?:^|[.!?:;\n] ?)[\"'“„«(]?$")
# By what stands behind it, which a verb has, and a name seldom.
_NO_NAME: Final = re.compile(
    r"\b\w{1,40} (?:a|an|the|this|that|these|those|there|it|you|I|we|they|he|she|one|of|my|your|our"
    r"|his|her|their|its|me|us|him|them|all|any|some|each|every)\b|(?:Will|May) [^\W\d_a-zà-ÿ]"
)
_THEIRS: Final = re.compile(r"['’]s ([^\W\d_]{2,30})")
_ONE_NAME: Final = re.compile(r"[^\W\d_a-zà-ÿ][^\W\d_]{1,30}")
# "Leo und Mia": names alone.
_LIST: Final = re.compile(
    rf"{_ONE_NAME.pattern}(?:(?:,| (?:und|et|y|e|and|&)) {_ONE_NAME.pattern}){{1,8}}\.?"
)
_MEMBERS: Final = 8  # of a group
# Before a relation they say that it is another: the "late husband" is no husband.
_NOT_THAT: Final = frozenset("ex former formerly previous late future step half old first".split())
# These do so unless a fact says both words: a great uncle, a hot dog, a business partner.
_MEANS_ANOTHER: Final = frozenset("business great hot".split())
_NAMED: Final = r"[^\W\d_a-zà-ÿ][\w'’-]{0,30}(?: [^\W\d_a-zà-ÿ][\w'’-]{0,30}){0,2}"
# "Mia is the user's boss, since May", "Mia: Tom's older sister who moved", "Tom's sister": what she
# is ends with a sign, or where more is said of it. "The mother of Ida" is nobody's without Ida.
_IS: Final = re.compile(
    r"^\s*(?:(?:is|:) (?:the )?(my|our|the|[^\W\d_][\w-]{0,30}['’]s)"
    r"|(?:the )?([^\W\d_][\w-]{0,30}['’]s)) "
    r"([^\W\d_][\w-]{0,30}(?: [^\W\d_][\w-]{0,30})?)"
    r"(?=[.,;:(]|$| (?:at|from|who|that|and|since|on|in (?!law\b))\b)",
    re.IGNORECASE,
)
# What asks for whom a thing "is run by".
_BY: Final = frozenset("run_by led_by taught_by coached_by".split())
_WHO_RUNS: Final = ("organiser", "organizer", "leader", "coach", "teacher", "trainer")
_ROLE: Final = "|".join(sorted({*_RELATIONS, *_WHO_RUNS}))
# "The owner of Rex" is "Rex's owner"; so is "his owner", where the question names Rex alone.
_OF_SOMEBODY: Final = re.compile(rf"\b[Tt]he ({_ROLE}) of ({_NAMED})")
_THEIR: Final = re.compile(rf"\b(?:his|her|their) (?=(?:{_ROLE})\b)", re.IGNORECASE)
_POSSESSIVE_NAME: Final = re.compile(rf"({_ONE_NAME.pattern})['’]s\b")
# "Her name is Ida Novak", "Married to Carla", "a collie called Rex", "the user's sister Ida".
_SAYS_NAME: Final = re.compile(
    rf"\b(?:{roles.SAYS_NAME}|[Bb]elongs to|(?:run|led|taught|coached) by"
    r"|is|called|named|[Mm]arried to|[Ee]ngaged to|[Tt]he (?:user|family)['’]s \w{1,30}) "
    rf"(?:(?:Dr|Mrs?|Ms)\.? )?({_NAMED})"
)
# What no name begins with: "Is German, 70", "Moved to Spain, alone".
_NO_NAMES: Final = frozenset(
    """
    a allergic an are born does from goes had has have he her his is likes lives married moved
    retired she the their they two three four was were works
    arbeitet hat heißt isst ist liebt mag verheiratet wohnt aime est habite travaille
    """.split()
)
# "Ida", "Ida Novak, lives in Porto", "Ida lives in Porto".
_BEGINS_WITH_NAME: Final = re.compile(rf"^(?:Dr\.? )?({_NAMED})(?=[,.;(]|$| (?:is|lives|works)\b)")
_ALL_NAME: Final = re.compile(rf"(?:Dr\.? )?({_NAMED})\.?")
_READ: Final = 300  # characters of a fact, which says who somebody is in few words
_LONGEST_NAME: Final = 60


def may_describe(question: str) -> bool:
    """Whether a short question may call somebody by what they are: "my sister", "mon mari"."""
    if len(question) > SHORT:
        return False
    question = _as_mine(question)
    return _CALLED.search(_by_owner(question)) is not None or any(roles.called(question))


def _as_mine(question: str) -> str:
    """The question with "my mum" for "Mum", as one's own mother is called."""
    return _ADDRESSED.sub(lambda found: f"{found.group()}my ", question)


def _by_owner(question: str) -> str:
    """The question with "Rex's owner" for "the owner of Rex", and for "his owner" beside Rex."""
    put = _OF_SOMEBODY.sub(r"\2's \1", question)
    names = {*names_in(put), *_POSSESSIVE_NAME.findall(put)}
    names = {one for one in names if one.casefold() not in CAPITALISED}
    return _THEIR.sub(lambda _: f"{min(names)}'s ", put) if len(names) == 1 else put


def described_as(question: str) -> str:
    """What those whom a short question describes are called: "son daughter" for "my kids", "wife
    frau" for "mi mujer".

    So each member of a group is found, and a fact that says who somebody is need not be in the
    language of the question.
    """
    if len(question) > SHORT:
        return ""
    question = _as_mine(question)
    groups = [one.group(2).lower() for one in _GROUP.finditer(question) if _is_meant(one)]
    groups += [word for _, meant in roles.called(question) for word in meant]
    # A fact may have the group itself as its predicate.
    words = [word for one in groups for word in (*_GROUPS.get(one, ()), one)]
    said = _IN_LAW.sub("-in-law", _by_owner(question))
    own = [word for one in _CALLED.finditer(said) for word in one.group(2).casefold().split()]
    own += [same for word in own for same in _SAME.get(word, ())]
    words += [one for one in own if one in _SAME]
    foreign = (foreign for word in (*words, *own) for foreign in roles.words_for(word))
    return " ".join(dict.fromkeys((*words, *foreign)))


def _is_meant(group: re.Match[str]) -> bool:
    """Whether the group is the asker's, or that of a name: not "hot dogs", "their parents"."""
    if group.group(1):
        return True
    before = group.string[: group.start()].rstrip()
    last = before.rpartition(" ")[2].casefold()
    if before.endswith(("'", "’", "-")) or last in _NOT_OURS or last[:1] != last[:1].lower():
        return False
    return is_personal(group.string) or len(group.string.split()) == 1


def by_name(question: str, facts: Iterable[Known]) -> str | None:
    """The question with names in place of descriptions that facts give a name (C-441).

    "Ring my sister" is "Ring Ida" where the user's sister is Ida, or Ida the user's sister; "the
    kids" are all who are a son or a daughter. None where no fact says who is meant, or where two
    say that it is somebody else.
    """
    question = _as_mine(question)
    named: dict[str, set[str]] = {}
    there: set[str] = set()  # "my brother Tom" is called by name already
    for fact in facts:
        for described, name in _said_of(fact):
            named.setdefault(described, set()).add(name)
            # "Holiday" does not have the name of Ida.
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.IGNORECASE):
                there.add(described)
    for described in there:
        del named[described]
    by_other_words: dict[str, set[str]] = {}
    for described, said in named.items():
        whose, of, what = described.rpartition("'s ")
        for same in _SAME.get(what, ()):
            by_other_words.setdefault(f"{whose}{of}{same}", set()).update(said)
    # What a fact calls them itself is surer.
    named = by_other_words | named
    for described in there & by_other_words.keys():
        named.pop(described, None)
    people = {described: _one_person(names) for described, names in named.items()}
    question = _IN_LAW.sub("-in-law", _by_owner(question))
    put = _GROUP.sub(lambda group: _all_of(group, named), question)
    put = _CALLED.sub(lambda called: _called(called, people), put)
    for found, meant in reversed([*roles.called(put)]):
        if names := _of_roles(meant, named):
            put = put[: found.start()] + " and ".join(names) + put[found.end() :]
    return None if put == question else put


def in_full(question: str, known: Iterable[tuple[str, Sequence[str]]]) -> str | None:
    """A short question with the full name of who is called by another: "Oma", "the lodger" (C-485).

    `known`: the name and the other names of each entity that it may mean. None where it has no
    other name than the full one or a part of it, where two go by one, or where somebody else's is
    meant: "her mum".
    """
    if len(question) > SHORT:
        return None
    called: dict[str, set[str]] = {}
    for full, others in known:
        for other in others:
            called.setdefault(other, set()).add(full)
    put = question
    for other, meant in sorted(called.items(), key=lambda one: (-len(one[0]), one[0])):
        full = min(meant)
        if len(meant) > 1 or set(other.casefold().split()) <= set(full.casefold().split()):
            continue
        pattern = rf"(?<![\w'’-])(?:the )?({re.escape(other)})(?![\w-])"
        for one in reversed([*re.finditer(pattern, put, re.IGNORECASE)]):
            if _is_called(one, other):
                put = put[: one.start()] + full + put[one.end() :]
    return None if put == question else put


def _is_called(found: re.Match[str], other: str) -> bool:
    """Whether a name is meant, and not somebody else's: not "may" for May, nor "her mum".

    Nor where it is asked for their own dog or mother: "the lodger's dog". And what begins a
    sentence has a capital without being a name: "May I …", "Will Anna …", "Bill of rights".
    """
    said, behind = found.group(1), _THEIRS.match(found.string, found.end())
    is_name = said == other or " " in said or is_relation(said)
    if " " not in said and not is_relation(said) and _BEGINS.search(found.string[: found.start()]):
        is_name = is_name and _NO_NAME.match(found.string[found.start(1) :]) is None
    is_for_another = behind is not None and is_relation(behind.group(1))
    return is_name and not is_for_another and _WHOSE.search(found.string[: found.start()]) is None


def _of_roles(meant: Collection[str], named: Mapping[str, Collection[str]]) -> list[str]:
    """The names of who has a role, by the English words for it; of a group all."""
    members = {
        name for one in meant for kind in _GROUPS.get(one, ()) for name in named.get(kind, ())
    }
    if members:
        return sorted(members)[:_MEMBERS]
    # "Chef" is boss and manager: where these are two people, nobody is meant.
    names = {name for one in meant for name in named.get(one, ())}
    person = _one_person(names) if names else None
    return [] if person is None else [person]


def _one_person(names: Collection[str]) -> str | None:
    """The longest of the names, where it has the words of each: "Ida" is "Ida Novak"."""
    longest = max(names, key=len)
    words = set(longest.casefold().split())
    return longest if all(words >= set(name.casefold().split()) for name in names) else None


def _all_of(group: re.Match[str], named: Mapping[str, Collection[str]]) -> str:
    """The names of all who belong to a group; else what was there."""
    if not _is_meant(group):
        return group.group()
    whose = _owner(group.group(1) or "")
    members = (whose + member for member in _GROUPS.get(group.group(2).lower(), ()))
    names = {name for member in members for name in named.get(member, ())}
    names = {
        one for one in names if not any(set(one.split()) < set(more.split()) for more in names)
    }
    return " and ".join(sorted(names)[:_MEMBERS]) or group.group()


def _called(called: re.Match[str], people: Mapping[str, str | None]) -> str:
    """The name of what is called by up to three words, an adjective apart; else what was there."""
    whose, words = _owner(called.group(1)), called.group(2).split()
    for start, end in ((0, 3), (0, 2), (0, 1), (1, 4), (1, 3), (1, 2)):
        name = _who_is(called.group(1), whose, " ".join(words[start:end]).casefold(), people)
        # "The owner of the shop" is no owner that memory has without the shop.
        # "My brother Tom" has one.
        behind = words[end] if len(words) > end else ""
        is_another = words[0] in _NOT_THAT or (start and words[0] in _MEANS_ANOTHER)
        if name is not None and behind != "of" and not is_another:
            return called.group() if behind.istitle() else " ".join([name, *words[end:]])
    return called.group()


def _who_is(before: str, whose: str, what: str, people: Mapping[str, str | None]) -> str | None:
    """Who is what: of "our booker" and "the booker", where the asker has none, the company's."""
    if whose or whose + what in people or before.casefold() == "my":
        return people.get(whose + what)
    names = {people[of] for firm in _FIRMS if (of := f"{firm}'s {what}") in people}
    return names.pop() if len(names) == 1 else None


def is_relation(word: str) -> bool:
    """Whether it says what somebody is to somebody: "mum", "oma", "boss"."""
    return word.casefold() in _RELATIONS or roles.is_one(word)


def own_relations(question: str) -> frozenset[str]:
    """The relations of a question that are the asker's in so many words: "my mum", "unsere Oma"."""
    said = [one.group(2) for one in _CALLED.finditer(question) if _OWN.fullmatch(one.group(1))]
    said += [found.group() for found, _ in roles.called(question)]
    words = (word for one in said for word in one.casefold().split())
    return frozenset(word for word in words if is_relation(word))


def is_owned(question: str, word: str) -> bool:
    """Whether a question has a word as what is somebody's alone: "my coffee", "Leo's school"."""
    found = [*re.finditer(rf"(?<![\w'’-]){re.escape(word)}(?![\w-])", question, re.IGNORECASE)]
    return bool(found) and all(_WHOSE.search(question[: one.start()]) for one in found)


def is_asker(subject: str) -> bool:
    """Whether a subject is who asks, or their household: "user", "the family"."""
    return subject.casefold().replace(" ", "_") in _ASKERS


def _said_of(fact: Known) -> Iterator[tuple[str, str]]:
    """What a fact says that somebody is, and the name; nothing where it says neither."""
    subject, content = fact.subject.strip(), fact.content[:_READ]
    of_asker = is_asker(subject)
    relation = _LABEL.sub("", fact.predicate.strip().casefold().replace("_", " "))
    relation, content = (_IN_LAW.sub("-in-law", one) for one in (relation, content))
    # "Partner" is German, too: what is English is that alone.
    meant = () if relation in _RELATIONS else roles.predicate_means(relation, content)
    group = next((one for one in (relation, *meant) if one in _GROUPS), None)
    # "Mag Pizza" and "Lehrerin, 40" begin as names do.
    begins = _ALL_NAME.fullmatch(content) if meant else _BEGINS_WITH_NAME.search(content)
    name = _SAYS_NAME.search(content) or begins
    is_relation = meant or relation.rpartition(" ")[2].removesuffix("-in-law") in _RELATIONS
    if is_relation and not group and name is not None and _is_name(name.group(1)):
        owners = [""] if of_asker else _names_of(subject)
        for what in meant or _in_short(relation):
            yield from ((owner + what, name.group(1)) for owner in owners)
    if fact.predicate.strip().casefold() in _BY and name is not None and _is_name(name.group(1)):
        yield from (
            (owner + what, name.group(1)) for owner in _names_of(subject) for what in _WHO_RUNS
        )
    if of_asker and group:  # "Two kids: Leo (8) and Mia (6)"
        # "Zwei Kinder: Leo und Mia": other nouns have capitals as well.
        is_list = relation in _GROUPS or _LIST.fullmatch(content)
        listed = content if is_list else content.partition(":")[2]
        names = (one.group() for one in _ONE_NAME.finditer(listed))
        yield from ((_GROUPS[group][0], one) for one in names if _is_name(one))
    if not of_asker and len(subject) <= _LONGEST_NAME:
        said = content[len(subject) :] if content.startswith(subject) else content
        yield from ((what, subject) for what in roles.said_of(said))
        if found := _IS.match(said):
            whose = _owner(found.group(1) or found.group(2))
            yield from ((whose + what, subject) for what in _in_short(found.group(3).casefold()))


def _is_name(said: str) -> bool:
    first = said.split()[0].casefold()
    return first not in _NO_NAMES and first not in CAPITALISED


def _in_short(relation: str) -> Iterator[str]:
    """A relation in full, and without its adjective; nothing of one that is over."""
    words = relation.split()
    if words[0] not in _NOT_THAT:
        yield from {relation, words[-1]}


def _names_of(subject: str) -> list[str]:
    """Whose it is, in full, and by the first and last name: "tom miller's ", "tom's ", …"""
    words = subject.casefold().split()
    return [f"{name}'s " for name in dict.fromkeys([" ".join(words), *words[:1], *words[-1:]])]


def _owner(said: str) -> str:
    """Whose it is, where that is somebody by name: "tom's "; else nothing."""
    whose = said.casefold().replace("’", "'")
    return f"{whose} " if whose.endswith("'s") and whose[:-2] not in _ASKERS else ""
