"""What every list takes: a limit and a cursor (wire contract, section 1)."""

from typing import Any

from pydantic import Field

from chalicelib.api.contract.common import Input, Integer

LIST_LIMIT = 500


class ListQuery(Input):
    """Bounds of a list. The query of a list with filters inherits from it."""

    limit: Integer = Field(default=LIST_LIMIT, ge=1, le=LIST_LIMIT, description="How many entries at most.")
    cursor: str | None = Field(
        default=None,
        min_length=1,
        max_length=4096,
        pattern=r"^[A-Za-z0-9_-]+$",
        description="The `X-Next-Cursor` of the previous page. Valid for this list with these filters, for 24 hours.",
    )

    @property
    def after(self) -> str | None:
        """The store's key of the previous page: the boundary verifies the cursor and replaces it by the key."""
        return self.cursor

    def to_arguments(self) -> dict[str, Any]:
        """The bounds and the filters, by the names that a service's `list` has for them."""
        return {"after": self.after, **self.model_dump(exclude={"cursor"})}
