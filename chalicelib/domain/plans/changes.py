"""The values that a change gives to a resource, by the names that they have in the API."""

from collections.abc import Iterator, Mapping
from typing import Any

from chalicelib.domain.audit.record import View
from chalicelib.domain.plans.plan import Change
from chalicelib.kit.masking import MASK

_OBSERVED = frozenset(
    {
        *("id", "version", "created_at", "updated_at"),
        *("health", "last_tested_at", "last_test", "last_error", "observation", "metrics", "log", "open_operation"),
        *("used_by", "made_in_source", "gaps_passed", "is_default", "closed", "made_by"),
    }
)
"""What nobody asks for: it follows from a change, or is only observed."""

_SAME_LEVEL = frozenset({"capture"})
"""Fields whose own fields the API shows in their place."""


def changes_between(before: View | None, after: View | None) -> list[Change]:
    """The values that differ, from a view of a resource to the next one; None: it does not exist. Objects are compared
    field by field, lists as a whole. A secret shows as a mask.
    """
    first, second = _asked_for(before), _asked_for(after)
    return [*_secrets(before, after), *_differences("", first, second)]


def _asked_for(view: View | None) -> dict[str, Any]:
    fields = {name: value for name, value in (view or {}).items() if name not in _OBSERVED and name != "credentials"}
    for name in _SAME_LEVEL & fields.keys():
        fields |= fields.pop(name)
    return fields


def _differences(path: str, before: Any, after: Any) -> Iterator[Change]:
    if isinstance(before, Mapping) or isinstance(after, Mapping):
        # An object that comes or goes is compared with one without fields.
        first, second = before or {}, after or {}
        for name in dict.fromkeys((*second, *first)):
            yield from _differences(f"{path}.{name}" if path else name, first.get(name), second.get(name))
    elif before != after:
        yield Change(path=path, before=before, after=after)


def _secrets(before: View | None, after: View | None) -> Iterator[Change]:
    """One change for each secret that is another one. Of those that come or go it is not told how many there are."""
    first, second = _credentials(before), _credentials(after)
    masks = [MASK if one.get("configured") else None for one in (first, second)]
    if masks[0] != masks[1]:
        yield Change(path="credentials", before=masks[0], after=masks[1])
    elif before and after:
        known, new = first.get("versions", {}), second.get("versions", {})
        for name, version in new.items():
            if version != known.get(name, 1):
                yield Change(path=f"credentials.{name}", before=MASK, after=MASK)


def _credentials(view: View | None) -> Mapping[str, Any]:
    return (view or {}).get("credentials") or {}
