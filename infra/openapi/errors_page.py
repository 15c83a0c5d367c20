"""`docs/errors.md`: every code, what happened, what to do, and how it looks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from infra.openapi.examples import problem_examples
from infra.openapi.problem_words import PROBLEMS
from shared.domain.outcomes import SKIPPED_CODES, OutcomeCode
from shared.web.live_outcome_words import LIVE_WORDS
from shared.web.mcp import answers
from shared.web.mcp.fault_words import FAULT_WORDS
from shared.web.outcome_words import OUTCOME_WORDS, Words
from shared.web.server_outcome_words import SERVER_WORDS

_INTRODUCTION = """\
# Errors

This page is written by `make openapi`; change the words in `infra/openapi/*problem_words.py` and
`shared/web/*outcome_words.py`, and `shared/web/mcp/fault_words.py`.

There are two kinds. A **problem** is the answer to a request that was not carried out: `application/problem+json`
(RFC 9457) with a stable `code`, a `type` of `urn:knowledge-gateway:problem:` and the code, and the `requestId` that is
also in the header `X-Request-Id`. Quote it when you report something. An **outcome code** says why one provider gave
nothing to a search that was carried out: the search itself is 200.

No problem and no outcome repeats what a provider said, or a value that you sent.
"""
_OUTCOMES = """\
## Outcome codes

In `providers[].errorCode` of an agent's answer, and in the report of a provider test. Customers see none of them. What
a code means at a hosted live service or at a self-hosted server stands below it where that is more than the general
words.
"""
_FAULTS = """\
## Faults of MCP messages

What is wrong with a message to `/mcp` is answered as a JSON-RPC error. What is wrong with the caller, or with the
request before its message is read, is a problem, as everywhere. What a tool refuses is neither: it is a result with
`isError`.
"""
_MORE: Mapping[str, Mapping[Any, Words]] = {"At a live service": LIVE_WORDS, "At a self-hosted server": SERVER_WORDS}


def errors_text() -> str:
    return "\n".join([_INTRODUCTION, "## Problems\n", *_problems(), _OUTCOMES, *_outcomes(), _FAULTS, *_faults()])


def _problems() -> Iterator[str]:
    examples = problem_examples()
    for code, words in PROBLEMS.items():
        yield _section(code, f"{words.status}. {words.happened}", words.advice, examples[code]["value"])


def _outcomes() -> Iterator[str]:
    for code, words in OUTCOME_WORDS.items():
        yield _section(code.value, words.happened, _advice(code, words), _outcome_example(code))


def _faults() -> Iterator[str]:
    for code, words in FAULT_WORDS.items():
        yield _section(str(int(code)), words.happened, words.advice, json.loads(answers.refused(words.example)))


def _advice(code: OutcomeCode, words: Words) -> str:
    more = [f"**{where}:** {' '.join(known[code])}" for where, known in _MORE.items() if code in known]
    return "\n\n".join([words.advice, *more])


def _section(code: str, happened: str, advice: str, example: Any) -> str:
    shown = json.dumps(example, indent=2, ensure_ascii=False)
    return f"### `{code}`\n\n{happened}\n\n**What to do:** {advice}\n\n```json\n{shown}\n```\n"


def _outcome_example(code: OutcomeCode) -> dict[str, Any]:
    status = "skipped" if code in SKIPPED_CODES else "cancelled" if code is OutcomeCode.CANCELLED else "failed"
    return {
        "id": "cs_k3j5mq2x7a4bwz6t",
        "name": "Help centre",
        "status": status,
        "errorCode": code.value,
        "durationMs": 0 if status == "skipped" else 412,
        "resultCount": 0,
        "truncated": False,
        "retryAt": None,
        "warnings": [],
    }
