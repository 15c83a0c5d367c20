"""Locales, for providers that declare them: the language that was asked for, and no other."""

from __future__ import annotations

from collections import Counter
from typing import Any

from knowledge_conformance.expectations import asked, results_of
from knowledge_conformance.findings import Failed, Skipped
from knowledge_conformance.registry import Need, check
from knowledge_conformance.subject import Subject

_NOBODYS, _NOBODYS_EITHER = "tlh", "vo"  # languages in which no help centre is written
_MOST_LANGUAGES = 6
_OBEY = "With `locale`, answer passages in that language alone; where you have none, an empty list."


@check(
    "locale.labelled",
    "Some result carries `locale`, as declared",
    fix="Write the language of the passage into each result.",
    need=Need.RESULTS,
    is_late=True,
)
async def labelled(subject: Subject) -> str:
    _declared(subject, "locale")
    count = len(subject.seen.values("locale"))
    if not count:
        raise Failed(f"none of {len(subject.seen.all_results)} results carries it")
    return f"{count} of {len(subject.seen.all_results)} results carry it"


@check("locale.obeyed", "Asked for one language, it answers in that language", fix=_OBEY, need=Need.RESULTS)
async def obeyed(subject: Subject) -> str:
    """Each language that was seen, with the question that found most in it."""
    _declared(subject, "locale")
    return (await subject.each(_in_language(subject, query, locale) for query, locale in _known(subject)))[0]


@check(
    "locale.nothing-else", "Asked for a language that it has not, it answers in no other", fix=_OBEY, need=Need.RESULTS
)
async def nothing_else(subject: Subject) -> str:
    _declared(subject, "locale")
    query, _ = _known(subject)[0]
    return _all_in(await results_of(subject, {"query": query, "limit": 10, "locale": _NOBODYS}), _NOBODYS)


@check(
    "locale.any-tag",
    "Every well-formed tag is taken",
    fix="Take tags that you do not know, with any subtags, as a language in which you have nothing.",
)
async def any_tag(subject: Subject) -> str:
    _declared(subject, "locale")
    tags = ("zh-Hant-TW", "de-CH-1901", "x-house", "en-US-u-hc-h12")
    await subject.each(asked(subject, {"query": subject.queries[0], "limit": 3, "locale": tag}) for tag in tags)
    return "four were taken"


@check(
    "locale-fallback.obeyed",
    "Where it has nothing in the language asked for, it answers in the fallback's",
    fix="With `localeFallback`, answer passages in that language where you have none in `locale`.",
    need=Need.RESULTS,
)
async def fallback(subject: Subject) -> str:
    _declared(subject, "localeFallback")
    asked_for = [_fields(query, _NOBODYS, fallback=locale) for query, locale in _known(subject)]
    found = await subject.each(results_of(subject, fields) for fields in asked_for)
    if not all(found):
        raise Failed("in a fallback's language, in which it has something, it found nothing")
    words = [_all_in(some, fields["localeFallback"]) for some, fields in zip(found, asked_for, strict=True)]
    return words[0]


@check(
    "locale-fallback.not-needed",
    "Where it has something in the language asked for, the fallback changes nothing",
    fix="Look at `localeFallback` only where you have nothing in `locale`; never answer both languages together.",
    need=Need.RESULTS,
)
async def not_needed(subject: Subject) -> str:
    _declared(subject, "localeFallback")
    known = _known(subject)
    if len(known) < 2:
        raise Skipped("results in one language alone were seen, so there is no other to fall back on")
    (query, locale), (_, other) = known[:2]
    results = await results_of(subject, _fields(query, locale, fallback=other))
    if not results:
        raise Failed("with the language of what it found before, it found nothing")
    return _all_in(results, locale)


@check(
    "locale-fallback.nothing-else",
    "Where it has nothing in the fallback's language either, it answers in no other",
    fix="Answer an empty list where you have passages in neither language.",
    need=Need.RESULTS,
)
async def neither(subject: Subject) -> str:
    _declared(subject, "localeFallback")
    query, _ = _known(subject)[0]
    return _all_in(await results_of(subject, _fields(query, _NOBODYS, fallback=_NOBODYS_EITHER)), _NOBODYS_EITHER)


async def _in_language(subject: Subject, query: str, locale: str) -> str:
    results = await results_of(subject, {"query": query, "limit": 10, "locale": locale})
    if not results:
        raise Failed("with the language of what it found before, it found nothing")
    return _all_in(results, locale)


def _fields(query: str, locale: str, *, fallback: str) -> dict[str, Any]:
    return {"query": query, "limit": 10, "locale": locale, "localeFallback": fallback}


def _declared(subject: Subject, name: str) -> None:
    if name not in subject.seen.declared:
        raise Skipped(f"{name} is not declared")


def _known(subject: Subject) -> list[tuple[str, str]]:
    """For each language that was seen, the commonest first: the question that found most in it, and its tag."""
    found = Counter(
        (_language(result["locale"]), one.query, result["locale"])
        for one, reading in subject.seen.readable
        for result in reading.results
        if isinstance(result, dict) and isinstance(result.get("locale"), str)
    )
    if not found:
        raise Skipped("no result says its language, so no other can be told from it", because=("locale.labelled",))
    best: dict[str, tuple[str, str]] = {}
    for (language, query, tag), _ in found.most_common():
        best.setdefault(language, (query, tag))
    return list(best.values())[:_MOST_LANGUAGES]


def _all_in(results: list[dict[str, Any]], locale: str) -> str:
    """By language alone: `zh-Hant` is in `zh`, and may stand in for `zh-TW`."""
    told = [one for one in results if isinstance(one.get("locale"), str)]
    others = [one for one in told if _language(one["locale"]) != _language(locale)]
    if others:
        raise Failed(f"{len(others)} of {len(results)} results are in another language")
    if results and not told:
        raise Skipped(f"none of {len(results)} results says its language")
    return f"{len(results)} results, none in another language"


def _language(tag: object) -> str:
    return str(tag).partition("-")[0].lower()
