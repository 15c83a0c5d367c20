"""`knowledge-conformance URL --secret-env VAR`: examines a provider and says what to do.

Exit codes: 0 passed, 1 failed, 2 the call makes no sense or nothing could be judged, 3 the provider cannot be reached,
130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from knowledge_conformance.baseline import BadBaseline, Verdict, judged, read_baseline
from knowledge_conformance.client import Fault
from knowledge_conformance.findings import Status
from knowledge_conformance.junit import junit_of
from knowledge_conformance.public_urls import is_loopback
from knowledge_conformance.report import Report, as_json
from knowledge_conformance.requirements import PROFILES
from knowledge_conformance.run import QUERIES, Interrupted, NothingToJudge, Unreachable, run, selected
from knowledge_conformance.text_report import listing, text_of

PASSED, FAILED, USAGE, UNREACHABLE = range(4)
INTERRUPTED = 130
_MAX_QUERY_CHARACTERS = 1024
_NAME = "Name the provider's base URL, without a query and without a user name: https://kb.example.com/v1"


class _Usage(Exception):
    """The call makes no sense; the message says why."""


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.list:
        print(listing(), end="")
        return PASSED
    try:
        return _examine(options)
    except (_Usage, BadBaseline, NothingToJudge) as error:
        print(error, file=sys.stderr)
        return USAGE
    except Unreachable as error:
        print(_why(error), file=sys.stderr)
        return UNREACHABLE
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED


def _why(error: Unreachable) -> str:
    if error.reply.fault is Fault.UNREACHABLE:
        return "No connection could be made. Is the address right, and is the provider running?"
    return f"No connection could be made: {error.reply.words}"


def _examine(options: argparse.Namespace) -> int:
    url = _checked_url(options.url, allow_http_loopback=options.allow_http_loopback)
    secret = _secret(options.secret_env)
    previous = _secret(options.previous_secret_env) if options.previous_secret_env else None
    baseline = read_baseline(options.baseline) if options.baseline else frozenset()
    selected(profile=options.profile, only=options.only)
    queries = tuple(_query(text) for text in options.query or QUERIES)
    for file in (options.json, options.junit):
        _check_place(file)
    try:
        report = run(
            url,
            secret,
            previous_secret=previous,
            profile=options.profile,
            only=options.only,
            queries=queries,
            timeout_s=options.timeout,
        )
    except Interrupted as interrupted:
        return _interrupted(options, interrupted.report, baseline)
    verdict = judged(report, baseline)
    print(text_of(report, verdict), end="")
    _write(options, report, verdict)
    if not report.is_judged:
        return USAGE
    return PASSED if verdict.ok else FAILED


def _interrupted(options: argparse.Namespace, report: Report, baseline: frozenset[str]) -> int:
    open_ = len(report.ids(Status.NOT_RUN))
    print(f"Interrupted: {open_} of {len(report.findings)} checks were not run.", file=sys.stderr)
    _write(options, report, judged(report, baseline))
    return INTERRUPTED


def _query(text: str) -> str:
    """Raises `_Usage` for what no gateway would ask."""
    is_text = text.encode("utf-8", "replace").decode() == text
    if not text.strip() or len(text) > _MAX_QUERY_CHARACTERS or not is_text:
        raise _Usage(f"A --query is a question of 1 to {_MAX_QUERY_CHARACTERS:,} characters.")
    return text


def _check_place(file: Path | None) -> None:
    """Before anything is asked: no directory is made, so a slip in the path makes none."""
    if file and (file.is_dir() or not file.parent.is_dir()):
        raise _Usage(f"A report cannot be written to {file}: there is no such directory, or it is one.")


def _write(options: argparse.Namespace, report: Report, verdict: Verdict) -> None:
    try:
        if options.json:
            document = as_json(report, ok=verdict.ok, expected=verdict.expected)
            options.json.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        if options.junit:
            options.junit.write_bytes(junit_of(report, verdict))
    except OSError as error:
        raise _Usage(f"A report could not be written: {error.strerror}.") from None


def _checked_url(text: str | None, *, allow_http_loopback: bool) -> str:
    if text and "://" not in text:
        raise _Usage("The address has to begin with https:// (or http:// for one on this machine).")
    if text and not re.fullmatch("[!-~]+", text):
        raise _Usage("The address has a space or a character beyond ASCII. Write it as it is sent, with xn-- and %.")
    try:
        parts = urlsplit(text or "")
        host, _ = parts.hostname or "", parts.port
        is_host = not host or _is_host(httpx.URL(parts.geturl()).host)
    except (ValueError, httpx.InvalidURL):  # idna's faults are of the former kind
        is_host = False
    if not is_host:
        raise _Usage("The address is no URL: look at its host, its port and its brackets.")
    if not host or parts.query or parts.fragment or "@" in parts.netloc:
        raise _Usage(_NAME)
    if parts.scheme == "http" and allow_http_loopback and is_loopback(host):
        return parts.geturl()
    if parts.scheme != "https":
        raise _Usage("The address has to begin with https://. For one on this machine: --allow-http-loopback.")
    return parts.geturl()


def _is_host(host: str) -> bool:
    return ":" in host or all(host.removesuffix(".").split("."))


def _secret(variable: str | None) -> str:
    """The secret in an environment variable; on a command line, everybody on the machine could read it."""
    if not variable:
        raise _Usage("Name the environment variable that holds the signing secret: --secret-env VAR")
    secret = os.environ.get(variable)
    if secret is None:
        raise _Usage(f"There is no environment variable {variable}. Is it exported?")
    if not 16 <= len(secret) <= 256:
        raise _Usage(f"The environment variable {variable} holds {len(secret)} characters; a secret has 16 to 256.")
    if not re.fullmatch("[!-~]+", secret):
        raise _Usage(f"The environment variable {variable} holds a space, a line end or a character beyond ASCII.")
    return secret


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="knowledge-conformance", description=(__doc__ or "").partition(": ")[2].strip()
    )
    parser.add_argument("url", nargs="?", help="the provider's base URL, as it is registered")
    parser.add_argument("--secret-env", metavar="VAR", help="environment variable that holds the signing secret")
    parser.add_argument("--previous-secret-env", metavar="VAR", help="the other accepted secret, during a rotation")
    parser.add_argument("--profile", choices=PROFILES, default="full", help="full also sends what no gateway sends")
    parser.add_argument("--query", action="append", metavar="TEXT", help="a question that finds several passages")
    parser.add_argument("--only", nargs="+", action="extend", default=[], metavar="ID", help="these checks alone")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="ids of expected failures, one a line")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a report for machines")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write a report for continuous integration")
    parser.add_argument(
        "--timeout", type=_seconds, default=10.0, metavar="S", help="for one answer; 10, as the contract has it"
    )
    parser.add_argument(
        "--allow-http-loopback", action="store_true", help="take http:// for an address on this machine"
    )
    parser.add_argument("--list", action="store_true", help="show every check and end")
    return parser


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= 60:
        raise argparse.ArgumentTypeError("from 0 to 60 seconds")
    return seconds
