"""What the operator command says: paste-ready lines and answers that can be read."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from infra.cli.demo_providers import DemoProvider
from infra.cli.demo_servers import DEMO_FASTGPT_KEY
from infra.cli.state import LOCAL
from infra.cli.tables import plain, shortened
from infra.cli.terminal import Lines

QUESTION: dict[str, Any] = {"query": "refund override code", "limit": 4, "deadlineMs": 4000}
SERVER_QUESTION: dict[str, Any] = {"query": "when does the north quay close", "limit": 4}
SEARCH = "/api/v1/knowledge/search"
ACQUIRE = "/api/v1/knowledge/acquire"
ALEXANDRIA = "/api/v1/knowledge/alexandria"
TOOL = {"provider": "tidebook", "capability": "predictions"}
SOURCE = {"url": "https://docs.harbour.test/gangway/boarding", "freshness": "force"}
_REFUSE = json.dumps({"service": "exa", "mode": "refuse_rate", "key": "0001", "retry_after_s": 60})
WIDGET_SEARCH = "/api/v1/knowledge/widget/search"
CARD_TEXT = "My EV is on the Mellvik Star; 渡轮卡怎么续费?"
_SNIPPET_CHARACTERS = 150
_MOST_DISCOVERIES = 3


def welcome(local: Mapping[str, Any], providers: Sequence[DemoProvider]) -> Lines:
    lines: Lines = [f"Knowledge Gateway serves {local['url']} (Ctrl-C ends it).", ""]
    lines += [
        f"  {name:<10} {local[name]}" for name in ("admin", "agent", "assistant", "widget", "origin") if name in local
    ]
    lines += [f"  The same is in {LOCAL}, readable by you alone.", ""]
    lines += [*_pages(local), ""]
    if not providers:
        return [*lines, *_first_steps(local)]
    lines += ["Four providers of Lumsund Line, an invented ferry company, are registered:"]
    lines += [_provider_line(provider, local["providers"][provider.demo.key]["id"]) for provider in providers]
    lines += ["Five live services, for which a process on this machine stands in, are registered for agents:"]
    lines += [f"  {live['name']:<17} {'agent_only':<14} {live['id']}" for live in local["live"].values()]
    lines += ["Four knowledge bases of self-hosted servers, for which the same process stands in, are bound:"]
    lines += [f"  {each['name']:<17} {each['exposureProfile']:<14} {each['id']}" for each in local["servers"].values()]
    return [*lines, "", *_calls(local), *_experiments(local)]


def answer_text(answer: Mapping[str, Any]) -> Lines:
    """An answer to a search, of either projection, for people."""
    found, further = _result_lines(answer["results"]), _discovery_lines(answer.get("discoveries", ()))
    return [*found, *further, *_outcome_lines(answer)]


def cards_text(found: Mapping[str, Any]) -> Lines:
    """An answer to a look-up, for people."""
    return [line for term, cards in found["results"].items() for line in _card_lines(term, cards)]


def pools_text(answer: Mapping[str, Any], *, now: datetime) -> Lines:
    """The pools of keys, for people: each key by its name, and when one that rests is back."""
    return [line for pool in answer["pools"] for line in _pool_lines(pool, now=now)]


def curl(url: str, token: str, body: Mapping[str, Any], *headers: str) -> str:
    every = [f"Authorization: Bearer {token}", "Content-Type: application/json", *headers]
    options = " ".join(f"-H {shlex.quote(header)}" for header in every)
    return f"curl -s {url} {options} -d {shlex.quote(json.dumps(body, ensure_ascii=False))}"


def _provider_line(provider: DemoProvider, provider_id: str) -> str:
    demo = provider.demo
    note = f"  {demo.note}" if demo.note else ""
    return f"  {demo.name:<17} {demo.exposure_profile:<14} {provider_id}  pid {provider.pid}{note}"


def _pages(local: Mapping[str, Any]) -> Iterator[str]:
    yield "Open in a browser:"
    if "website" in local:
        yield f"  {local['website']}  a website with the widget on it"
    yield f"  {local['console']}  the console, with the admin's token"


def _calls(local: Mapping[str, Any]) -> Iterator[str]:
    url = local["url"]
    public = {"query": QUESTION["query"], "limit": QUESTION["limit"]}
    yield "An agent sees public and internal passages, and how each provider did:"
    yield "  " + curl(url + SEARCH, local["agent"], QUESTION)
    asked = [each["id"] for each in local["servers"].values()]
    yield "At the self-hosted servers alone it finds, for instance:"
    yield "  " + curl(url + SEARCH, local["agent"], SERVER_QUESTION | {"providers": asked})
    yield "An assistant sees public passages alone:"
    yield "  " + curl(url + SEARCH, local["assistant"], public)
    yield "So does the widget of a website, from its own origin:"
    yield "  " + curl(url + WIDGET_SEARCH, local["widget"], public, f"Origin: {local['origin']}")
    collection = f"{url}/api/v1/collections/{local['collection']}/context-cards"
    yield "What words of the ferry mean, by looking them up, and in a text:"
    yield "  " + curl(collection + "/lookup", local["agent"], {"terms": ["ferry pass", "渡轮卡", "Поромна картка"]})
    yield "  " + curl(collection + "/match", local["assistant"], {"text": CARD_TEXT})
    yield f"  .venv/bin/kgw cards lookup --collection {local['collection']} EV 餐券"
    yield "An agent fetches one approved source; looks for tools that cost credits; asks what one would cost:"
    yield "  " + curl(url + ACQUIRE, local["agent"], SOURCE)
    yield "  " + curl(url + ALEXANDRIA + "/search", local["agent"], {"query": "tide predictions"})
    yield "  " + curl(url + ALEXANDRIA + "/inspect", local["agent"], {"tool": TOOL})
    yield "An admin administers, and searches nothing:"
    yield f"  curl -s {url}/api/v1/knowledge/providers -H 'Authorization: Bearer {local['admin']}'"
    yield ""


def _experiments(local: Mapping[str, Any]) -> Iterator[str]:
    internal, public = local["providers"]["internal"], local["providers"]["public"]
    path = f"/api/v1/knowledge/providers/{public['id']}/rotate-secret"
    yield f"Stop the internal provider and ask again:  kill {internal['pid']}"
    yield "Have the first Exa key refused; then  .venv/bin/kgw search gates  and  .venv/bin/kgw keys status  tell:"
    yield f"  curl -s {local['standIns']['controlUrl']} -H 'Content-Type: application/json' -d {shlex.quote(_REFUSE)}"
    fastgpt = local["standIns"]["servers"][local["servers"]["fastgpt"]["standIn"]]
    yield "Try a self-hosted server as one that you might register; the report names nothing of it:"
    yield f"  KEY={DEMO_FASTGPT_KEY} .venv/bin/kgw accept fastgpt --base-url {fastgpt} --key-env KEY --allow-loopback"
    yield f"Rotate a secret, then write `secret` of the answer to {public['secretFile']}:"
    yield "  " + curl(local["url"] + path, local["admin"], {"windowHours": 24})
    yield ""
    yield "This is what the agent's call answers:"


def _first_steps(local: Mapping[str, Any]) -> Iterator[str]:
    new = {"name": "My provider", "exposureProfile": "customer_safe", "baseUrl": "http://127.0.0.1:9999"}
    yield "Nothing is registered yet. Register a provider; its signing secret is in the answer, once:"
    yield "  " + curl(local["url"] + "/api/v1/knowledge/providers", local["admin"], new)


def _result_lines(results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not results:
        yield "  no passages"
    for number, result in enumerate(results, start=1):
        where = f"  ({result['provider']['name']})" if "provider" in result else ""
        yield f"  {number}. {_shortened(result['title'])}{where}"
        yield f"     {_shortened(result['snippet'])}"
        if result.get("url"):
            yield f"     {plain(result['url'])}"


def _discovery_lines(discoveries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Each address once."""
    urls = list(dict.fromkeys(plain(discovery["url"]) for discovery in discoveries))
    if urls:
        yield "  Somewhere to look further:"
    yield from (f"     {url}" for url in urls[:_MOST_DISCOVERIES])
    if len(urls) > _MOST_DISCOVERIES:
        yield f"     and {len(urls) - _MOST_DISCOVERIES} more"


def _card_lines(term: str, cards: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"{plain(term)}: {'no card' if not cards else ''}".rstrip()
    for card in cards:
        yield f"  {plain(card['title'] or card['keys'][0])}  ({plain(', '.join(card['keys']))})"
        yield f"     {_shortened(card['body'])}"


def _pool_lines(pool: Mapping[str, Any], *, now: datetime) -> Iterator[str]:
    counts = f"{pool['configured']} keys, {pool['usable']} usable, {pool['resting']} resting"
    ready = pool["readyAgainAt"]
    counts = counts if pool["configured"] else "no keys" if pool["takesKeys"] else "takes no keys"
    yield f"{pool['pool']:<10} {counts}{_until('; ready again', ready, now=now)}"
    for key in pool["keys"]:
        told = _until(f"{key['reason'] or ''} until", key["restingUntil"], now=now)
        yield f"  {plain(key['name']):<24} {key['state']:<8}{told}".rstrip()
    for name in pool["unusable"]:
        yield f"  {plain(name):<24} is no key and is not used"


def _until(words: str, moment: str | None, *, now: datetime) -> str:
    if moment is None:
        return ""
    at = datetime.fromisoformat(moment)
    left = timedelta(seconds=max(0, round((at - now).total_seconds())))
    return f"{words} {at:%Y-%m-%d %H:%M:%S} UTC (in {left})"


def _outcome_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    if "providers" not in answer:
        return
    yield f"  status {answer['status']}"
    for outcome in answer["providers"]:
        told = outcome["errorCode"] or f"{outcome['resultCount']} passages"
        name = outcome["name"] or outcome["id"]
        yield f"     {name:<17} {outcome['status']:<8} {told:<16} {outcome['durationMs']} ms"


def _shortened(text: str) -> str:
    return shortened(text, _SNIPPET_CHARACTERS)
