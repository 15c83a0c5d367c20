"""`python -m knowledge_conformance` is `knowledge-conformance`."""

from __future__ import annotations

import sys

from knowledge_conformance.command import main

if __name__ == "__main__":
    sys.exit(main())
