"""The query of read calls that ask a server (wire contract, section 2)."""

from datetime import datetime
from typing import Any

from pydantic import Field

from chalicelib.api.contract.common import Input
from chalicelib.api.contract.lists import ListQuery
from chalicelib.domain.access import Permission, RequestContext, lacks
from chalicelib.domain.live_reads import LiveAnswer
from chalicelib.kit.clock import rfc3339


class FreshQuery(Input):
    """Whether an answer of the last seconds will do."""

    fresh: bool = Field(
        default=False,
        description="Ask the server anew, where otherwise its answer of the last seconds is shown. Needs `operate`.",
    )

    def fresh_for(self, context: RequestContext) -> bool:
        """Whether the server is asked anew. Raises NotPermitted for who may only read."""
        if self.fresh and not context.actor.may(Permission.OPERATE):
            raise lacks(Permission.OPERATE, context.actor, what="fresh=true")
        return self.fresh


class FreshListQuery(FreshQuery, ListQuery):
    """The same of a list."""


def observed_at(answer: LiveAnswer[Any]) -> dict[str, str]:
    """The header that says when the server answered."""
    return observed_on(answer.at)


def observed_on(time: datetime | None) -> dict[str, str]:
    """The header that says when what is shown was observed; none where that is not known."""
    return {"X-Observed-At": rfc3339(time)} if time else {}
