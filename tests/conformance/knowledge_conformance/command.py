"""`knowledge-conformance URL --secret-env VAR`: examines a provider and says what to do.

Exit codes: 0 passed, 1 failed, 2 the call makes no sense, 3 the provider cannot be reached.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

from knowledge_conformance.baseline import BadBaseline, Verdict, judged, read_baseline
from knowledge_conformance.junit import junit_of
from knowledge_conformance.public_urls import is_loopback
from knowledge_conformance.report import Report, as_json
from knowledge_conformance.requirements import PROFILES, requirements
from knowledge_conformance.run import QUERIES, Unreachable, run
from knowledge_conformance.text_report import listing, text_of

PASSED, FAILED, USAGE, UNREACHABLE = range(4)


class _Usage(Exception):
    """The call makes no sense; the message says why."""


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.list:
        print(listing(), end="")
        return PASSED
    try:
        return _examine(options)
    except (_Usage, BadBaseline) as error:
        print(error, file=sys.stderr)
        return USAGE
    except Unreachable:
        print("No connection could be made. Is the address right, and is the provider running?", file=sys.stderr)
        return UNREACHABLE


def _examine(options: argparse.Namespace) -> int:
    url = _checked_url(options.url, allow_http_loopback=options.allow_http_loopback)
    secret = _secret(options.secret_env)
    previous = _secret(options.previous_secret_env) if options.previous_secret_env else None
    baseline = read_baseline(options.baseline) if options.baseline else frozenset()
    if unknown := sorted(set(options.only) - requirements().keys()):
        raise _Usage(f"There is no check {', '.join(unknown)}; --list shows all.")
    report = run(
        url,
        secret,
        previous_secret=previous,
        profile=options.profile,
        only=options.only,
        queries=options.query or QUERIES,
        timeout_s=options.timeout,
    )
    verdict = judged(report, baseline)
    print(text_of(report, verdict), end="")
    _write(options, report, verdict)
    return PASSED if verdict.ok else FAILED


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
    parts = urlsplit(text or "")
    if not parts.hostname or parts.query or parts.fragment or "@" in parts.netloc:
        raise _Usage("Name the provider's base URL, without a query and without a user name: https://kb.example.com/v1")
    if parts.scheme == "http" and allow_http_loopback and is_loopback(parts.hostname):
        return parts.geturl()
    if parts.scheme != "https":
        raise _Usage("The address has to begin with https://. For one on this machine: --allow-http-loopback.")
    return parts.geturl()


def _secret(variable: str | None) -> str:
    """The secret in an environment variable; on a command line, everybody on the machine could read it."""
    if not variable:
        raise _Usage("Name the environment variable that holds the signing secret: --secret-env VAR")
    secret = os.environ.get(variable, "")
    if not re.fullmatch("[!-~]{16,256}", secret):
        raise _Usage(f"The environment variable {variable} holds no secret: 16 to 256 visible characters, no spaces.")
    return secret


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="knowledge-conformance", description=(__doc__ or "").partition(":")[2].strip()
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
