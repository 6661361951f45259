"""Live models by key: those used last are in memory, the others in a file."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, KeysView
from typing import Any

from onkel.errors import ModelFileError
from onkel.serve.live import LiveModel
from onkel.serve.models_file import ModelsFile

# Bytes of a model in memory, besides its ids: so many for each byte of its state, and as many more.
# As measured; it has room for rows since its matrix was factored, and copies to undo rows with.
_ROOM = 3.5
_LEAST = 800_000
_AN_ID = 400
# Share of the models that leave together: each time costs one flush of the disk.
_LEAVING = 0.05


class ModelsInMemory:
    """The models of a file; those that were used least leave memory when too many are there.

    ``how``: arguments of each `LiveModel`. At most ``max_models`` stay, of about ``max_bytes``.
    """

    def __init__(
        self, file: ModelsFile, how: dict[str, Any], max_models: int, max_bytes: int
    ) -> None:
        self._file, self._how = file, how
        self._max_models, self._max_bytes = max_models, max_bytes
        #: the one used last comes last
        self._models: OrderedDict[str, LiveModel] = OrderedDict()
        self._sizes: dict[str, int] = {}
        #: bytes of all of them
        self.nbytes: int = 0
        #: those that the file does not have as they are
        self._changed: set[str] = set()

    def __len__(self) -> int:
        return len(self._models)

    def keys(self) -> KeysView[str]:
        """The keys of the models in memory."""
        return self._models.keys()

    @property
    def n_waiting(self) -> int:
        """Rows that wait for labels."""
        return sum(live.late.n_waiting for live in self._models.values())

    def new(self) -> LiveModel:
        """A model as each key begins with it."""
        return self._made(self._file.template)

    def there(self, key: str) -> LiveModel | None:
        """A model that is in memory; to look at it is no use of it."""
        return self._models.get(key)

    def found(self, key: str) -> LiveModel | None:
        """A model, from memory or from the file; None if the key is new."""
        live = self._models.get(key)
        if live is not None:
            self._models.move_to_end(key)
            return live
        content = self._file.get(key)
        if content is None:
            return None
        live = self._made(content)
        self.keep(key, live)
        return live

    def keep(self, key: str, live: LiveModel) -> None:
        """Keep a model, and note its size of now."""
        self._models[key] = live
        size = int(_ROOM * live.model.nbytes) + _LEAST + _AN_ID * len(live.ids)
        self.nbytes += size - self._sizes.get(key, 0)
        self._sizes[key] = size

    def note_change(self, key: str) -> None:
        """A model that is kept has learned."""
        self._changed.add(key)
        self.keep(key, self._models[key])

    def drop(self, keys: Iterable[str]) -> None:
        """Drop models, and what they learned since they were written."""
        for key in keys:
            del self._models[key]
            self.nbytes -= self._sizes.pop(key)
            self._changed.discard(key)

    def write_changed(self, number: int, highest: int) -> None:
        """Write all that changed, and that all models are written up to cut ``number``.

        ``highest``: the last cut that any model in the file may have learned.
        """
        self._write(sorted(self._changed), number, highest)

    def leave(self, highest: int) -> None:
        """Write the models that were used least, and drop them, if too many are there."""
        n, size = len(self._models), self.nbytes
        if n <= self._max_models and size <= self._max_bytes:
            return
        leaving = []
        most, most_bytes = (1 - _LEAVING) * self._max_models, (1 - _LEAVING) * self._max_bytes
        for key in self._models:
            if n <= 1 or (n <= most and size <= most_bytes):
                break
            leaving.append(key)
            n, size = n - 1, size - self._sizes[key]
        try:
            self._write([key for key in leaving if key in self._changed], None, highest)
        except ModelFileError:
            return  # they stay in memory; the next save of all tells of the failure
        self.drop(leaving)

    def _write(self, keys: Collection[str], number: int | None, highest: int) -> None:
        self._file.put({key: self._models[key].to_bytes() for key in keys}, number, highest)
        self._changed.difference_update(keys)

    def _made(self, content: bytes) -> LiveModel:
        return LiveModel.from_bytes(content, **self._how)
