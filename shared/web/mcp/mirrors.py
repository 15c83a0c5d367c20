"""What an agent's answers say, as text: passages with their citations, and what happened where.

Each function shows its wire model and nothing beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from shared.domain.outcomes import GOOD, AnswerStatus
from shared.web.agent_answers import AgentAnswerOut, AgentResultOut, DiscoveryOut, OutcomeOut
from shared.web.card_answers import LookupOut, MatchOut
from shared.web.mcp.card_texts import card_texts, looked_up, matched
from shared.web.mcp.mirror import UNTRUSTED, Mirror, counted, locale_words
from shared.web.mcp.quoting import Fences, named
from shared.web.named_provider import ProviderOut
from shared.web.outcome_words import OUTCOME_WORDS
from shared.web.shown_cards import CardOut


def search_mirror(out: AgentAnswerOut) -> Mirror:
    """An error where no provider gave anything: then nothing is known, which is not that there is nothing."""
    fences = Fences.around([*(result.snippet for result in out.results), *(card.body for card in out.cards)])
    passages = [_passage(result, number, fences) for number, result in enumerate(out.results, start=1)]
    is_error = out.status is AnswerStatus.FAILED
    blocks = [*passages, *_discoveries(out.discoveries), *card_texts(out.cards, fences, heading=_card_heading)]
    shown = [*_outcomes(out.providers), *blocks] if is_error else [*blocks, *_outcomes(out.providers)]
    return Mirror(head="\n".join(_search_head(out)), blocks=shown, is_error=is_error)


def lookup_mirror(out: LookupOut) -> Mirror:
    return looked_up(out.results, dropped=out.dropped, heading=_card_heading)


def match_mirror(out: MatchOut) -> Mirror:
    return matched(out.cards, dropped=out.dropped, heading=_card_heading)


def _search_head(out: AgentAnswerOut) -> list[str]:
    lines = [_found(out)]
    if out.discoveries:
        lines.append(f"{counted(len(out.discoveries), 'place')} to look, without text: leads, not evidence.")
    if out.cards_status is not None:
        lines.append(f"Glossary cards: {len(out.cards)} (the collections were looked through: {out.cards_status}).")
    if out.results or out.cards or out.discoveries:
        lines.append(UNTRUSTED)
    return lines


def _found(out: AgentAnswerOut) -> str:
    silent = sum(outcome.status not in GOOD for outcome in out.providers)
    every = len(out.providers)
    if out.results:
        lacking = f" {silent} of {counted(every, 'source')} gave nothing: see the end." if silent else ""
        return f"{counted(len(out.results), 'passage')} found.{lacking}"
    if out.status is AnswerStatus.FAILED:
        return (
            f"The search failed: not one of {counted(every, 'source')} could be searched, so nothing is known about "
            "whether there is an answer. What happened at each is below."
        )
    if silent == every:
        return (
            "Nothing found: no source was searched. This credential reaches none, or none of those that `providers` "
            "names."
        )
    if silent:
        return (
            f"Nothing found where it was looked for, but {silent} of {counted(every, 'source')} could not be searched: "
            "there may be an answer all the same. What happened at each is below."
        )
    return (
        f"Nothing found: every source was searched ({every}), and none has a passage for this query. Other words, or "
        "the words of another language, may find one."
    )


def _passage(result: AgentResultOut, number: int, fences: Fences) -> str:
    facts = [
        f"source: {provider_words(result.provider)}",
        f"url: {address(result.url)}" if result.url else f"document: {named(result.document_id)}",
        *locale_words(result.locale, is_fallback=result.locale_fallback),
        f"freshness: {result.freshness}",
        f"evidence: {result.evidence}",
        f"audience: {result.audience}",
        *(["truncated: the text goes on"] if result.truncated else []),
    ]
    lines = [f"[{number}] {named(result.title)}", " · ".join(facts)]
    return "\n".join([*lines, fences.put(result.snippet, name=f"passage {number}")])


def _discoveries(discoveries: Sequence[DiscoveryOut]) -> list[str]:
    return ["Places to look:\n" + "\n".join(_discovery(each) for each in discoveries)] if discoveries else []


def _discovery(found: DiscoveryOut) -> str:
    library = f" · library: {named(found.library)}" if found.library else ""
    version = f" {named(found.library_version)}" if found.library_version else ""
    title = f"{named(found.title)} " if found.title else ""
    return f"- {title}{address(found.url)} · source: {provider_words(found.provider)}{library}{version}"


def _card_heading(card: CardOut) -> str:
    return f"card: {named(card.title)} ({card.id} of {card.collection_id})"


def _outcomes(outcomes: Sequence[OutcomeOut]) -> list[str]:
    return ["What happened at the sources:\n" + "\n".join(_outcome(each) for each in outcomes)] if outcomes else []


def _outcome(outcome: OutcomeOut) -> str:
    who = f"{named(outcome.name)} ({named(outcome.id)})" if outcome.name is not None else named(outcome.id)
    if outcome.error_code is None:
        what = f"{outcome.status}, {counted(outcome.result_count, 'result')}."
    else:
        what = f"{outcome.status}, {outcome.error_code}: {OUTCOME_WORDS[outcome.error_code].happened}"
    again = f" Try again at {outcome.retry_at}." if outcome.retry_at else ""
    warned = f" Warnings: {', '.join(outcome.warnings)}." if outcome.warnings else ""
    return f"- {who}: {what}{again}{warned}"


def provider_words(provider: ProviderOut) -> str:
    return f"{named(provider.name)} ({provider.kind}, {provider.id})"


def address(url: str) -> str:
    """Whole: a shorter one leads elsewhere."""
    return named(url, at_most=len(url))
