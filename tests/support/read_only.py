"""Scripted lines that let nothing through but reading: a request of any other method or path fails its test."""

from __future__ import annotations

import re
from typing import Final

from shared.domain.registrations import Source
from shared.ports.exchange import OutboundRequest
from tests.support.fake_exchanges import FakeExchanges, Sent, Step

Shape = tuple[str, str]
# What may be sent: method and shape of the path below the base URL. Whatever is not here changes something, or might.
READING: Final[dict[Shape, re.Pattern[str]]] = {
    ("GET", "/datasets"): re.compile(r"/datasets\?[^#]*", re.ASCII),
    ("GET", "/datasets/{id}"): re.compile(r"/datasets/[^/?#]+", re.ASCII),
    ("POST", "/datasets/{id}/retrieve"): re.compile(r"/datasets/[^/?#]+/retrieve", re.ASCII),
    ("POST", "/retrieval"): re.compile(r"/retrieval", re.ASCII),
}
# The same of each further product, below its own base URL.
FASTGPT_READING: Final[dict[Shape, re.Pattern[str]]] = {
    ("POST", "/core/dataset/list"): re.compile(r"/core/dataset/list", re.ASCII),
    ("GET", "/core/dataset/detail"): re.compile(r"/core/dataset/detail\?id=[^&#?/]+", re.ASCII),
    ("POST", "/core/dataset/searchTest"): re.compile(r"/core/dataset/searchTest", re.ASCII),
}
RAGFLOW_READING: Final[dict[Shape, re.Pattern[str]]] = {
    ("GET", "/datasets"): re.compile(r"/datasets\?page=[0-9]+&page_size=[0-9]+(?:&id=[^&#?/]+)?", re.ASCII),
    ("POST", "/retrieval"): re.compile(r"/retrieval", re.ASCII),
    ("GET", "/system/version"): re.compile(r"/system/version", re.ASCII),
}


class ReadOnlyExchanges(FakeExchanges):
    reading: dict[Shape, re.Pattern[str]] = READING

    @property
    def shapes(self) -> set[Shape]:
        """Of all requests so far."""
        return {self._shape(sent) for sent in self.sent}

    def next_step(self, source: Source) -> Step:
        self._shape(self.sent[-1])
        return super().next_step(source)

    def _shape(self, sent: Sent) -> Shape:
        return shape_of(sent.request, base_url=sent.source.base_url, reading=self.reading)


def shape_of(request: OutboundRequest, *, base_url: str, reading: dict[Shape, re.Pattern[str]] = READING) -> Shape:
    assert request.url.startswith(base_url + "/"), request.url
    path = request.url.removeprefix(base_url)
    shapes = [shape for shape, pattern in reading.items() if shape[0] == request.method and pattern.fullmatch(path)]
    assert len(shapes) == 1, f"{request.method} {path} is no reading"
    assert not re.search(r"(?:^|/)(?:\.|%2e){1,2}(?:/|$|\?)", path, re.IGNORECASE), path
    return shapes[0]
