"""Models in one file: safetensors for the arrays, JSON for the rest, never pickle.

The file is a valid safetensors file. Its tensors are the arrays of the model's state, named by
their path in it (``fitted/model/W``); its metadata hold one JSON document under ``onkel``:
the class, the scalars of the state, the versions and a SHA-256 over all of it. Large arrays may be
packed (:mod:`onkel.persistence.packing`). Nothing in a file is
ever executed; classes come only from onkel's own public modules or from `register`.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np

from onkel._version import __version__
from onkel.annotations import JSON
from onkel.errors import MissingModelFileError, ModelFileError
from onkel.fields import State
from onkel.persistence.atomic import write_whole
from onkel.persistence.contents import Saved, class_name, flatten, resolve, unflatten
from onkel.persistence.packing import packed, unpacked

FORMAT_VERSION = 3
"""Raised when a state changes so that one version of onkel cannot read what another writes.

From 3 on, which is that of 0.1.0, every format stays readable: who raises it also converts what the
format before it wrote. ``tests/persistence/golden`` has files of each.
"""

_METADATA_KEY = "onkel"
# Values of a list that are written at a time.
_PIECE = 1024


def save(model: Saved, path: str | os.PathLike[str], *, info: State | None = None) -> None:
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
    write_whole(Path(path), to_bytes(model, info=info))


def to_bytes(model: Saved, *, info: State | None = None) -> bytes:
    """The content of the file that `save` would write of this ``model`` and ``info``.

    For a model that is kept in a database or sent to another process. Models have a method of the
    same name. The same model gives the same bytes. TypeError: the object's class could not be read
    back.

    Examples
    --------
    >>> import onkel
    >>> content = onkel.to_bytes(onkel.make("pa").fit([[0.0], [1.0]], ["low", "high"]))
    >>> onkel.from_bytes(content).predict([[3.0]])
    array(['high'], dtype='<U4')
    """
    return content_of(class_name(model), model.get_state(), info or {})


def content_of(name: str, state: State, info: State) -> bytes:
    """The content of the file of a model: its class, its state, and what is kept beside it."""
    from safetensors.numpy import save as serialized

    scalars, arrays = flatten(state)
    notes, more = flatten({"info": info})
    arrays, notes_on_packed = packed(arrays | more)
    document = {
        "format": FORMAT_VERSION,
        "version": __version__,
        "class": name,
        "state": scalars,
        "info": notes["info"],
        "packed": notes_on_packed,
    }
    texts = {key: text_of(value) for key, value in document.items()}
    texts["sha256"] = json.dumps(_digest(_object(texts), arrays))
    return serialized(arrays, {_METADATA_KEY: _object(texts)})


def _object(texts: dict[str, str]) -> str:
    """The JSON of an object whose values are JSON already, as `json.dumps` sorts it."""
    return "{" + ", ".join(f"{json.dumps(key)}: {texts[key]}" for key in sorted(texts)) + "}"


def text_of(value: JSON) -> str:
    """What `json.dumps` gives with sorted keys, in pieces: no other thread goes on in one call."""
    if isinstance(value, dict):
        return _object({key: text_of(held) for key, held in value.items()})
    if not isinstance(value, list):
        return json.dumps(value)
    texts = []
    for a in range(0, len(value), _PIECE):
        piece = value[a : a + _PIECE]
        nested = any(isinstance(held, dict | list) for held in piece)
        texts += list(map(text_of, piece)) if nested else [json.dumps(piece)[1:-1]]
    return f"[{', '.join(texts)}]"


Kind = TypeVar("Kind")


@overload
def load(
    path: str | os.PathLike[str],
    kind: None = None,
    *,
    missing: str | None = None,
    extra: str | None = None,
) -> Any: ...
@overload
def load(
    path: str | os.PathLike[str],
    kind: type[Kind],
    *,
    missing: str | None = None,
    extra: str | None = None,
) -> Kind: ...
def load(
    path: str | os.PathLike[str],
    kind: type | None = None,
    *,
    missing: str | None = None,
    extra: str | None = None,
) -> Any:
    """Read a model that `save` or ``onkel learn --save`` wrote.

    A loaded model predicts and continues learning exactly (bit for bit) as the saved one would.

    Parameters
    ----------
    path : path-like
        The file.
    kind : type, optional
        What the file must hold, such as `StreamModel`. Type checkers then know what is returned.
    missing : {"gap", "error"}, optional
        Replaces the parameter of the `StreamModel` in the file: what becomes of rows without a key.
    extra : {"ignore", "error"}, optional
        Likewise, of rows with a key too many.

    Returns
    -------
    object
        An object of the class that was saved.

    Raises
    ------
    ModelFileError
        The file is missing (then the error is a `FileNotFoundError`, too), truncated, altered, not
        onkel's, of another format, or holds no ``kind``; or its state is one that `save` could not
        have written.
    ValueError
        ``missing`` or ``extra`` was given, and the file holds no `StreamModel`.

    Examples
    --------
    >>> from onkel.persistence import load
    >>> load("no-such-file.onkel")
    Traceback (most recent call last):
        ...
    onkel.errors.MissingModelFileError: no-such-file.onkel: no such file
    """
    return _of_kind(load_with_info(path)[0], str(path), kind, missing, extra)


@overload
def from_bytes(
    content: bytes, kind: None = None, *, missing: str | None = None, extra: str | None = None
) -> Any: ...
@overload
def from_bytes(
    content: bytes, kind: type[Kind], *, missing: str | None = None, extra: str | None = None
) -> Kind: ...
def from_bytes(
    content: bytes,
    kind: type | None = None,
    *,
    missing: str | None = None,
    extra: str | None = None,
) -> Any:
    """The model that `to_bytes` wrote; it goes on bit for bit.

    ``content`` may also be that of a file that `save` wrote; for the other arguments see `load`.
    ModelFileError: the bytes are truncated, altered, or no model.

    Examples
    --------
    >>> import numpy as np, onkel
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = onkel.make("krls", "regression").fit(X, X[:, 0] * X[:, 1])
    >>> again = onkel.from_bytes(model.to_bytes())
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    name = "the bytes"
    return _of_kind(_model_of(_parsed(bytes(content), name), name)[0], name, kind, missing, extra)


def _of_kind(
    model: Saved, name: str, kind: type | None, missing: str | None, extra: str | None
) -> Any:
    """The model, if it is of the kind; it reads rows as they say, if they say anything."""
    if kind is not None and not isinstance(model, kind):
        raise ModelFileError(f"{name}: holds a {type(model).__name__}, not a {kind.__name__}")
    how = {"missing": missing, "extra": extra}
    given = {key: value for key, value in how.items() if value is not None}
    if given:
        # LateLabels keeps the model of its rows
        rows: Any = getattr(model, "model", model)
        if not given.keys() <= rows.get_params(deep=False).keys():
            raise ValueError(
                f"{' and '.join(given)}: {name} holds a {type(model).__name__}, which reads no "
                "keys; a StreamModel does"
            )
        rows.set_params(**given)
    return model


def load_with_info(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Read a model, as `load` does, and the ``info`` given to `save`; empty if none."""
    return _model_of(_read(Path(path)), str(path))


def from_bytes_with_info(content: bytes) -> tuple[Any, State]:
    """The model and the ``info`` of what `to_bytes` wrote; see `load_with_info`."""
    return _model_of(_parsed(bytes(content), "the bytes"), "the bytes")


def _model_of(found: tuple[State, State], name: str) -> tuple[Any, State]:
    """The model and the info of a document and its arrays."""
    document, arrays = found
    try:
        cls: Any = resolve(document["class"])
        with np.errstate(all="ignore"):
            model = cls.from_state(unflatten(document["state"], arrays))
        return model, unflatten(document["info"], arrays)
    except ModelFileError as error:
        raise ModelFileError(f"{name}: {error}") from None
    except Exception as error:
        # an edited state may fail anywhere
        raise ModelFileError(
            f"{name}: the state of this {document.get('class')} does not fit onkel {__version__} "
            f"(written by {document.get('version')}): {error!r}"
        ) from error


def written_by(path: str | os.PathLike[str]) -> str:
    """The version of onkel that wrote a model file."""
    return str(_read(Path(path))[0].get("version"))


def _digest(text: str, arrays: State) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name}:{array.dtype.str}:{array.shape}:".encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()


def _read(path: Path) -> tuple[State, State]:
    """JSON document and arrays of a file, both checked."""
    if not path.exists():
        raise MissingModelFileError(f"{path}: no such file")
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "a device, pipe or socket"
        raise ModelFileError(f"{path}: is {kind}, not a model file")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror or error})") from None
    return _parsed(content, str(path))


def _parsed(content: bytes, name: str) -> tuple[State, State]:
    """JSON document and arrays of the content of a file, both checked."""
    from safetensors import SafetensorError
    from safetensors.numpy import load as deserialized

    try:
        arrays = deserialized(content)
    # the last three come from number types that NumPy lacks
    except (SafetensorError, ValueError, AttributeError, KeyError, TypeError) as error:
        raise ModelFileError(f"{name}: not a model file of onkel, or truncated ({error})") from None
    try:
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        document = json.loads(header["__metadata__"][_METADATA_KEY])
        found = document.pop("sha256")
        version = int(document["format"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        raise ModelFileError(f"{name}: a safetensors file, but not a model file of onkel") from None
    if version != FORMAT_VERSION:
        later = f"upgrade to onkel {document.get('version')} or later to read it"
        remedy = later if version > FORMAT_VERSION else "learn the model anew"
        raise ModelFileError(
            f"{name}: written by onkel {document.get('version')} in format {version}; "
            f"onkel {__version__} reads format {FORMAT_VERSION}: {remedy}"
        )
    if found != _digest(json.dumps(document, sort_keys=True), arrays):
        raise ModelFileError(f"{name}: altered or damaged: its content does not match its SHA-256")
    try:
        return document, unpacked(arrays, document.pop("packed", {}))
    except Exception as error:
        raise ModelFileError(f"{name}: its packed arrays cannot be read ({error})") from None
