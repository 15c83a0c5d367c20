"""`python -m tests.hostile [WORD ...]`: starts a gateway, has it ask every provider of the catalogue, and prints which
outcome each got. WORDs choose those whose names hold one. Exits with 1 where one has cost more than it may.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.e2e.running import running
from tests.hostile.catalogue import CASES
from tests.hostile.judgement import faults, faults_of_search, words_in_logs
from tests.hostile.table import table
from tests.hostile.trial import ask, batches, misbehaving


def main(*words: str) -> int:
    cases = [case for case in CASES.values() if not words or any(word in case.id for word in words)]
    with (
        tempfile.TemporaryDirectory() as directory,
        running(Path(directory)) as gateway,
        misbehaving() as hostile,
    ):
        began_s = time.monotonic()
        findings = [finding for batch in batches(cases) for finding in ask(gateway, hostile, batch)]
        took_s, leaked = time.monotonic() - began_s, words_in_logs(gateway)
    print(table(findings))
    searches = {id(finding.search): finding.search for finding in findings}
    wrong = [fault for search in searches.values() for fault in faults_of_search(search)]
    wrong += [f"{finding.case.id}: {fault}" for finding in findings for fault in faults(finding)]
    wrong += [f"in the logs: {word}" for word in sorted(leaked)]
    print(f"\n{len(findings)} behaviours in {took_s:.0f} s, {len(wrong)} wrong", *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
