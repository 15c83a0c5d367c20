"""Askers of which some are made only once somebody needs one: what they load costs every cold start otherwise."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from shared.domain.registrations import ProviderKind
from shared.ports.asker import Asker


class AskersOnDemand(Mapping[ProviderKind, Asker]):
    """`first` are there at once; `make` gives those of `later`, all together, when one of them is first looked up."""

    def __init__(
        self,
        first: Mapping[ProviderKind, Asker],
        *,
        later: Collection[ProviderKind],
        make: Callable[[], Mapping[ProviderKind, Asker]],
    ) -> None:
        self._first = first
        self._later = later
        self._make = make
        self._made: Mapping[ProviderKind, Asker] | None = None

    def __getitem__(self, kind: ProviderKind) -> Asker:
        if kind in self._first:
            return self._first[kind]
        if kind not in self._later:
            raise KeyError(kind)
        if self._made is None:
            self._made = self._make()
        return self._made[kind]

    def __iter__(self) -> Iterator[ProviderKind]:
        yield from self._first
        yield from self._later

    def __len__(self) -> int:
        return len(self._first) + len(self._later)
