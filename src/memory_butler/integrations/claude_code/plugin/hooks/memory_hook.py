#!/usr/bin/env python3
"""The hooks of Claude Code, Codex and Gemini CLI: memory into a session, an episode out again.

Runs at every prompt, so it imports nothing but a little of the standard library (`http.client` and
`pathlib` alone would double the time that it takes), talks HTTP to a running server, and gives up
after a second; a server that hung is not asked again for a while where a person waits. Whatever
goes wrong, the session goes on: the exit code is 0, and at most one line stands on standard error.

    memory_hook.py EVENT [--butler NAME] [--url URL] [--token-env VARIABLE]  < what the program says

An episode is on disk before it is sent, and there until memory has it. Its id follows from the
session and from where in the transcript it begins: sent again, it is not stored twice. A session
that ended without a word, because it was killed, is told when a later one starts.

Where the server has keys, an episode is on disk as a letter to its tenant, which this script can
write and only the server can open. That takes the package `cryptography` for the Python that runs
the script, as where `memory-butler connect` has written the command; without it episodes are
readable.
"""

from __future__ import annotations

import json
import os
import sys
import time

TYPE_CHECKING = False  # as typing has it, whose import would cost as much as all the others
if TYPE_CHECKING:
    from typing import Any

BUTLER = "claude-code"  # else what --butler names
# Seconds: what a person may notice before a prompt, and what nobody waits for. Codex ends a hook
# at a session's end after 3.
INJECT_SECONDS = 1.0
STORE_SECONDS = 2.5
# For how long a server that hangs is not asked again: at first, and at most.
HOLD_SECONDS, MAX_HOLD_SECONDS = 60.0, 600.0
# A session that nothing was added to for so long, and that has not ended, was killed.
QUIET_SECONDS = 900.0
# Where an episode has waited for so long, memory is not away for an evening.
LONG_SECONDS = 86_400.0
START_TOKENS = 1_500
PROMPT_TOKENS = 600
MAX_PROMPT = 4_000
# Characters of an episode: what was asked and what came of it, no transcript.
MAX_ASKED = 200
MAX_REQUESTS = 8
MAX_OUTCOME = 800
# A part of a session beyond this is read from its end only: so much takes a second at most.
MAX_READ = 128 * 1024 * 1024
MAX_SHOWN = 500
# Sessions that ended are known so long, as long as Claude Code keeps transcripts, and so many.
KEPT_SECONDS = 30 * 86_400.0
MAX_SESSIONS = 1_000
# Folders: episodes that memory has not got yet, sessions, and those that have not ended.
SPOOL, SESSIONS, OPEN = "spool", "sessions", "open"
# Files: whose each token is and to whom letters are sealed; which servers hang. A letter's end.
ACCOUNTS, AWAY, LETTER = "accounts", "away", ".sealed"
NAMESPACE = "9e2f7c5e-7a55-4a0e-8e1b-0f0c3f2d6a10"
BARE = "# Memory Context"
# Set in the sessions that a butler of ours runs.
BUTLERS_SESSION = "MEMORY_BUTLER_CONTEXT_FILE"
# What marks an entry that neither the user nor the model said, and the model of such a one.
NOBODYS = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")
SYNTHETIC = "<synthetic>"
# What stands in a transcript as the user's, but was not said by the user.
NOT_SAID = (
    "<command-",
    "<local-command",
    "<bash-",
    "[Request interrupted",
    "<session_context>",
)
TOLD = ("system-reminder", "hook_context")
TEXTS = ("text", "input_text", "output_text")
# The parts of a command of a plugin or of the user's, in this order.
COMMAND = ("command-message", "command-name", "command-args")


class NotNow(Exception):
    """Memory is away, or says that it cannot now: what is to be stored waits."""


class Hangs(NotNow):
    """The server, which answered until now, has let a person wait in vain."""


class Refused(Exception):
    """Memory will never take this."""


class NotLetIn(NotNow):
    """The server asks for a token, or for another one."""


class Locked(NotNow):
    """The server has not the key of a letter for this token, or its keys are away."""


def main(arguments: list[str]) -> None:
    if BUTLERS_SESSION in os.environ:
        return  # the butler tells it what memory knows, and stores its episode
    global BUTLER
    event = arguments[0]
    options = dict(zip(arguments[1::2], arguments[2::2]))  # noqa: B905 -- strict is of Python 3.10
    BUTLER = options.get("--butler") or BUTLER
    url = options.get("--url") or os.environ.get("MEMORY_BUTLER_URL") or "http://127.0.0.1:8150"
    token = os.environ.get(options.get("--token-env") or "MEMORY_BUTLER_TOKEN")
    handle = HANDLERS[event]
    inject = event in ("SessionStart", "UserPromptSubmit", "BeforeAgent")
    with_deadline(INJECT_SECONDS if inject else STORE_SECONDS)
    # As bytes, which are UTF-8 whatever the locale is.
    given = {} if event == "catch-up" else json.loads(sys.stdin.buffer.read())
    handle(Memory(url.rstrip("/"), token, INJECT_SECONDS if inject else STORE_SECONDS), given)


def with_deadline(seconds: float) -> None:
    """End in time even where a server sends a byte now and then."""
    import signal

    if hasattr(signal, "setitimer"):

        def late(*_: object) -> None:
            raise TimeoutError(f"no answer within {seconds:g} s")

        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, seconds)


class Memory:
    """A server, asked over MCP: one request a call, as it keeps no sessions."""

    def __init__(self, url: str, token: str | None, seconds: float) -> None:
        self.url, self.token, self.seconds = url, token, seconds
        self.learned: dict[str, Any] | None = None

    @property
    def key(self) -> str:
        """What stands for this server and token on disk."""
        if not self.token:
            return self.url
        import hashlib

        return f"{self.url} {hashlib.sha256(self.token.encode()).hexdigest()[:16]}"

    def account(self) -> dict[str, Any]:
        """Whose memory this token opens, and the address of letters; noted for when it is away."""
        if self.learned is None:
            status, data = self.ask("GET", "api/memory/letters/address", None)
            if status == 401:
                does = "does not accept the token" if self.token else "asks for a token"
                raise NotLetIn(f"{self.url} {does}")
            known = noted(ACCOUNTS)
            if status == 200:
                self.learned = json.loads(data)
                if self.learned != known.get(self.key):
                    jot(os.path.join(home(), ACCOUNTS), {**known, self.key: self.learned})
            elif status == 404:
                self.learned = {}  # a server of before
            else:  # its keys are away, or the token may not read: whose it is may be known
                self.learned = known.get(self.key, {"tenant_id": None})
        return self.learned

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        # Structured: which memories are in a block tells whether anything in it is new.
        meta = {"memory-butler/structured": True}
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        status, data = self.ask("POST", "mcp", body)
        if status != 200:
            raise NotNow(f"{self.url} answers {status}")
        try:
            result = json.loads(data)["result"]
        except (ValueError, KeyError, TypeError) as error:
            raise NotNow(f"{self.url} is no memory server") from error
        if result.get("isError"):
            said = result["content"][0]["text"]
            kind_of = Refused if said.startswith("invalid_input") else NotNow
            raise kind_of(said[:200])
        return dict(result["structuredContent"])

    def deliver(self, letter: str) -> dict[str, Any]:
        """Hand in a letter, which the server opens."""
        status, data = self.ask("POST", "api/memory/letters", {"letter": letter})
        try:
            answer: dict[str, Any] = json.loads(data)
        except ValueError as error:
            raise NotNow(f"{self.url} answers {status}") from error
        if status in (400, 413, 422):
            raise Refused(str(answer.get("detail"))[:200])
        if status in (403, 404) or answer.get("code") == "configuration":
            raise Locked(f"{self.url} cannot open it")
        if status != 201:
            raise NotNow(f"{self.url} answers {status}")
        return answer

    def ask(self, method: str, where: str, value: dict[str, Any] | None) -> tuple[int, bytes]:
        body = b"" if value is None else json.dumps(value).encode()
        waited_for = self.seconds == INJECT_SECONDS
        others = noted(AWAY)
        held = others.pop(self.url, {})
        left = held.get("until", 0.0) - time.time()
        if waited_for and 0.0 < left <= held["for"]:  # more, where the clock was set back
            raise NotNow(f"{self.url} does not answer; it is asked again in {left:.0f} s")
        try:
            answer = self.exchange(method, where, body)
        except (OSError, ValueError) as error:
            kind_of: type[NotNow] = NotNow
            if waited_for and isinstance(error, TimeoutError):
                kind_of = NotNow if held else Hangs
                hold = min(2 * held.get("for", HOLD_SECONDS / 2), MAX_HOLD_SECONDS)
                held = {"for": hold, "until": time.time() + hold}
                jot(os.path.join(home(), AWAY), {**others, self.url: held})
            raise kind_of(f"{self.url} does not answer: {error}") from error
        if held:
            jot(os.path.join(home(), AWAY), others)
        return answer

    def exchange(self, method: str, where: str, body: bytes) -> tuple[int, bytes]:
        """The status and the body of the answer, which ends with the connection."""
        import socket

        scheme, _, rest = self.url.partition("://")
        host, _, path = rest.partition("/")
        headers = [
            f"{method} /{path}{'/' if path else ''}{where} HTTP/1.1",
            f"Host: {host}",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            f"Content-Length: {len(body)}",
            "Connection: close",
        ]
        if self.token:
            headers.append(f"Authorization: Bearer {self.token}")
        if any(char in "\r\n" for line in headers for char in line):
            raise ValueError("the address or the token has more than one line")
        address = host.rpartition("@")[2]
        name, colon, port = address.rpartition(":")
        if not colon or address.endswith("]"):
            name, port = address, "443" if scheme == "https" else "80"
        sock = socket.create_connection((name.strip("[]"), int(port)), self.seconds)
        if scheme == "https":
            import ssl

            sock = ssl.create_default_context().wrap_socket(sock, server_hostname=name)
        with sock:
            sock.sendall("\r\n".join([*headers, "", ""]).encode() + body)
            with sock.makefile("rb") as answer:
                head, _, data = answer.read().partition(b"\r\n\r\n")
        words = head.split(None, 2)
        if len(words) < 2 or not head.startswith(b"HTTP/"):
            raise ValueError("no answer of HTTP")
        return int(words[1]), data


# Memory in


def session_start(memory: Memory, given: dict[str, Any]) -> None:
    state = State(given["session_id"])
    source = given.get("source")
    if not state.known:
        try:
            there = os.path.getsize(given.get("transcript_path") or "")
            if source == "resume":  # and not known any more: what was said before is told
                state.data["kept_to"] = there
        except OSError:  # it is written later, as a fork's, with what was copied
            state.data["began"] = moment(time.time())
    if source in ("compact", "clear"):
        state.data["shown"] = []  # what was told is no longer before the model
    state.data["account"] = memory.key
    state.save()
    if waiting(SPOOL) or left_behind():
        flush_apart()
    try:
        memory.account()
    except NotNow as error:
        # Nobody reads what a hook says on standard error.
        if isinstance(error, NotLetIn):
            warn(f"{error}. Sessions are not remembered until that is put right.")
        elif since_when := waits_long():
            warn(f"{memory.url} does not answer. {since_when}")
        else:
            raise
        return
    names = project(given.get("cwd") or "")
    topic = " ".join(dict.fromkeys(name.replace("-", " ").replace("_", " ") for name in names))
    if source == "compact" and state.data.get("prompt"):
        topic = state.data["prompt"]
    if topic:
        inject(memory, given, state, topic, START_TOKENS)


def warn(text: str) -> None:
    """Have the program show a line to the user."""
    print(json.dumps({"systemMessage": f"Memory Butler: {text}"}))


def waits_long() -> str:
    """How many sessions wait for memory, where the first has waited for long."""
    found = waiting(SPOOL)
    if not found or time.time() - os.path.getmtime(found[0]) < LONG_SECONDS:
        return ""
    day = time.strftime("%Y-%m-%d", time.localtime(os.path.getmtime(found[0])))
    count = "1 session waits" if len(found) == 1 else f"{len(found)} sessions wait"
    return f"{count} to be remembered, since {day}."


def project(folder: str) -> list[str]:
    """What is worked on: the name of a folder, behind that of its repository.

    Not the path: memory would be asked for "home" and for a login as well.
    """
    own = os.path.expanduser("~")
    names = [] if folder == own else [os.path.basename(folder.rstrip("/\\"))]
    root = folder
    while root not in ("", os.path.dirname(root), own):
        git = os.path.join(root, ".git")
        if os.path.exists(git):
            names.insert(0, os.path.basename(repository(root, git)))
            break
        root = os.path.dirname(root)
    return list(dict.fromkeys(filter(None, names)))


def repository(root: str, git: str) -> str:
    """The folder of a repository, of which `root` may be another work tree."""
    try:
        with open(git, encoding="utf-8") as file:
            place = file.read(MAX_PROMPT).partition("gitdir:")[2].strip()
    except (OSError, ValueError):
        return root  # a folder, as in most
    main, inside, _ = place.partition("/.git/")
    return os.path.normpath(os.path.join(root, main)) if inside else root


def prompt_submit(memory: Memory, given: dict[str, Any]) -> None:
    state = State(given["session_id"])
    state.data["prompt"] = ends(spoken(given.get("prompt", "")))
    state.save()
    keys = ("session_id", "transcript_path", "cwd")
    jot(state.open, {key: given.get(key) for key in keys} | {"butler": BUTLER})
    # A command alone, such as "/compact", asks for nothing; one with words, or a path, does.
    words = state.data["prompt"].split()
    if len(words) > 1 or (words and not words[0].startswith("/")):
        inject(memory, given, state, state.data["prompt"], PROMPT_TOKENS)


def ends(prompt: str) -> str:
    """A prompt without the middle of a long one: what is asked is before a text or behind it."""
    half = MAX_PROMPT // 2
    return prompt if len(prompt) <= MAX_PROMPT else f"{prompt[:half]}\n{prompt[1 - half :]}"


def inject(memory: Memory, given: dict[str, Any], state: State, topic: str, tokens: int) -> None:
    """Say what memory knows, and was not said in this session before."""
    asked = {"trigger_prompt": topic, "butler": BUTLER, "token_budget": tokens, **session(given)}
    try:
        block = memory.call("memory_context", about=project(given.get("cwd") or ""), **asked)
    except Refused:  # a server of before, which knows no `about`
        block = memory.call("memory_context", **asked)
    fresh = [id for id in block.get("included", []) if id not in state.data["shown"]]
    if not fresh or block["context"].strip() == BARE:
        return
    state.data["shown"] = [*state.data["shown"], *fresh][-MAX_SHOWN:]
    state.save()
    told = only(block["context"], block["included"], fresh)
    output = {"hookEventName": given["hook_event_name"], "additionalContext": told}
    print(json.dumps({"hookSpecificOutput": output}))


def only(block: str, included: list[str], fresh: list[str]) -> str:
    """The block with the lines of these memories alone, and the headings above such."""
    ids = iter(included)
    head, *sections = block.split("\n## ")
    told = [head]
    for section in sections:
        # Nothing but a memory begins so, and each has one line, in the order of `included`.
        lines = [
            line
            for line in section.split("\n")
            if not line.startswith("- ") or next(ids, None) in fresh
        ]
        if any(line.startswith("- ") for line in lines):
            told.append("\n".join(lines))
    return "\n## ".join(told)


# Memory out


def noted(name: str) -> dict[str, Any]:
    """What stands in ACCOUNTS of each server and token, or in AWAY of each server that hangs."""
    try:
        with open(os.path.join(home(), name), encoding="utf-8") as file:
            found: dict[str, Any] = json.load(file)
            return {key: one for key, one in found.items() if isinstance(one, dict)}
    except (OSError, ValueError, AttributeError):
        return {}


def sealed(episode: dict[str, Any], address: str | None) -> str | None:
    """The episode as a letter (see `vault/letters.py`); None: it cannot be sealed here."""
    if address is None:
        return None
    try:
        import base64
        import site

        site.main()  # -S has left out where packages are
        from cryptography.hazmat.primitives.asymmetric import x25519
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        key_id, _, public = address.partition(".")
        to = base64.urlsafe_b64decode(public)
        own = x25519.X25519PrivateKey.generate()
        head = b"\x01" + bytes.fromhex(key_id) + own.public_key().public_bytes_raw()
        shared = own.exchange(x25519.X25519PublicKey.from_public_bytes(to))
        key = HKDF(SHA256(), 32, None, b"memory-butler letter" + head + to).derive(shared)
        # The key is of this letter alone, and so is its nonce.
        text = ChaCha20Poly1305(key).encrypt(bytes(12), json.dumps(episode).encode(), head)
        return base64.b64encode(head + text).decode()
    except TimeoutError:
        raise
    except Exception:  # no package, or none that works: a readable episode is better than none
        return None


def keep_episode(memory: Memory, given: dict[str, Any]) -> None:
    """Keep what happened since the last time: before it is compacted away, and at the end."""
    try:
        note_episode(given, memory)
    finally:
        tidy()
    flush(memory, given)


def note_episode(given: dict[str, Any], memory: Memory | None = None) -> None:
    """Write the episode of what is new in a session into the spool.

    `memory`: of a session that was not killed; it gets the episode where nothing can be written.
    """
    state = State(given["session_id"])
    begin = state.data["kept_to"]
    path = given.get("transcript_path") or ""
    try:
        changed = os.path.getmtime(path)
    except OSError:
        changed = 0.0  # a session without a word has no transcript
    # Where the clock was set back meanwhile, it tells nothing of what was copied.
    began = state.data["began"] if moment(changed) >= state.data["began"] else ""
    requests, outcome, end = since(path, begin, began) if changed else ([], "", begin)
    if requests:
        import uuid

        # With its end: told again from the same beginning, after a full disk, it may be longer.
        part = f"{given['session_id']}/{begin}-{end}"
        ended = time.gmtime(min(changed, time.time()))
        episode = {
            "episode_id": str(uuid.uuid5(uuid.UUID(NAMESPACE), part)),
            "content": told(given.get("cwd") or "", requests, outcome),
            "butler": given.get("butler") or BUTLER,
            "importance": 5.0,
            "occurred_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", ended),
            "metadata": {"cwd": given.get("cwd"), "event": given["hook_event_name"]},
            **session(given),
        }
        key = state.data["account"] or (memory.key if memory else "")
        try:
            spool(episode, noted(ACCOUNTS).get(key, {}))
        except TimeoutError:
            raise
        except OSError:
            if memory is None:
                raise
            if error := memory.call("memory_store_episode", **episode).get("error"):
                raise NotNow(error) from None
        state.data["kept_to"] = end
        write(state.path, state.data)
    if given["hook_event_name"] == "SessionEnd":
        if state.data["prompt"]:
            state.data["prompt"] = ""  # only a session that goes on needs it
            state.save()
        remove(state.open)


def spool(episode: dict[str, Any], whose: dict[str, Any]) -> None:
    """Write an episode, as a letter where that can be, into the folder of those that wait."""
    name = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{episode['episode_id']}"
    letter = sealed(episode, whose.get("address"))
    if letter is None:
        of = {"tenant_id": whose["tenant_id"]} if "tenant_id" in whose else {}
        write(os.path.join(home(), SPOOL, f"{name}.json"), {**episode, **of})
    else:
        write(os.path.join(home(), SPOOL, name + LETTER), letter)


def left_behind() -> list[str]:
    """The notes of sessions that were killed: they have not ended, and nothing is added to them."""
    found = []
    for path in waiting(OPEN):
        try:
            with open(path, encoding="utf-8") as file:
                transcript = json.load(file)["transcript_path"]
            if time.time() - os.path.getmtime(transcript) > QUIET_SECONDS:
                found.append(path)
        except (OSError, ValueError, KeyError, TypeError):
            remove(path)  # without its transcript there is nothing to tell
    return found


def since(path: str, begin: int, began: str) -> tuple[list[str], str, int]:
    """What the user asked and the agent said last, from a byte of the transcript on; its end.

    What is older than the session was copied from the one that it was forked from, which tells it.
    """
    requests: list[str] = []
    outcome = ""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        if begin > size:  # another file than the last time
            begin = 0
        end = file.seek(max(begin, size - MAX_READ))
        for line in file:
            try:
                entry = json.loads(line)
            except ValueError:
                if not line.endswith(b"\n"):
                    break  # it is being written: the next time tells it
                entry = {}
            end += len(line)
            try:
                if entry.get("timestamp", began) < began:
                    continue
                who, text = said(entry)
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
            if text and who == "user":
                requests.append(text)
            elif text and who in ("assistant", "gemini"):
                outcome = text
    return requests, outcome, end


def said(entry: dict[str, Any]) -> tuple[str, str]:
    """Who said what, by a line of a transcript; ("", "") where it is no part of the conversation.

    The three programs write lines of different shapes, so that a line tells whose it is.
    """
    who = entry["type"]
    if who == "response_item":  # Codex, which names what is the user's
        message = entry["payload"]
        who, content = message["role"], message["content"]
        if who == "user":
            kinds = message["internal_chat_message_metadata_passthrough"]["content_item_kinds"]
            content = [one for one, kind in zip(content, kinds) if kind == "user.text"]  # noqa: B905
        return who, spoken(content)
    if "message" in entry:  # Claude Code
        if any(map(entry.get, NOBODYS)) or entry["message"].get("model") == SYNTHETIC:
            return "", ""
        return who, spoken(entry["message"]["content"])
    # Gemini CLI, which adds what its hooks told to `content`
    return who, spoken(entry.get("displayContent") or entry["content"])


def spoken(content: Any) -> str:
    if isinstance(content, list):
        # Gemini's parts have no type.
        blocks = [block for block in content if block.get("type", "text") in TEXTS]
        texts = [block.get("text") or "" for block in blocks]
    else:
        texts = [content]
    texts = [commanded(without_told(text)).strip() for text in texts]
    return "\n".join(text for text in texts if text and not text.startswith(NOT_SAID))


def without_told(text: str) -> str:
    # No pattern: one that looks for an end from each beginning takes a minute for a long paste.
    for tag in TOLD:
        opening, closing = f"<{tag}>", f"</{tag}>"
        kept, at = [], 0
        while True:
            begin = text.find(opening, at)
            end = text.find(closing, begin) if begin >= 0 else -1
            if end < 0:
                break
            kept.append(text[at:begin])
            at = end + len(closing)
        text = "".join([*kept, text[at:]])
    return text


def commanded(text: str) -> str:
    """A command with words of the user's after it, as it was typed; other text as it is.

    One word alone is a choice among settings, such as "/model opus".
    """
    found, rest = [], text
    for tag in COMMAND:
        rest = rest.lstrip()
        inner, closed, after = rest.partition(f"</{tag}>")
        if not (closed and inner.startswith(f"<{tag}>")):
            return text
        found.append(inner[len(tag) + 2 :])
        rest = after
    _, name, words = found
    return f"{name} {words}{rest}" if len(words.split(None, 1)) > 1 else text


def told(folder: str, requests: list[str], outcome: str) -> str:
    asked = [cut(one, MAX_ASKED) for one in requests]
    if len(asked) > MAX_REQUESTS:
        left_out = len(asked) - MAX_REQUESTS
        asked = [asked[0], f"({left_out} more)", *asked[-(MAX_REQUESTS - 1) :]]
    lines = [f"Session in {folder}."] if folder else []
    lines += ["The user asked:", *(f"- {one}" for one in asked)]
    return "\n".join(lines + ([f"Outcome: {cut(outcome, MAX_OUTCOME)}"] if outcome else []))


def cut(text: str, length: int) -> str:
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    kept, following = text[: length - 1], text[length - 1]
    # Half a key or password would not be known as one where secrets are masked.
    while kept and following.isascii() and not (following.isspace() or kept[-1].isspace()):
        following, kept = kept[-1], kept[:-1]
    return kept + "…"


def flush(memory: Memory, _given: dict[str, Any]) -> None:
    """Send what waits, the oldest first."""
    for path in waiting(SPOOL):
        try:
            with open(path, encoding="utf-8") as file:
                episode = json.load(file)
            if not path.endswith(LETTER) and is_anothers(memory, episode.pop("tenant_id", None)):
                continue
            if path.endswith(LETTER):
                answer = memory.deliver(episode)
            else:
                answer = memory.call("memory_store_episode", **episode)
        except FileNotFoundError:
            continue  # another process has sent it
        except Locked as error:
            print(f"memory: a letter waits: {error}", file=sys.stderr)
            continue  # it holds up no other
        except (Refused, ValueError) as error:
            folder, name = os.path.split(path)
            aside = os.path.join(folder, "refused")
            os.makedirs(aside, exist_ok=True)
            os.replace(path, os.path.join(aside, name))
            print(f"memory refused {name}: {error}", file=sys.stderr)
            continue
        if answer.get("error"):
            raise NotNow(answer["error"])
        remove(path)


def is_anothers(memory: Memory, tenant: str | None) -> bool:
    """Whether it may be of another tenant than this token is; not where none was noted for it."""
    return tenant is not None and memory.account().get("tenant_id", tenant) != tenant


def catch_up(memory: Memory, given: dict[str, Any]) -> None:
    """Send what waits, and what sessions left that were killed."""
    for path in left_behind():
        with open(path, encoding="utf-8") as file:
            left = json.load(file)
        note_episode({**left, "hook_event_name": "SessionEnd"})
    tidy()
    flush(memory, given)


def flush_apart() -> None:
    """Catch up without letting the session wait."""
    import subprocess

    command = [sys.executable, "-I", "-S", __file__, "catch-up", *sys.argv[2:]]
    no = subprocess.DEVNULL
    subprocess.Popen(command, stdin=no, stdout=no, stderr=no, start_new_session=True)  # noqa: S603


# On disk


def home() -> str:
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.environ.get("MEMORY_BUTLER_HOOK_DIR") or os.path.join(state, "memory-butler", BUTLER)


def waiting(kind: str) -> list[str]:
    """The files in the folder SPOOL or OPEN, the oldest of SPOOL first."""
    folder = os.path.join(home(), kind)
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [
        os.path.join(folder, name)
        for name in sorted(names)
        if name.endswith((".json", LETTER)) and not name.startswith(".")
    ]


class State:
    """What is known of a session between two hooks."""

    def __init__(self, id: str) -> None:
        name = id.replace("/", "_").replace("\\", "_") + ".json"
        self.path = os.path.join(home(), SESSIONS, name)
        self.open = os.path.join(home(), OPEN, name)  # there from a prompt until the session ends
        self.data: Any = {"shown": [], "kept_to": 0, "prompt": "", "began": "", "account": ""}
        self.known = os.path.exists(self.path)
        try:
            self.data.update(self.stored())
        except ValueError:
            os.unlink(self.path)  # of no use to anybody; what it knew is told or kept again

    def stored(self) -> dict[str, Any]:
        try:
            with open(self.path, encoding="utf-8") as file:
                return dict(json.load(file))
        except OSError:
            return {}

    def save(self) -> None:
        """What was told may be lost with the power, and is told again; what was kept may not.

        A catch-up may have kept more meanwhile, of a session that was killed and is resumed.
        """
        self.data["kept_to"] = self.stored().get("kept_to", self.data["kept_to"])
        jot(self.path, self.data)


def tidy() -> None:
    """Remove notes of sessions that ended long ago, and what a hook that was killed left half."""
    now = time.time()
    for kind in (SESSIONS, OPEN, SPOOL):
        try:
            found = [(one.stat().st_mtime, one) for one in os.scandir(os.path.join(home(), kind))]
        except OSError:  # there is none, or another process is at it
            continue
        found.sort(key=lambda one: -one[0])
        for place, (changed, one) in enumerate(found):
            if one.name.startswith("."):
                is_over = now - changed > QUIET_SECONDS
            else:
                is_over = kind == SESSIONS and (
                    (now - changed > KEPT_SECONDS or place >= MAX_SESSIONS)
                    and not os.path.exists(os.path.join(home(), OPEN, one.name))
                )
            if is_over:
                remove(one.path)


def moment(at: float) -> str:
    """A time, as transcripts write it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1000):03}Z"


def write(path: str, value: Any, durable: bool = True) -> None:
    folder, name = os.path.split(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    unfinished = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(value, file)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        remove(unfinished)
        raise


def jot(path: str, value: Any) -> None:
    """Write what a session can do without: on a full disk memory comes in all the same."""
    try:
        write(path, value, durable=False)
    except TimeoutError:
        raise
    except OSError:
        pass


def remove(path: str) -> None:
    try:  # noqa: SIM105 -- contextlib is one more module to import
        os.unlink(path)
    except FileNotFoundError:
        pass


def session(given: dict[str, Any]) -> dict[str, str]:
    """The session's id, where it is a UUID as memory wants it."""
    id = given["session_id"]
    parts = [len(part) for part in id.split("-")]
    return {"session_id": id} if parts == [8, 4, 4, 4, 12] else {}


HANDLERS = {
    "SessionStart": session_start,
    "UserPromptSubmit": prompt_submit,
    "BeforeAgent": prompt_submit,
    "PreCompact": keep_episode,
    "SessionEnd": keep_episode,
    "catch-up": catch_up,
}

if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Exception as error:  # whatever it is: the session goes on
        kind = "" if isinstance(error, (NotNow, TimeoutError)) else f"{type(error).__name__}: "
        print(f"memory: {kind}{error}", file=sys.stderr)
        if isinstance(error, Hangs):
            warn(f"{error}. Sessions go on without memory until it does.")
        elif BUTLER == "gemini":
            print("{}")  # an answer, or it would show the line above at every prompt
