"""What every list takes: a limit and a cursor (wire contract, section 1)."""

from pydantic import BaseModel, ConfigDict, Field

from chalicelib.api.contract.common import StrictInt

LIST_LIMIT = 500


class ListQuery(BaseModel):
    """Bounds of a list. Lists with filters inherit from it and add them."""

    model_config = ConfigDict(extra="forbid")

    limit: StrictInt = Field(default=LIST_LIMIT, ge=1, le=LIST_LIMIT, description="How many entries at most.")
    cursor: str | None = Field(
        default=None,
        min_length=1,
        max_length=4096,
        description="The `X-Next-Cursor` of the page before. It belongs to this list with these filters, for 24 hours.",
    )

    @property
    def after(self) -> str | None:
        """The store's key of the page before: the boundary checks the cursor and puts the key in its place."""
        return self.cursor
