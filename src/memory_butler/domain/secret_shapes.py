"""What secrets look like: the shapes of providers' keys, the words that people put before a secret.

Tables and small checks alone; `secrets.py` looks for them. The shapes are those that the providers
publish. Every pattern takes linear time: a repetition is bounded, or starts only where the run of
its characters does.
"""

import re
from collections import Counter
from math import log2
from typing import Final, Literal, NamedTuple

# `mask`: replaced by default. `mark`: a household's memory is there to keep it; only noted.
Level = Literal["mask", "mark"]


class Shape(NamedTuple):
    """A secret that is known by its own form.

    `hint`: characters that each of them has; a text without them is not searched. The group
    `secret` is what is masked, the whole match where the pattern has none.
    """

    kind: str
    hint: str
    pattern: re.Pattern[str]


def _token(kind: str, hint: str, body: str) -> Shape:
    """A token that stands by itself, not within a longer word."""
    return Shape(kind, hint, re.compile(rf"(?<![A-Za-z0-9_-])(?:{body})(?![A-Za-z0-9_-])"))


SHAPES: Final[tuple[Shape, ...]] = (
    _token("unmask key", "unmask_", r"unmask_[a-z2-7]{26}"),
    _token("AWS key", "A", r"A(?:KIA|SIA)[A-Z2-7]{16}"),
    _token("GitHub token", "gh", r"gh[oprsu]_[A-Za-z0-9]{36,251}"),
    _token("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    _token("GitLab token", "gl", r"gl(?:pat|dt|rt|cbt|ptt|soat)-[A-Za-z0-9_.-]{20,200}"),
    _token("Slack token", "xox", r"xox[abeoprs]-[A-Za-z0-9-]{20,250}"),
    _token("Slack token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{20,250}"),
    _token("Stripe key", "_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,250}"),
    _token("webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,100}"),
    _token("Anthropic key", "sk-ant-", r"sk-ant-[a-z0-9]{2,10}-[A-Za-z0-9_-]{40,200}"),
    _token(
        "OpenAI key",
        "sk-",
        r"sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{40,250}|[A-Za-z0-9]{40,64})",
    ),
    _token("Google key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
    _token("Google secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    _token("Google token", "ya29.", r"ya29\.[A-Za-z0-9_-]{30,600}"),
    _token("JWT", "eyJ", r"eyJ[A-Za-z0-9_-]{8,4000}+(?:\.[A-Za-z0-9_-]{16,8000}+){2}"),
    _token("SendGrid key", "SG.", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _token("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _token("PyPI token", "pypi-", r"pypi-AgE[A-Za-z0-9_-]{50,500}"),
    _token("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,60}"),
    _token("DigitalOcean token", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _token("Telegram token", ":AA", r"\d{8,10}:AA[A-Za-z0-9_-]{32,36}"),
    _token("Shopify token", "shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _token("Linear key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{40}"),
    _token("Notion token", "ntn_", r"ntn_[A-Za-z0-9]{40,50}"),
    _token("Databricks token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
    _token("Groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,60}"),
    _token("xAI key", "xai-", r"xai-[A-Za-z0-9]{70,90}"),
    _token("Replicate token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    _token("Sentry token", "sntry", r"sntry[su]_[A-Za-z0-9+/=_]{40,400}"),
    _token("Vault token", "hv", r"hv[bs]\.[A-Za-z0-9_-]{24,300}"),
    _token("Doppler token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,80}"),
    _token("age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _token("Twilio key", "SK", r"SK[a-f0-9]{32}"),
    _token("Docker token", "dckr_", r"dckr_[po]at_[A-Za-z0-9_-]{20,60}"),
    Shape(
        "webhook address",
        "hooks.slack.com/",
        re.compile(
            r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{20,120}"
        ),
    ),
    Shape(
        "webhook address",
        "/api/webhooks/",
        re.compile(r"https://discord(?:app)?\.com/api/webhooks/\d{15,22}/[\w-]{50,90}"),
    ),
    Shape(
        "storage key",
        "Key=",
        re.compile(r"(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/]{40,88}={0,2})"),
    ),
    Shape(
        "private key",
        "PRIVATE KEY",
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?>(?:[^-]|-(?!----))*)-----END [A-Z0-9 ]{1,40}-----"
            r"|(?>(?:\s+[A-Za-z0-9+/=]{40,}+)+))"
        ),
    ),
    Shape(
        "password",
        "://",
        re.compile(
            r"(?<![\w+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@?#]{0,100}:"
            r"(?P<secret>[^\s/@]{3,200})@[\w\[]"
        ),
    ),
    Shape(
        "token",
        "://",
        # In place of a login; the key of a Sentry address is no secret, each client has it.
        re.compile(
            r"(?<![\w+.-])https?://(?=[A-Za-z0-9]{0,250}\d)(?=[A-Za-z0-9]{0,250}[A-Za-z])"
            r"(?P<secret>[A-Za-z0-9]{20,250})@(?![\w.-]{0,60}\bsentry\b)[\w\[]"
        ),
    ),
    Shape(
        "session cookie",
        "ookie",
        re.compile(
            r"[Cc]ookie['\"]?:\s?(?:[^\s;=]{1,60}=[^\s;'\"]{0,200};\s?){0,30}"
            # "sid" ends a word; a sidebar is no session.
            r"[\w.-]{0,30}(?i:sess|sid(?![a-z])|auth|jwt|token)[\w.-]{0,30}="
            r"(?P<secret>[\w.%~+/=:-]{16,4000})"
        ),
    ),
    Shape(
        "bearer token",
        "uthorization",
        re.compile(
            r"[Aa]uthorization['\"]?\s{0,3}[:=]\s{0,3}['\"]?(?:Bearer|Token|Basic|ApiKey)\s{1,3}"
            r"(?P<secret>[A-Za-z0-9_.~+/=-]{16,4000})"
        ),
    ),
    Shape(
        "password",
        "-u",
        re.compile(
            r"\b(?:curl|wget|http)\b[^\n]{0,80}?\s(?:-u|--user)[ =]?['\"]?[\w.@+-]{1,64}:"
            r"(?P<secret>[^\s'\"]{3,200})"
        ),
    ),
    Shape(
        "password",
        "sshpass",
        re.compile(r"\bsshpass\s{1,3}-p\s{0,3}['\"]?(?P<secret>[^\s'\"]{3,200})"),
    ),
    Shape(
        "password",
        "login",
        re.compile(
            # With options before it, but no other command: a container may be called "login".
            r"\b(?:docker|podman|nerdctl|buildah|skopeo|oras|helm)(?: registry)?"
            r"(?: -[^\s]{1,40}(?: [^\s-][^\s]{0,80})?){0,3} login\b[^\n]{0,80}?"
            r"\s-p[ =]?['\"]?(?P<secret>[^\s'\"-][^\s'\"]{2,200})"
        ),
    ),
    Shape(
        "password",
        " -a",
        re.compile(
            r"\b(?:redis|valkey|keydb)-cli\b[^\n]{0,80}?\s-a[ =]?['\"]?"
            r"(?P<secret>[^\s'\"-][^\s'\"]{2,200})"
        ),
    ),
    Shape(
        "password",
        " -p",
        re.compile(
            r"\b(?:mysql|mysqldump|mariadb|mongosh)\b[^\n]{0,80}?\s-p['\"]?"
            r"(?P<secret>[^\s'\"-][^\s'\"]{2,200})"
        ),
    ),
)

# The start of a word, also within snake_case and camelCase; and its end, of the whole name.
_BEGIN: Final = r"(?:(?<![A-Za-z0-9À-ÿ])|(?-i:(?<=[a-z])(?=[A-Z])|(?<=PG)(?=PASS)))"
_END: Final = r"(?![A-Za-z0-9_À-ÿ])"
PASSWORD_WORD: Final = re.compile(
    _BEGIN
    + r"(?:pass[ _-]?word|pass[ _-]?phrase|passwd|pwd|pw|(?<=_)pass|passwort|kennwort|senha"
    + r"|palavra[ -]passe|mot de passe|contraseña|wachtwoord|lösenord|hasło|parola d'ordine"
    + r"|(?:wi-?fi|wlan|wireless|network) key)"
    + _END
    + r"(?! (?:manager|policy|hash|field|reset|generator|hint|rules?|protected|prompt|length)\b)",
    re.IGNORECASE,
)
TOKEN_WORD: Final = re.compile(
    _BEGIN
    + r"(?:api[ _-]?(?:key|token|secret|schlüssel)|secret[ _-]?(?:access[ _-]?)?key"
    + r"|client[ _-]?secret"
    + r"|(?:access|auth|bearer|refresh|session|deploy|id|bot|personal)[ _-]?token"
    + r"|(?:encryption|signing|private|access|service)[ _-]?key|token|secret"
    + r"|credentials?|chave de api|clé api|clé d'api|clave de api|chiave api)"
    + _END,
    re.IGNORECASE,
)
PHRASE_WORD: Final = re.compile(
    r"\b(?:seed|recovery|backup|secret)[ _-](?:phrase|words?)\b|\bmnemonic\b", re.IGNORECASE
)
# What one of these words has in it, in lower case; a text without any is not searched for them.
PASSWORD_HINTS: Final = (
    *("pass", "pw", "kennwort", "senha", "contrase", "wachtwoord", "lösenord", "hasło", "parola"),
    *("fi key", "wlan key", "wireless key", "network key"),
)
TOKEN_HINTS: Final = ("token", "secret", "key", "credential", "api", "schlüssel")
PHRASE_HINTS: Final = ("phrase", "word", "mnemonic")
CODE_HINTS: Final = ("code", "código", "codigo", "combination", "pin", "keypad", "opens with")
IDENTITY_HINTS: Final = (
    *("social security", "ssn", "passport", "licen", "tax", "steuer", "nif", "id card"),
    *("identity card", "personalausweis"),
)

# Between the word and the secret; what follows is the secret, or nothing.
CONNECTOR: Final = re.compile(
    r"['\"`]?\s{0,3}(?::=|=>|[:=])\s{0,3}"
    r"|\s(?:is|are|ist|lautet|é|est|es|was)(?:\s(?:now|still|set to|jetzt|agora))?\s",
    re.IGNORECASE,
)
# "changed the password to …", but not "the password to the shed".
CHANGED: Final = re.compile(
    r"\b(?:chang|set|reset|updat|geänder|änder|mud|cambi)\w{0,6}\b[^.!?\n]{0,60}\s"
    r"(?:to|zu|auf|para|a)\s",
    re.IGNORECASE,
)
SENTENCE_END: Final = re.compile(r"[.!?;](?=\s)|\n\s*\n")
# Beyond these a word announces nothing: they are of code, or begin something else.
BREAK: Final = re.compile(SENTENCE_END.pattern + r"|[(){}|;]")
VALUE: Final = re.compile(r"[\"'`«“„(]{0,2}([^\s\"`»”]{1,4000})")
PHRASE: Final = re.compile(r"[a-z]{3,8}(?:[ ,\n]{1,2}[a-z]{3,8}){11,23}(?![a-z])")
AT_HOME: Final = re.compile(
    r"(?<![A-Za-z])(?:wi-?fi|wlan|wireless|hotspot|ssid|(?:home|guest) network"
    r"|network (?:pass|key))",
    re.IGNORECASE,
)

# Door codes, PINs: a word for the code, a word for what it opens, and some digits.
CODE_WORD: Final = re.compile(
    r"\b(?:code|código|codigo|combination|passcode|keypad)\b|\bPINs?\b|\bpin code\b|\bopens with\b",
    re.IGNORECASE,
)
PIN_WORD: Final = re.compile(r"\b(?:PIN|[Pp]asscode|[Pp]in code)\b")
PLACE_WORD: Final = re.compile(
    r"\b(?:alarm|alarme|door|gate|safe|garage|keypad|entry|entrance|building|lock|key ?box|lockbox"
    r"|locker|suitcase|bike|haustür|tür|tor|tresor|immeuble|porte|porta|portão|puerta|cofre|airbnb)\b",
    re.IGNORECASE,
)
DIGITS: Final = re.compile(r"(?<![\w.,/+:-])\d{3,8}[A-Za-z]?[#*]?(?![\w%/:-])(?![.,]\d)")
NOT_A_CODE: Final = re.compile(
    r"\b(?:in|on|at|since|until|from|by|after|every|error|exit|status|zip|postal|room|page)\s$",
    re.IGNORECASE,
)

CARD: Final = re.compile(
    r"(?<![\w.+/=-])(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?"
    r"|\d{4}[ -]\d{6}[ -]\d{4,5})(?![\w/]|[.-]\w)"
)
# Numbers that only look like those of cards.
NOT_A_CARD: Final = re.compile(
    r"\b(?:order|tracking|shipment|parcel|invoice|iccid|imei|reference|ticket|case|serial|isbn|ean)\b"
    r"[^\n]{0,20}$",
    re.IGNORECASE,
)
IBAN: Final = re.compile(r"(?<![A-Za-z0-9])([A-Z]{2})\d{2}(?: ?[A-Z0-9]){11,30}")
# Of the register of IBANs, by country.
IBAN_LENGTHS: Final = {
    **dict.fromkeys(("NO",), 15),
    **dict.fromkeys(("BE",), 16),
    **dict.fromkeys(("DK", "FI", "NL", "FO", "GL"), 18),
    **dict.fromkeys(("SI", "MK"), 19),
    **dict.fromkeys(("AT", "BA", "EE", "LT", "LU", "KZ", "XK"), 20),
    **dict.fromkeys(("CH", "HR", "LI", "LV"), 21),
    **dict.fromkeys(("BG", "DE", "GB", "GE", "IE", "ME", "RS"), 22),
    **dict.fromkeys(("AE", "GI", "IL"), 23),
    **dict.fromkeys(("AD", "CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN"), 24),
    **dict.fromkeys(("PT",), 25),
    **dict.fromkeys(("IS", "TR"), 26),
    **dict.fromkeys(("FR", "GR", "IT", "MC", "SM"), 27),
    **dict.fromkeys(("AL", "AZ", "CY", "DO", "GT", "HU", "LB", "PL"), 28),
    **dict.fromkeys(("BR", "PS", "QA", "UA"), 29),
    **dict.fromkeys(("JO", "KW", "MU"), 30),
    **dict.fromkeys(("MT",), 31),
}
IDENTITY: Final = re.compile(
    r"\b(?:social security|ssn|passport|driver'?s licen[cs]e|tax (?:id|number)|steuer-?id|nif"
    r"|(?:national )?id card|identity card|personalausweis)\b(?:[ -](?:number|no|nr))?\.?'?s?"
    r"\s{0,2}(?:[:=]|is|ist|é|est)?\s{0,2}(?P<secret>\d{3}-\d{2}-\d{4}|[A-Z]{0,4}\d{6,12}[A-Z]?)\b",
    re.IGNORECASE,
)

_STANDS_FOR_ONE: Final = re.compile(
    r"^(?:your|my|the|some|example|sample|dummy|test|placeholder|redacted|changeme|change_me"
    r"|password|passwort|passwd|secret|token|none|null|true|false|undefined|string|str|todo"
    r"|default|required|optional|hidden|masked)(?![a-z0-9])"
    r"|^[^A-Za-z0-9]*$|^[$<{%\[]|\.\.\.|…|[()\[\]]|x{6}|\*{3}|\{\{|\$\{"
    r"|^(?:[~./]|[A-Za-z]:\\|https?:)"
    r"|^(?:(?:my|new|old|test|wrong|secret|secure|user|admin|correct|incorrect|valid|invalid|strong)_?)*"
    r"(?:password|pass)_?\d{0,4}$"
    r"|-(?:encoded|hashed|protected|encrypted|based|long|only|free)$"
    r"|^(?:sha|md|base|utf|aes|rsa|oauth|bcrypt|argon|scram)-?\d{0,4}(?![A-Za-z0-9])|^[2m]fa\b",
    re.IGNORECASE,
)
_UUID: Final = re.compile(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.IGNORECASE)
_MACHINE_MADE: Final = re.compile(r"^[A-Za-z0-9_.~+/=!@#$%^&*:-]{16,4000}$")
# Bits a character. Of 32 random hexadecimal digits, one sample in a thousand is below 3.0; words
# joined by underscores are near 3.3, but have no digits among their letters.
_ENTROPY: Final = 2.8
_ENDING: Final = ".,;:)]}>'\"`»”"


def entropy(text: str) -> float:
    """Shannon entropy of the characters of a text, in bits a character; 0 for an empty one."""
    size = len(text)
    return -sum(n / size * log2(n / size) for n in Counter(text).values())


def ended(value: str) -> str:
    """A value without the punctuation that ends its sentence."""
    return value.rstrip(_ENDING)


def stands_for_one(value: str) -> bool:
    """Whether a value only stands where a secret would: `changeme`, `$TOKEN`, `<password>`."""
    return _STANDS_FOR_ONE.search(value) is not None


def machine_made(value: str) -> bool:
    """Whether a value looks like a key that a program made, and is no id."""
    if _UUID.match(value) or not _MACHINE_MADE.match(value) or stands_for_one(value):
        return False
    mixed = any(one.isdigit() for one in value) and any(one.isalpha() for one in value)
    return mixed and entropy(value) >= _ENTROPY


def password_like(value: str, *, quoted: bool = False) -> bool:
    """Whether a value is no word of a sentence: it has a digit, a sign or a capital within.

    `quoted`: it stands in quotes after a colon or an equals sign, where a plain word is one too.
    """
    if not 4 <= len(value) <= 200 or stands_for_one(value) or not any(map(str.isalpha, value)):
        return len(value) >= 6 and value.isdigit()
    if quoted and len(value) >= 8:
        return True
    digit = any(one.isdigit() for one in value)
    sign = any(one in "!#$%&*+=?@^~|\\" for one in value)
    capital = any(one.isupper() for one in value[1:]) and any(one.islower() for one in value)
    return digit or sign or capital


def is_mixed(value: str) -> bool:
    """Whether a value has digits, and two of small letters, capitals and signs."""
    signs = any(not one.isalnum() and one not in "-_.,:" for one in value)
    others = (any(map(str.islower, value)), any(map(str.isupper, value)), signs)
    return len(value) >= 6 and any(map(str.isdigit, value)) and sum(others) >= 2


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (ISO/IEC 7812-1)."""
    doubled = (int(one) * (1 + place % 2) for place, one in enumerate(reversed(digits)))
    return sum(one - 9 if one > 9 else one for one in doubled) % 10 == 0


def is_card(digits: str) -> bool:
    """Whether digits are a payment card's: its network's prefix and length, its check digit."""
    size, four = len(digits), int(digits[:4])
    known = (
        (digits[0] == "4" and size in (13, 16, 19))
        or ((5100 <= four <= 5599 or 2221 <= four <= 2720) and size == 16)
        or (four // 100 in (34, 37) and size == 15)
        or ((four == 6011 or 6440 <= four <= 6599) and size in (16, 19))
        or (3528 <= four <= 3589 and size == 16)
        or ((3000 <= four <= 3059 or four // 100 in (36, 38, 39)) and size == 14)
        or (four // 100 == 62 and 16 <= size <= 19)
    )
    return known and len(set(digits)) > 2 and luhn(digits)


def is_iban(compact: str) -> bool:
    """Whether letters and digits without spaces are an IBAN (ISO 13616, mod 97)."""
    if len(compact) != IBAN_LENGTHS.get(compact[:2]):
        return False
    return int("".join(str(int(one, 36)) for one in compact[4:] + compact[:4])) % 97 == 1
