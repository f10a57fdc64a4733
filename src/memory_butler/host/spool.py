"""Episodes on their way to memory: on disk before they are sent, and until memory has them.

Each has an id of its own that goes with it, so that one whose acknowledgement was lost is sent
again without being stored twice. Where keys are set up it is encrypted with the installation's: a
spool does not know whose memory its episodes become. The key is fetched before it is needed: no
episode is lost, and no session waits, because a key is away.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from memory_butler.domain.errors import ConfigurationError, InvalidInput
from memory_butler.files import replaced
from memory_butler.logs import get_logger
from memory_butler.vault.keyring import HeldKeys, Keyring
from memory_butler.vault.sealed import seal, unseal

log = get_logger()

_SUFFIX: Final = ".json"
_SEALED: Final = ".sealed"
_KIND: Final = "spool"
# What memory will never take, kept for a person to see.
REFUSED: Final = "refused"


@dataclass(frozen=True, slots=True)
class SpooledEpisode:
    """An episode as `memory_store_episode` takes it; `occurred_at` is ISO 8601."""

    episode_id: str
    content: str = field(repr=False)
    butler: str
    session_id: str
    importance: float
    occurred_at: str
    metadata: dict[str, Any] = field(default_factory=dict)

    def arguments(self) -> dict[str, Any]:
        """The arguments of the tool."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits in a spool, the oldest first, and where: None, where the disk did not take it.

    `whole`: False, if some of it, or its key, is out of reach.
    """

    episodes: list[tuple[Path | None, SpooledEpisode]]
    whole: bool = True


@dataclass(slots=True)
class Spool:
    """The folder of one butler; only its user can read it. Making one fetches the key.

    Whatever the disk refuses is logged here, and costs no episode.
    """

    folder: Path
    keys: Keyring | None = None
    _held: HeldKeys | None = field(default=None, init=False, repr=False)
    # What the disk did not take.
    _unkept: list[SpooledEpisode] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        self._fetch_key()

    def put(self, episode: SpooledEpisode) -> None:
        """Keep an episode; it is on disk when this returns, or in this process where the disk does
        not take it.

        Where the key could not be fetched yet, it is kept unencrypted.
        """
        try:
            self._write(episode)
        except OSError as error:
            log.error("an episode is kept in memory alone, not on disk", reason=error.strerror)
            self._unkept.append(episode)

    def _write(self, episode: SpooledEpisode) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Named by time first, so that they are sent in the order in which they happened.
        moment = episode.occurred_at.replace(":", "").replace("+", "")
        data = json.dumps(asdict(episode), ensure_ascii=False).encode()
        name = f"{moment}-{episode.episode_id}{_SUFFIX}"
        if self._held is not None:
            data = seal(data, _KIND, self._held, datetime.now(UTC))
            # Both ids, so that an erasure finds it without a key.
            name = f"{moment}-{episode.session_id}-{episode.episode_id}{_SEALED}"
        elif self.keys is not None:
            log.warning("an episode is kept unencrypted: its key is away", file=name)
        with replaced(self.folder / name) as file:
            file.write(data)

    def waiting(self) -> Waiting:
        """What waits. A torn file is set aside; one that is out of reach, or its key, stays."""
        away = not self._fetch_key()
        with suppress(OSError):  # it is in the log, and waits in this process
            for episode in list(self._unkept):
                self._write(episode)
                self._unkept.remove(episode)
        found: list[tuple[Path | None, SpooledEpisode]] = []
        files, whole = self._files()
        for path in files:
            if away and path.suffix == _SEALED:
                # Not asked for again: each request may take a minute.
                whole = False
                continue
            try:
                found.append((path, SpooledEpisode(**json.loads(self._read(path)))))
            except ConfigurationError as error:
                log.error("a spooled episode waits for its key", file=str(path), reason=str(error))
                away, whole = True, False
            except FileNotFoundError:
                continue  # an erasure was faster
            except OSError as error:
                log.error(
                    "a spooled episode is out of reach", file=str(path), reason=error.strerror
                )
                whole = False
            except (ValueError, TypeError, InvalidInput) as error:
                log.error("a spooled episode cannot be read", file=str(path), reason=str(error))
                whole = self._changed(path, refused=True) and whole
        found += [(None, episode) for episode in self._unkept]
        return Waiting(found, whole)

    def _files(self) -> tuple[list[Path], bool]:
        """Where episodes are, the oldest first; and False, if the folder cannot be read."""
        try:
            all_files = list(self.folder.iterdir()) if self.folder.is_dir() else []
        except OSError as error:
            log.error("the spool cannot be read", reason=error.strerror)
            return [], False
        return sorted(path for path in all_files if path.suffix in (_SUFFIX, _SEALED)), True

    def _fetch_key(self) -> bool:
        """Fetch the key once; False: it is away."""
        if self.keys is not None and self._held is None:
            try:
                self._held = self.keys.held([""], datetime.now(UTC))
            except ConfigurationError as error:
                log.warning("the key of the spool is away", reason=str(error))
                return False
        return True

    def _read(self, path: Path) -> bytes:
        data = path.read_bytes()
        if path.suffix != _SEALED:
            return data
        if self._held is None:
            raise ConfigurationError("no keys are set up")
        return unseal(data, _KIND, self._held)

    def end(self, path: Path | None, episode: SpooledEpisode, *, refused: bool) -> bool:
        """Memory has it; or will never take it, and it is set aside, not deleted.

        Returns:
            False, if the disk does not take that now.
        """
        if path is None:
            self._unkept.remove(episode)
            return True
        return self._changed(path, refused=refused)

    def _changed(self, path: Path, *, refused: bool) -> bool:
        try:
            if refused:
                aside = self.folder / REFUSED
                aside.mkdir(mode=0o700, exist_ok=True)
                path.replace(aside / path.name)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            log.error("a spooled episode stays in the way", file=str(path), reason=error.strerror)
            return False
        return True
