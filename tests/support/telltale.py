"""Words that stand for what must not get about, and where each of them was found all the same.

Every secret thing in a test carries one of these words: `WORDS[0]` and its like are in no other text of the project. A
word is found in whatever case and inside whatever else.
"""

from __future__ import annotations

import re
from typing import Final

KEY: Final = "zqkey"  # of a service
ACCOUNT: Final = "zqaccount"  # whose keys they are
QUERY: Final = "zqquery"
PRODUCT: Final = "zqproduct"
REPOSITORY: Final = "zqrepository"  # named by a caller
URL: Final = "zqurl"  # of what a caller wants fetched
OPTION: Final = "zqoption"  # what a caller gives to a tool
HIDDEN: Final = "zqhidden"  # what a service says and nobody needs to know
SHOWN: Final = "zqshown"  # what a service says and a caller is meant to read: passages, citations, results of tools
TOOL: Final = "zqtool"  # the name of a tool, which quotes and receipts carry
LISTED: Final = "zqlisted"  # a repository in an operator's own list, which the registration and its audit carry
REMOTE: Final = "zqremote"  # the id of a knowledge base, which its binding and the audit carry
NAMED: Final = "zqnamed"  # what a server calls a knowledge base: a catalog shows it, and a binding keeps a copy
WORDS: Final = (KEY, ACCOUNT, QUERY, PRODUCT, REPOSITORY, URL, OPTION, HIDDEN, SHOWN, TOOL, LISTED, REMOTE, NAMED)
_ANY = re.compile("|".join(WORDS), re.IGNORECASE)


def told_by(text: str, *, meant: tuple[str, ...] = ()) -> set[str]:
    """The words in a text, without those that are meant to be there."""
    return {word.lower() for word in _ANY.findall(text)} - set(meant)
