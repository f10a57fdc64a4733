"""The model of py3langid, cut to our languages and unpacked by the build, to be mapped into memory.

As it is published it is one compressed file of 142 languages: each process that reads it spends 0.6
s of processor time on unpacking 68 MB, and keeps 55 MB of its own. Mapped, it is there in 0.02 s,
and all processes share its pages.
"""

import json
import shutil
import tempfile
from collections.abc import Collection
from importlib.metadata import distribution, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

FOLDER: Final = Path(__file__).with_name("letters")
_LIBRARY: Final = "py3langid"
_ABOUT: Final = "model.json"
# As py3langid orders them.
_ARRAYS: Final = ("weights", "priors", "next", "rows", "features")


def identifier(codes: Collection[str], folder: Path = FOLDER) -> "LanguageIdentifier":
    """What ranks a text's languages, of those with these codes that py3langid knows.

    From the files of the build; unpacked anew where they are missing, or of another version.
    """
    from py3langid.langid import LanguageIdentifier

    if not is_current(codes, folder):
        model = LanguageIdentifier.from_model_file(_published(), norm_probs=True)
        model.set_languages([one for one in model.labels if one in codes])
        model._full_model = None  # the other languages, 28 MB
        return model
    ptc, pc, next_move, rows, output = (_mapped(folder, name) for name in _ARRAYS)
    return LanguageIdentifier(
        ptc,
        pc,
        _about(folder)["classes"],
        # An item of a view is a plain number, and of an array an object that has to be made.
        memoryview(next_move),
        output.tolist(),
        norm_probs=True,
        tk_row=rows.tolist(),
    )


def is_current(codes: Collection[str], folder: Path = FOLDER) -> bool:
    """Whether the files are there, for these languages and of the installed py3langid."""
    if not (folder / _ABOUT).is_file():
        return False
    return bool(_about(folder)["made_from"] == _origin(codes))


def unpack(codes: Collection[str], folder: Path = FOLDER) -> None:
    """Write the files; the folder appears whole or not at all. Its licence comes with it."""
    import numpy as np
    from py3langid.modelio import load_model

    ptc, pc, classes, next_move, rows, output = load_model(_published())
    kept = [at for at, code in enumerate(classes) if code in codes]
    arrays = (ptc[:, kept], pc[kept], np.asarray(next_move), np.asarray(rows), np.asarray(output))
    about = {"made_from": _origin(codes), "classes": [classes[at] for at in kept]}
    # Beside the target, because a rename is atomic only within one file system.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".letters-") as name:
        workshop = Path(name)
        fresh = workshop / "fresh"
        fresh.mkdir()
        for array, named in zip(arrays, _ARRAYS, strict=True):
            np.save(fresh / f"{named}.npy", array, allow_pickle=False)
        (fresh / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
        licence = distribution(_LIBRARY).read_text("licenses/LICENSE")
        assert licence is not None  # noqa: S101 -- its terms ask that it goes along
        (fresh / "LICENSE").write_text(licence, encoding="utf-8")
        if folder.exists():
            shutil.move(folder, workshop / "replaced")
        fresh.rename(folder)


def _published() -> Path:
    from py3langid.langid import MODEL_DIR, MODEL_FILE

    return Path(MODEL_DIR, MODEL_FILE)


def _origin(codes: Collection[str]) -> list[str]:
    return [version(_LIBRARY), *sorted(codes)]


def _about(folder: Path) -> dict[str, Any]:
    about: dict[str, Any] = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
    return about


def _mapped(folder: Path, name: str) -> Any:
    import numpy as np

    # A plain array over the same pages: numpy's own class for them is slow to index.
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))
