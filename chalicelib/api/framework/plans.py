"""The plan that a call with `?dry_run=true` answers."""

from collections.abc import Callable, Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

from chalicelib.api.framework.http import JSON, HttpResponse
from chalicelib.api.framework.route import Route
from chalicelib.domain.plans.dry_run import dry_run
from chalicelib.domain.plans.obstacles import IN_THE_WAY, IN_THE_WAY_OF_STORED
from chalicelib.domain.plans.plan import ConsequenceSeverity, Plan


class PlannedChange(BaseModel):
    """A value that would be another one."""

    model_config = ConfigDict(populate_by_name=True)

    path: str
    before: Any = Field(alias="from")
    after: Any = Field(alias="to")


class PlannedConsequence(BaseModel):
    """Something that follows from the call."""

    code: str
    severity: ConsequenceSeverity
    message: str
    facts: dict[str, Any]


class ResourceInTheWay(BaseModel):
    """The resource that is in the way of a call."""

    type: str
    id: str
    name: str


class ObstacleOutput(BaseModel):
    """Something that is in the way of the call."""

    code: str
    message: str
    resource: ResourceInTheWay | None


class PlanOutput(BaseModel):
    """What a call would do, and what is in its way."""

    changes: list[PlannedChange]
    consequences: list[PlannedConsequence]
    blocked_by: list[ObstacleOutput]

    @classmethod
    def of(cls, plan: Plan) -> Self:
        return cls.model_validate(
            {"changes": plan.changes, "consequences": plan.consequences, "blocked_by": plan.obstacles},
            from_attributes=True,
        )


def plan_response(route: Route, arguments: Mapping[str, Any]) -> HttpResponse:
    """The plan of a call of the route's handler. Raises what says that the input is wrong."""
    in_the_way = IN_THE_WAY if route.body is not None else IN_THE_WAY_OF_STORED
    handler: Callable[..., Any] = route.handler
    with dry_run(in_the_way) as plan:
        handler(**arguments)
    return HttpResponse(
        status=200, body=PlanOutput.of(plan).model_dump_json(by_alias=True), headers={"Content-Type": JSON}
    )
