"""Locales, for providers that declare them: the language that was asked for, and no other."""

from __future__ import annotations

from collections import Counter

from knowledge_conformance.expectations import answered, results_in
from knowledge_conformance.findings import Failed, Skipped
from knowledge_conformance.registry import Need, check
from knowledge_conformance.subject import Subject

_NOBODYS = "tlh"  # a language in which no help centre is written
_OBEY = "With `locale`, answer passages in that language alone; where you have none, an empty list."


@check(
    "locale.labelled",
    "Some result carries `locale`, as declared",
    fix="Write the language of the passage into each result.",
    need=Need.RESULTS,
)
async def labelled(subject: Subject) -> str:
    _declared(subject, "locale")
    count = len(subject.seen.values("locale"))
    if not count:
        raise Failed(f"none of {len(subject.seen.results)} results carries it")
    return f"{count} of {len(subject.seen.results)} results carry it"


@check("locale.obeyed", "Asked for one language, it answers in that language", fix=_OBEY, need=Need.RESULTS)
async def obeyed(subject: Subject) -> str:
    _declared(subject, "locale")
    query, locale = _known(subject)
    results = results_in(await subject.ask({"query": query, "limit": 10, "locale": locale}))
    if not results:
        raise Failed("with the language of what it found before, it found nothing")
    return _all_in(results, locale)


@check(
    "locale.nothing-else", "Asked for a language that it has not, it answers in no other", fix=_OBEY, need=Need.RESULTS
)
async def nothing_else(subject: Subject) -> str:
    _declared(subject, "locale")
    query, _ = _known(subject)
    return _all_in(results_in(await subject.ask({"query": query, "limit": 10, "locale": _NOBODYS})), _NOBODYS)


@check(
    "locale.any-tag",
    "Every well-formed tag is taken",
    fix="Take tags that you do not know, with any subtags, as a language in which you have nothing.",
)
async def any_tag(subject: Subject) -> str:
    _declared(subject, "locale")
    for locale in ("zh-Hant-TW", "de-CH-1901", "x-house", "en-US-u-hc-h12"):
        answered(await subject.ask({"query": subject.queries[0], "limit": 3, "locale": locale}))
    return "four were taken"


@check(
    "locale-fallback.obeyed",
    "Where it has nothing in the language asked for, it answers in the fallback's",
    fix="With `localeFallback`, answer passages in that language where you have none in `locale`.",
    need=Need.RESULTS,
)
async def fallback(subject: Subject) -> str:
    _declared(subject, "localeFallback")
    query, locale = _known(subject)
    fields = {"query": query, "limit": 10, "locale": _NOBODYS, "localeFallback": locale}
    results = results_in(await subject.ask(fields))
    if not results:
        raise Failed("in the fallback's language, in which it has something, it found nothing")
    return _all_in(results, locale)


def _declared(subject: Subject, name: str) -> None:
    if name not in subject.seen.declared:
        raise Skipped(f"{name} is not declared")


def _known(subject: Subject) -> tuple[str, str]:
    """The query that found most, and the commonest locale among its results."""
    found = [
        result["locale"]
        for one, reading in subject.seen.readable
        if one.query == subject.seen.query
        for result in reading.results
        if isinstance(result, dict) and isinstance(result.get("locale"), str)
    ]
    if not found:
        raise Skipped("no result says its language, so no other can be told from it")
    return subject.seen.query, Counter(found).most_common(1)[0][0]


def _all_in(results: list[dict[str, object]], locale: str) -> str:
    """By language alone: `zh-Hant` is in `zh`, and may stand in for `zh-TW`."""
    others = [
        one for one in results if isinstance(one.get("locale"), str) and _language(one["locale"]) != _language(locale)
    ]
    if others:
        raise Failed(f"{len(others)} of {len(results)} results are in another language")
    return f"{len(results)} results, none in another language"


def _language(tag: object) -> str:
    return str(tag).partition("-")[0].lower()
