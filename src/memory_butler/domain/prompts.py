"""How a prompt is put: does it ask, set a task or merely tell something, and of whom?

Signs of the words alone, in six languages: English, German, French, Spanish, Italian, Portuguese.
"""

import re
from functools import lru_cache
from itertools import islice
from typing import Final

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
# Whom something is explained to: "like I'm five", "as if I were a beginner". "It looks like I'm a
# week late" is of who says it.
_AS_FOR_ONE: Final = re.compile(
    r"(?<!look )(?<!looks )(?<!seems )(?<!feel )(?<!feels )(?<!sounds )"
    r"\b(?:like|as if|as though) i(?:['’]m| am| was| were)"
    r" (?:an?|new|\d{1,2}|three|four|five|six|seven|eight|nine|ten|twelve)\b",
    re.IGNORECASE,
)
# What is quoted is material: "translate 'I am late'"; behind a colon, where a task is set.
_QUOTED: Final = re.compile(
    r"(?:(?<=\w )|(?P<colon>(?<=: )))"
    r"(?:'[^\n]{3,400}?'|\"[^\n]{3,400}?\"|`[^`\n]{1,400}`)(?!\w)"
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
_SEVERAL: Final = frozenset("they them their theirs".split())
_BEGINNING: Final = 4  # words
_POINTING_BACK: Final = _OTHERS | frozenset("it its that those these".split())
# Words of a question that names nothing: "how long ago?", "seit wann genau?".
_OF_HOW_MUCH: Final = frozenset(
    """
    long often much many far soon late early old ago time times since until till for at exactly
    lange oft viel viele spät seit bis vor um genau zeit uhr
    temps longtemps fois depuis jusqu à de heure
    tiempo veces desde hasta hace hora tempo volte da fino fa ora vezes até há hora
    """.split()
)
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
# These ask wherever they stand ("so what is the code"); the others are other words elsewhere.
_ASKING_ANYWHERE: Final = _ASKING - frozenset("name give was nenne nenn que qui".split())
# Who, at the beginning, does or is something, which the rest tells: "I", "somebody", "nous".
_SUBJECTS: Final = frozenset(
    """
    i we he she they there somebody someone nobody everyone everybody something nothing ich wir
    er sie man je j nous elle ils elles ça cela yo hemos ho abbiamo eu
    """.split()
)
# What one is, has, may or did; near the beginning of a sentence, and not first, it is told.
_VERBS: Final = frozenset(
    """
    is are was were isn aren wasn weren has had have hasn hadn haven been will won can cannot does
    doesn didn did would wouldn could couldn must should wants wanted needs needed says said told
    went goes came comes got gets took takes made makes saw found lost left broke bought brought ate
    slept felt kept forgot ran looks seems
    ist sind war waren hat habe haben hatte hatten wird werden wurde wurden muss müssen kann
    können will wollte soll geht ging kommt kam macht steht fällt
    est sont était étaient ont avait avons avait suis sommes sera veut peut doit fait va
    está están estaba es fue era ha han hay había tengo tiene tenemos quiere
    è sono hanno abbiamo aveva sto siamo vuole
    é estava foi tenho tem temos estão quer
    """.split()
)
# What begins a sentence or a topic, and never something that somebody is to do.
_OPENERS: Final = frozenset(
    """
    the a an my our his her their this that these those it some another both every one two three at
    in on from after yesterday today tonight tomorrow such
    der die das ein eine einer es mein meine meinen meiner unser unsere unserer im am beim vom zum
    zur auf vor für nach seit heute gestern morgen nächste letzte mir uns
    le la les l un une mon ma mes notre nos leur leurs il c au aux dans hier demain ce cette ces
    el los las una mi mis nuestro nuestra esta este ayer mañana lo gli uno mio mia ieri domani
    o os um uma meu minha nosso nossa ontem amanhã hoje hoy oggi
    """.split()
)
_VERB_WITHIN: Final = 3  # words
_VERB_BEHIND_OPENER: Final = 12
# Who wants or asks something tells it, and waits for the answer; so does who is stuck.
_WANTED: Final = re.compile(
    r"\b(?:can't|cannot|won't) (?!wait|believe|complain|imagine|deny|stop|say|stand|bother)\w"
    r"|\b(?:i|we)(?:'\w{1,2}| \w{1,20}){0,3} (?:need|want|like|wonder|wondering|forgot"
    r"|forget|looking for|find|remember|know|trying to)\b"
    r"|\b(?:asks?|asked|asking) (?:for|about|whether|if)\b|\b(?:needs?|wants?) to know\b"
    r"|\b(?:ich|wir) (?:brauche|möchte|will|wüsste|suche|bräuchte|hätte|weiß|weiss|muss wissen)"
    r"|\bfragt,? (?:nach|ob|was)\b|\bvergessen\b"
    r"|\b(?:je|j'|on|nous) ?(?:voudr|veux|aimer|cherch)|\b(?:ne sais|ne trouve)\b"
    r"|\bil (?:me|nous) faut\b"
    r"|\b(?:besoin|oublié|necesito|olvid\w{1,6}|bisogno|dimenticato|preciso|precisamos|esqueci)\b"
    r"|\b(?:no sé|non so|não sei|mi serve|demande si|pregunta si|chiede se|pergunta se)\b",
    re.IGNORECASE,
)
# "The tests are red, fix them": what follows is to be done. "Put" and "cut" may be told as well.
_ORDER_BEHIND: Final = re.compile(
    r"[,;–—]\s(?:(?:so|and|then|please|pls)\s)*"
    r"(?:find|look|give|show|tell|send|get|book|order|check|remind|call|ring|text|phone|email|fix"
    r"|write|print|bring|draft|add|cancel|arrange|explain)"
    r"\s(?:me|us|them|him|her|it|up|for|the|an?|my|our|their|one|[^\W\d_a-z])",
)
_SHORTEST_SENTENCE: Final = 3  # words
_SURELY_A_SENTENCE: Final = 5  # words that end in a full stop: "the wifi password." does not
# "How are you doing this morning?" asks nothing, and "What are we doing this morning?" does.
_OF_SOMETHING: Final = frozenset("what when where who which why whats whens wheres whos".split())
# "Does a horse sleep", "are whales", "how many miles are 9 leagues"; not "is dangerous", "does
# Ida's", "are this year's".
_OF_A_KIND: Final = re.compile(
    r"\b(?:(?i:does|do|did|is|are|can|has|have)\san?\s\w"
    r"|(?i:do|did|are|can|have)\s(?!(?:ours|yours|hers|theirs)\b)[a-z]{2,}[^sui\W]s\b"
    r"|(?i:how many)\s[a-z]{2,20}\s(?:(?:are|is)\s)?(?:there\s)?(?:in\s(?:an?|one)|\d[\d.,]{0,9})\s"
    r"[a-z])"
)
# "What does `kill -9` mean?", "the difference between HEAD~1 and HEAD^1", "xargs vs parallel".
_DEFINED: Final = re.compile(
    r"^\W{0,3}what(?:'s| is| does| do) (?!(?:my|our|his|her|their|the)\b)[^\d\n]{1,80}"
    r"\b(?:means?|stand for)\W{0,3}$"
    r"|^\W{0,3}what does the \w{1,20} (?:word|phrase|term|abbreviation|acronym|saying)\b"
    r"|\bdifference between\b",
    re.IGNORECASE,
)
# "sed: replace the second one": how to do something with a tool that anybody has.
_WITH_TOOL: Final = re.compile(
    r"^(?:awk|bash|c\+\+|css|curl|docker|excel|ffmpeg|git|golang|grep|html|java|javascript|js|jq|latex"
    r"|linux|markdown|nginx|numpy|pandas|perl|powershell|python|react|regexp?|ruby|rust|sed|shell|sql|swift"
    r"|tmux|typescript|ts|vim|xargs|zsh)"
    r"(?::(?!\s*(?:what|which|where|who|when|why|whose)\b)| vs\b)"
    r"|^(?:an?\s)?(?:regexp?|regular expression)\s(?:for|to|that)\s",
    re.IGNORECASE,
)
_MADE_UP: Final = re.compile(
    r"(?:name|list)\s(?:two|three|four|five|six|seven|eight|nine|ten|\d{1,3})\b"
    r"|(?:give|tell)\s(?:me|us)\s(?:an?|another)\s(?:\w{1,20}\s)?"
    r"(?:regexp?|synonym|antonym|rhyme|joke|riddle|limerick|haiku|poem|pun|one-liner|fun fact)\b"
    r"|(?:make|rewrite|fix|shorten|improve)\sthis\b[^:\n]{0,40}:\s?['\"`]|show\s(?:me\s)?the\ssyntax\b"
    r"|turn\s(?:this\sinto\b[^:\n]{0,40}:|['\"‘“][^\n]{3,400}?['\"’”]\sinto\b)"
    r"|put\s(?:this|['\"‘“][^\n]{3,400}?['\"’”])\sinto\s(?!(?:the|my|our)\b)"
    r"|(?:(?:give|list)\s(?:me\s|us\s)?)?(?:two|three|four|five|six|seven|eight|nine|ten|\d{1,3})\s"
    r"(?:(?:synonyms|antonyms|rhymes)\s(?:for|of)\b"
    r"|(?:arguments|reasons)\s(?:for|against|of|why)\s(?!the\b))"
    r"|suggest\s(?:an?|another|two|three|five)\s(?:titles?|names?|slogans?|headlines?)\b",
    re.IGNORECASE,
)
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
TELL_ME: Final = re.compile(
    r"(?:(?:please|can you|could you)\s)?(?:tell|remind|show|give) (?:me|us)\b"
    r"|(?:sage?|zeige?|erinnere) (?:mir|mich)\b|(?:dis|rappelle)[- ]moi\b|dime\b|dimmi\b|diz-me\b",
    re.IGNORECASE,
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
_NO_NAMES: Final = CAPITALISED | _PERSONAL_WORDS

# With a point before a name, in which it is no name by itself, and the point ends no sentence.
_BEFORE_NAME: Final = re.compile(r"(?:St|Ste|Sta|Mt|Ft|Pt|Dr|Mrs?|Ms|Prof)\.\s{1,3}(?=[^\W\d_a-z])")
_LONGEST_BEFORE_NAME: Final = 8  # characters


def is_personal(question: str) -> bool:
    """Whether it is about the asker or their people: "my", "notre", "the kids", "she".

    Beside a name, "she" and "her kids" are those of whoever is named; "How do bats find their
    way?" is about bats. "How do I …" asks how anybody does it.
    """
    task = is_task(question)
    said = _QUOTED.sub(
        lambda quoted: quoted[0] if quoted["colon"] is not None and not task else " ",
        _AS_FOR_ONE.sub(" ", HOW_ONE_DOES.sub(" ", question[:_READ])),
    )
    words = frozenset(_words(said))
    others = bool(words & _OTHERS)
    if words & _PERSONAL_WORDS or (words & _PEOPLE and not others):
        return True
    if words & _ENGLISH and _ME.search(_FOR_ONESELF.sub(" ", said)):
        return True
    if words & _OTHERS <= _SEVERAL and is_question(question) and _is_of_a_kind(question):
        return False
    return others and not names_in(question)


def points_back(question: str) -> bool:
    """Whether another sentence names what it is about: "when does she …", "how long ago?"."""
    words = _words(question)
    if not _ASKING.isdisjoint(words) and (_ASKING | _OF_HOW_MUCH).issuperset(words):
        return True
    return not _POINTING_BACK.isdisjoint(words[:_BEGINNING]) and not names_in(question)


def is_question(question: str) -> bool:
    """Whether it begins as a question, and is no topic."""
    return next(iter(_words(question)), "") in _ASKING


def asks(clause: str) -> bool:
    """Whether it is a question or calls for an answer, as "The bus was late." does not."""
    return clause.endswith("?") or is_question(clause) or bool(TELL_ME.match(clause))


def is_statement(question: str) -> bool:
    """Whether it is a sentence that merely tells something: "The bus was late again."

    No question, no topic ("the kids' school lunch"), and nothing that somebody is to do or that is
    wanted. In doubt it is none.
    """
    text = question[:_READ].replace("’", "'")
    words = _words(text)
    if len(words) < _SHORTEST_SENTENCE or "?" in text or asks(text) or is_task(text):
        return False
    if not _ASKING_ANYWHERE.isdisjoint(words) or _WANTED.search(text):
        return False
    if _ORDER_BEHIND.search(text):
        return False
    if words[0] in _SUBJECTS:
        return True
    opened = words[0] in _OPENERS
    if words[0] in _VERBS and not opened:
        return False
    within = words[1 : _VERB_BEHIND_OPENER if opened else _VERB_WITHIN]
    ends = len(words) >= _SURELY_A_SENTENCE and text.rstrip().endswith((".", "!"))
    return not _VERBS.isdisjoint(within) or (opened and ends)


def is_general(question: str) -> bool:
    """Whether it asks about a kind in general: "How long is a ferret asleep?", "Do bees sleep?".

    Visitors who leave "their coats" may be those of who asks.
    """
    if _DEFINED.search(question[:_READ]):
        return True
    return _is_of_a_kind(question) and _SEVERAL.isdisjoint(_words(question))


def _is_of_a_kind(question: str) -> bool:
    return asks(question) and _OF_A_KIND.search(question[:_READ]) is not None


def is_task(question: str) -> bool:
    """Whether it begins with what to do to a text or a problem: "translate …", "Can you sort …".

    What anybody makes up or knows is such a task, too: "give me a regex", "name five rivers".
    """
    task = question[:_READ]
    if politely := _POLITELY.match(task):
        task = task[politely.end() :]
    if _WITH_TOOL.match(task):
        return True
    return next(iter(_words(task)), "") in _TASKS or _MADE_UP.match(task) is not None


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
    apart, which goes on in small letters after its first word), no days, no months. Of "St. Gallen"
    and "Dr. Meyer" the name without what is before it.
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
        and word.lower() not in _NO_NAMES
        and word.partition("'")[0].lower() not in CAPITALISED
        and not _BEFORE_NAME.match(text, one.start())
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
    ahead = text[max(0, start - _LONGEST_BEFORE_NAME) : start + 1]
    if any(one.end() == len(ahead) - 1 for one in _BEFORE_NAME.finditer(ahead)):
        return False
    before = text[:start].rstrip()
    return not before or before[-1] in ".!?:;\"'“‘(\n-*"


def _words(question: str) -> tuple[str, ...]:
    return _words_of(question[:_READ])


@lru_cache(maxsize=16)  # a recall asks two dozen times for those of one question and its wordings
def _words_of(text: str) -> tuple[str, ...]:
    text = text.replace("’", "'").lower()
    return tuple(one.partition("'")[0] for one in _WORD.findall(text))
