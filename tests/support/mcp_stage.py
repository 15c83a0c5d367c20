"""A kind that asks an MCP server, on real connections to one that plays recorded answers, through the real meter."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from shared.domain.exposure import Audience, ExposureProfile
from shared.domain.passages import Evidence, Freshness, Question, Retrieval
from shared.domain.registrations import Source
from shared.errors import ExchangeError
from shared.ports.live_retriever import LiveRetriever
from tests.support.builders import a_source
from tests.support.live_cases import MeteredStage
from tests.support.mcp_servers import BadMcpServer

UNITS = {"confirmed": (1, 0, 0), "released": (0, 1, 0), "unknown": (0, 0, 1)}
Case = dict[str, Any]


class McpStage:
    """`units` are those of the last question: confirmed, released, unknown. `source` has the server's address."""

    def __init__(self, server: BadMcpServer, retriever: LiveRetriever, **source: Any) -> None:
        self.server = server
        self.retriever = retriever
        values = {"exposure_profile": ExposureProfile.AGENT_ONLY, "signing": None, "base_url": server.origin}
        self.source: Source = a_source(**values | source)
        self.units = (0, 0, 0)

    def ask(self, query: str, **question: Any) -> Retrieval:
        stage = MeteredStage(self.source, keys={})
        work = self.retriever.retrieve(self.source, Question(query=query, **question), meter=stage.meter())
        try:
            return asyncio.run(stage.ended(work))
        finally:
            self.units = stage.units
            assert "UPSTREAM-WORDS" not in repr(vars(stage.log))
            assert query not in repr(vars(stage.log))

    def play(self, case: Case, query: str, **question: Any) -> None:
        """The answers are read as recorded, and one unit is used as recorded."""
        self.server.play(case["answers"])
        outcome = case["outcome"]
        if "error" in outcome:
            error = self.refusal(query, **question)
            assert error.code == outcome["error"]
        else:
            assert in_plain(self.ask(query, **question)) == outcome
        assert self.units == UNITS[outcome.get("units", "confirmed")]

    def refusal(self, query: str, **question: Any) -> ExchangeError:
        with pytest.raises(ExchangeError) as failure:
            self.ask(query, **question)
        error = failure.value
        assert "UPSTREAM-WORDS" not in f"{error!r} {error.__cause__!r} {error.__context__!r}"
        return error

    @property
    def calls(self) -> list[object]:
        """What was posted: name and arguments of a call, else the method."""
        posts = [seen.json for seen in self.server.seen]
        return [post["params"] if post["method"] == "tools/call" else post["method"] for post in posts]


def in_plain(retrieval: Retrieval) -> Case:
    """As an outcome is recorded. What holds for every passage of these kinds is checked, and not repeated there."""
    for each in retrieval.passages:
        assert (each.audience, each.evidence) == (Audience.INTERNAL, Evidence.DERIVED_CONTEXT)
        assert (each.freshness, each.score, each.revision) == (Freshness.UNKNOWN, None, None)
    names = ("document_id", "title", "snippet", "url", "truncated")
    return {
        "passages": [{name: getattr(each, name) for name in names} for each in retrieval.passages],
        "discoveries": [{"url": each.url, "title": each.title} for each in retrieval.discoveries],
        "warnings": [str(each) for each in retrieval.warnings],
    }
