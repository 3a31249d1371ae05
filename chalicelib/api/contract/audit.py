"""The audit trail."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from chalicelib.api.contract.common import Input, Integer, Lines, Output, Time, Timestamp
from chalicelib.api.contract.lists import ListQuery
from chalicelib.domain.audit.chain import SHARDS
from chalicelib.domain.audit.filter import AuditFilter
from chalicelib.domain.audit.record import Outcome
from chalicelib.services.audit.verification import Verification

ActorText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=320)]
ActionText = Annotated[str, StringConstraints(pattern=r"^[a-z0-9._-]{1,120}$")]
CorrelationId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,128}$")]
ResourceId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,249}$")]


class AuditQuery(ListQuery):
    """Filters of the audit trail."""

    limit: Integer = Field(default=100, ge=1, le=500)
    resource_id: ResourceId | None = Field(default=None, description="The name of a topic, the UUID of all others.")
    include_related: bool = Field(default=False, description="With resource_id: a destination's deliveries too.")
    meaningful: bool | None = Field(default=None, description="true leaves out routine observations and jobs.")
    from_: Time | None = Field(default=None, alias="from", description="Records from this time on.")
    to: Time | None = Field(default=None, description="Records before this time. It is later than `from`.")
    actor: ActorText | None = Field(default=None, description="Who did it: an id or an e-mail address.")
    action: ActionText | None = Field(default=None, description="Exactly this one, such as `pipeline.deploy`.")
    correlation_id: CorrelationId | None = Field(default=None, description="The `X-Correlation-ID` of the request.")
    outcome: Outcome | None = Field(default=None, description="How it ended.")

    @field_validator("to")
    @classmethod
    def _after_from(cls, value: datetime | None, info: ValidationInfo) -> datetime | None:
        since = info.data.get("from_")
        if value is not None and since is not None and value <= since:
            raise PydanticCustomError("not_later_than_from", "not later than from")
        return value

    def to_filter(self) -> AuditFilter:
        return AuditFilter(
            since=self.from_,
            until=self.to,
            **self.model_dump(include={"actor", "action", "correlation_id", "outcome"}),
        )


class ActorOutput(Output):
    """Who did it. `id` is null for Headgate itself."""

    id: str | None
    email: str | None
    via: str


class AuditOutput(Output):
    """One record."""

    id: str
    at: Timestamp
    actor: ActorOutput
    action: str
    resource_type: str
    resource_id: str | None
    resource_name: str | None
    parent_id: str | None
    outcome: Outcome
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    correlation_id: str
    meaningful: bool


class ActivityOutput(Output):
    """The part of a record that people who are no Admins see."""

    at: Timestamp
    action: str
    resource_type: str
    resource_id: str | None
    resource_name: str | None
    outcome: Outcome


class VerificationQuery(ListQuery):
    """How much of the trail one request verifies."""

    limit: Integer = Field(default=2_000, ge=1, le=10_000, description="About how many records to verify.")
    from_anchor: Integer | None = Field(
        default=None,
        ge=1,
        description="Verify only what was signed behind this anchor, an `anchor` of an earlier answer.",
    )


class AcceptRestoredBody(Input):
    """The restored tables that are accepted."""

    anchor: Integer = Field(ge=0, description="The last `anchor` of the tables; 0 where they have none.")
    reason: Annotated[Lines, StringConstraints(min_length=1, max_length=300)]


class ProblemOutput(Output):
    """The first thing that is wrong. `number` counts the records or the blocks of the shard, or the anchors; the rest
    names the record.
    """

    code: str
    message: str
    shard: str | None
    number: int | None
    record_id: str | None
    at: str | None


class ShardOutput(Output):
    """How many records a shard has, and up to which one they are signed."""

    shard: str
    records: int
    anchored: int


class VerificationOutput(Output):
    """What this request has verified. The trail is sound when every part of it is `verified` and one is `complete`."""

    verified: bool = Field(description="Whether everything that this request has looked at is as it was written.")
    complete: bool = Field(description="Whether the end was reached. Otherwise go on with the `X-Next-Cursor`.")
    checked: int = Field(description="Records that this request has compared with their chain.")
    before_chain: int = Field(
        description="Records that are not chained yet: the next signature does it, once a minute."
    )
    first_problem: ProblemOutput | None
    anchor: int | None = Field(description="The number of the last signature, which is called an anchor.")
    anchored_at: Timestamp | None = Field(description="When the ends of the shards were signed last.")
    begins_at: Timestamp | None = Field(
        description="Only what was signed behind this time is verified: what is older has expired, or belongs to "
        "tables that were restored and accepted. Null: everything."
    )
    shards: list[ShardOutput]

    @classmethod
    def of(cls, entity: Verification) -> Self:
        """The verification without its shards, which `shards_of` has."""
        is_verified = entity.first_problem is None
        return cls._read(
            entity,
            verified=is_verified,
            complete=is_verified and entity.next_key is None,
            before_chain=sum(entity.unsigned.values()),
            anchor=entity.anchor.number if entity.anchor else None,
            anchored_at=entity.anchor.at if entity.anchor else None,
            begins_at=entity.start.at,
            shards=[],
        )


def shards_of(entity: Verification) -> list[ShardOutput]:
    """Every shard, also one without records."""
    signed = {shard: entity.anchor.end(shard).records if entity.anchor else 0 for shard in SHARDS}
    return [
        ShardOutput(shard=shard, records=count + entity.unsigned.get(shard, 0), anchored=count)
        for shard, count in signed.items()
    ]
