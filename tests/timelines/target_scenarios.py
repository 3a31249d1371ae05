"""Faults of the tables that the delivery writes to."""

from tests.timelines.actions import drop_target, make_target_again, move_incidents, target_table
from tests.timelines.script import DELIVERY, Action, Broken, Timeline, at

LOST = frozenset({"TARGET_REPLACED"})
LOSSES: dict[str, Action] = {
    "the target table is dropped": drop_target,
    "the target table is dropped, and the sink makes it again": make_target_again,
    "the target table is truncated": target_table(storage="2", rows=0, live=0),
    "somebody deletes all rows of the target table": target_table(rows=0, live=0, deleted=990),
}

TIMELINES = (
    *(
        Timeline(
            name=name,
            lasts=260,
            steps=at(21, action),
            broken=(Broken(DELIVERY, 21, codes=LOST, shown_within=60, opened_within=60),),
        )
        for name, action in LOSSES.items()
    ),
    Timeline(
        name="the target table is dropped, and a person resolves the incident",
        lasts=300,
        steps=at(21, drop_target) + at(141, move_incidents("RESOLVED")),
        broken=(Broken(DELIVERY, 21, 141, codes=LOST, shown_within=60, opened_within=60, gone_within=60),),
    ),
    Timeline(
        name="the target table is rewritten by VACUUM FULL",
        lasts=200,
        steps=at(21, target_table(storage="2")),
    ),
)
