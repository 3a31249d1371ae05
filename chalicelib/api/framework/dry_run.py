"""`?dry_run=true`: the parameter of routes that change something."""

from pydantic import BaseModel, Field

PARAMETER = "dry_run"


class DryRunQuery(BaseModel):
    """The parameter of every call that has dry runs."""

    dry_run: bool = Field(
        default=False,
        description="Only tell what the call would do: 200 with changes, consequences, and what is in its way. Nothing "
        "is stored, no connector is touched, and an `Idempotency-Key` is not kept.",
    )
