"""The Unicode normal form NFKC, in a time that grows with the text alone.

The standard library sorts a run of combining marks by moving each to its place, one step at a time: seconds, for the
worst run that fits in a request. Here long texts come to it sorted. The result is the same: NFKC of a text is that of
its decomposition, and that is the decomposition of each character with every run of marks sorted, equals staying in
their order.
"""

from __future__ import annotations

import unicodedata
from itertools import groupby

_SHORT_CHARACTERS = 256  # not worth it: a millisecond at the worst


def nfkc(text: str) -> str:
    """Exactly `unicodedata.normalize("NFKC", text)`."""
    if len(text) <= _SHORT_CHARACTERS or text.isascii():
        return unicodedata.normalize("NFKC", text)
    return unicodedata.normalize("NFKC", _decomposed(text))


def _decomposed(text: str) -> str:
    """As it is, where it holds no marks to sort."""
    forms = {character: unicodedata.normalize("NFKD", character) for character in set(text)}
    classes = {part: unicodedata.combining(part) for form in forms.values() for part in form}
    if not any(classes.values()):
        return text
    runs = groupby("".join([forms[character] for character in text]), key=lambda part: classes[part] > 0)
    return "".join(["".join(sorted(run, key=classes.__getitem__)) if marks else "".join(run) for marks, run in runs])
