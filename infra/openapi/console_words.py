"""`infra/faces/console/src/outcome_words.ts`: what outcome codes mean, as the console tells it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from shared.domain.outcomes import OutcomeCode
from shared.web.live_outcome_words import LIVE_WORDS
from shared.web.outcome_words import OUTCOME_WORDS, Words
from shared.web.server_outcome_words import SERVER_WORDS

CONSOLE_WORDS_AT = "infra/faces/console/src/outcome_words.ts"

_HEAD = """\
// Written by `make openapi` from the tables in shared/web; change the words there.
import type { OutcomeCode } from "./api";
"""


def console_words_text() -> str:
    """The words for every kind of provider, and the other words of live services and of self-hosted servers."""
    # A trial of a live service has a code of its own, which no search gives.
    live = {code: LIVE_WORDS[code] for code in OutcomeCode if code in LIVE_WORDS}
    tables = (
        ("OUTCOMES", "Record<OutcomeCode, string>", OUTCOME_WORDS),
        ("AT_LIVE_SERVICES", "Partial<Record<OutcomeCode, string>>", live),
        ("AT_SERVERS", "Partial<Record<OutcomeCode, string>>", SERVER_WORDS),
    )
    return "\n".join([_HEAD, *(_table(name, kind, words) for name, kind, words in tables)])


def _table(name: str, kind: str, words: Mapping[OutcomeCode, Words]) -> str:
    known = ((code, " ".join(words[code])) for code in OutcomeCode if code in words)
    lines = [f"  {code.value}: {json.dumps(sentence, ensure_ascii=False)}," for code, sentence in known]
    return "\n".join([f"export const {name}: {kind} = {{", *lines, "};", ""])
