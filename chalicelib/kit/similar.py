"""The known word that somebody probably meant."""

from collections.abc import Iterable

MAX_CHARACTERS = 100
"""Of a word that is compared: nobody misspells so long a name, and comparing takes time."""
_MIN_PREFIX = 3
_MISSPELLED = 0.85
"""The similarity of words that differ by a letter or two (`difflib.SequenceMatcher.ratio`)."""


def nearest(word: object, known: Iterable[str]) -> str | None:
    """The known word that is nearest to this one, whatever its case; None when none is near.

    After a word that is misspelled comes one that begins as it does: `initial_load` means `initial`.
    """
    if not isinstance(word, str) or not 0 < len(word) <= MAX_CHARACTERS:
        return None
    # Imported where something is wrong: a cold start loads less.
    from difflib import get_close_matches

    by_lower_case = {name.lower(): name for name in known if name != word}
    sent = word.lower()
    spelled = get_close_matches(sent, by_lower_case, n=1, cutoff=_MISSPELLED)
    begun = [name for name in by_lower_case if min(len(name), len(sent)) >= _MIN_PREFIX and _begins(name, sent)]
    # Of several the one that shares most with it, and of these the shortest.
    begun.sort(key=lambda name: (-min(len(name), len(sent)), len(name)))
    close = spelled or begun or get_close_matches(sent, by_lower_case, n=1)
    return by_lower_case[close[0]] if close else None


def _begins(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
