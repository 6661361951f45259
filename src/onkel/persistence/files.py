"""Models in one file: safetensors for the arrays, JSON for the rest, never pickle.

The file is a valid safetensors file. Its tensors are the arrays of the model's state, named by
their path in it (``estimator/state/coef``); its metadata hold one JSON document under ``onkel``:
the class, the scalars of the state, the versions and a SHA-256 over all of it. Nothing in a file is
ever executed; classes come only from onkel's own public modules or from `register`.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from onkel._version import __version__
from onkel.errors import MissingModelFileError, ModelFileError
from onkel.persistence.contents import class_name, flatten, resolve, unflatten

# A temporary file this old (seconds) belongs to a write that was killed.
_STALE = 3600.0


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """A temporary file to write; renamed to ``path`` if the block succeeds, else removed.

    It is in the same folder, so the rename stays within one file system, and is flushed to disk
    first, so that a crash leaves the old file or the new one, never half of either. A link stays:
    the file it points to is replaced. A replaced file keeps its permissions. Temporary files that
    killed writes of the same file left more than an hour ago are removed.

    Parameters
    ----------
    path : Path
        Its folder must exist.

    Yields
    ------
    binary file
        Open for writing.

    Raises
    ------
    OSError
        ``path`` exists and is not a regular file but a device, a pipe or a folder.
    """
    path = Path(os.path.realpath(path))
    mode = _mode(path)
    _remove_stale(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            if mode is not None:
                os.chmod(temporary, mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _mode(path: Path) -> int | None:
    """The permissions of an existing file; None if there is none."""
    try:
        found = path.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        kind = "a folder" if stat.S_ISDIR(found) else "a device, pipe or socket"
        raise OSError(None, f"it is {kind}, not a regular file")
    return stat.S_IMODE(found)


def _remove_stale(path: Path) -> None:
    """Remove temporary files that killed writes of this file have left."""
    start, end = f".{path.name}.", ".tmp"
    for other in path.parent.glob("*" + end):
        token = other.name[len(start) : -len(end)]
        ours = other.name == start + token + end and len(token) == 8
        if not ours or set(token) - set("0123456789abcdef") or other.is_symlink():
            continue
        try:
            if time.time() - other.stat().st_mtime > _STALE:
                other.unlink()
        except OSError:
            continue  # another process was faster, or it is not ours to remove


def _sync_folder(folder: Path) -> None:
    """Make the rename survive a power cut, on POSIX systems."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


FORMAT_VERSION = 2
"""Raised when a state changes so that one version of onkel cannot read what another writes."""

_METADATA_KEY = "onkel"


def save(model: Any, path: str | os.PathLike[str], *, info: dict[str, Any] | None = None) -> None:
    """Write a model to one file, atomically.

    A temporary file is written, flushed to disk and then renamed, so that readers, even after a
    crash, see the old file or the new one, never half of either. The same model gives the same
    bytes.

    Parameters
    ----------
    model : object
        An estimator of onkel, a `StreamModel`, a scaler: anything with ``get_state()``.
    path : path-like
        Usually ending in ``.onkel``. An existing file is replaced.
    info : dict, optional
        What is kept beside the model but is no part of it, as named arrays and plain values; see
        `load_with_info`.

    Raises
    ------
    ModelFileError
        The folder does not exist or cannot be written to.
    TypeError
        The object's class could not be read back.

    Examples
    --------
    >>> import tempfile, onkel.persistence
    >>> from onkel.streams import OnlineScaler
    >>> path = tempfile.mkdtemp() + "/scaler.onkel"
    >>> onkel.persistence.save(OnlineScaler("minmax"), path)
    >>> onkel.persistence.load(path)
    OnlineScaler(mode='minmax')
    """
    from safetensors.numpy import save as to_bytes

    path, name = Path(path), class_name(model)
    scalars, arrays = flatten(model.get_state())
    notes, more = flatten({"info": info or {}})
    arrays |= more
    document = {
        "format": FORMAT_VERSION,
        "version": __version__,
        "class": name,
        "state": scalars,
        "info": notes["info"],
    }
    text = json.dumps(document, sort_keys=True)
    document["sha256"] = _digest(text, arrays)
    content = to_bytes(arrays, {_METADATA_KEY: json.dumps(document, sort_keys=True)})
    write_whole(path, content)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` or ``onkel learn --save`` wrote.

    A loaded model predicts and continues learning exactly (bit for bit) as the saved one would.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    object
        An object of the class that was saved.

    Raises
    ------
    ModelFileError
        The file is missing (then the error is a `FileNotFoundError`, too), truncated, altered, not
        onkel's, or of another format, or has a state that `save` could not have written.

    Examples
    --------
    >>> from onkel.persistence import load
    >>> load("no-such-file.onkel")
    Traceback (most recent call last):
        ...
    onkel.errors.MissingModelFileError: no-such-file.onkel: no such file
    """
    return load_with_info(path)[0]


def load_with_info(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Read a model and the ``info`` that was saved with it.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    model : object
        As from `load`.
    info : dict
        The ``info`` given to `save`; empty if none.

    Raises
    ------
    ModelFileError
        As `load`.
    """
    document, arrays = _read(Path(path))
    try:
        cls: Any = resolve(document["class"])
        with np.errstate(all="ignore"):
            model = cls.from_state(unflatten(document["state"], arrays))
        return model, unflatten(document["info"], arrays)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except Exception as error:
        # an edited state may fail anywhere
        raise ModelFileError(
            f"{path}: the state of this {document.get('class')} does not fit onkel {__version__} "
            f"(written by {document.get('version')}): {error!r}"
        ) from error


def written_by(path: str | os.PathLike[str]) -> str:
    """The version of onkel that wrote a model file."""
    return str(_read(Path(path))[0].get("version"))


def _digest(text: str, arrays: dict[str, Any]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name}:{array.dtype.str}:{array.shape}:".encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """JSON document and arrays of a file, both checked."""
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        raise MissingModelFileError(f"{path}: no such file")
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "a device, pipe or socket"
        raise ModelFileError(f"{path}: is {kind}, not a model file")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    # the last two come from number types that NumPy lacks
    except (SafetensorError, OSError, ValueError, AttributeError, TypeError) as error:
        raise ModelFileError(f"{path}: not a model file of onkel, or truncated ({error})") from None
    try:
        document = json.loads(metadata[_METADATA_KEY])
        found = document.pop("sha256")
        version = int(document["format"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        raise ModelFileError(f"{path}: a safetensors file, but not a model file of onkel") from None
    if version != FORMAT_VERSION:
        remedy = "upgrade onkel to read it" if version > FORMAT_VERSION else "learn the model anew"
        raise ModelFileError(
            f"{path}: written by onkel {document.get('version')} in format {version}; "
            f"onkel {__version__} reads format {FORMAT_VERSION}: {remedy}"
        )
    if found != _digest(json.dumps(document, sort_keys=True), arrays):
        raise ModelFileError(f"{path}: altered or damaged: its content does not match its SHA-256")
    return document, arrays


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically; if that fails, raise a ModelFileError that says why."""
    if not path.parent.is_dir():
        raise ModelFileError(f"cannot save {path}: the folder {path.parent} does not exist")
    try:
        with atomic_file(path) as file:
            file.write(content)
    except OSError as error:
        raise ModelFileError(f"cannot save {path}: {error.strerror or error}") from error
