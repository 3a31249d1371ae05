"""Prints the figures of the acceptance checks of the console; ends with 1 when one misses its target.

python -m tests.console [WORD...]: only the checks whose names have one of the words.
"""

import logging
import sys
from collections.abc import Mapping, Sequence

from tests.console.canaries import canaries
from tests.console.console import running_console
from tests.console.dialogs import dialogs
from tests.console.double_clicks import double_clicks
from tests.console.figures import Check
from tests.console.first_pipeline import first_pipeline
from tests.console.loading import build, first_load
from tests.console.long_day import long_day
from tests.console.many import filtered_pipelines, many_pipelines
from tests.console.mis_set_servers import mis_set_servers
from tests.console.polling import quiet_page
from tests.console.roles import roles
from tests.console.sessions import sessions
from tests.console.states import states
from tests.console.tables import many_tables
from tests.console.time_to_loss import time_to_loss
from tests.console.timelines import timelines

CHECKS: Mapping[str, Check] = {
    "first load": first_load,
    "build": build,
    "quiet page": quiet_page,
    "many pipelines": many_pipelines,
    "tables": many_tables,
    "timelines": timelines,
    "dialogs": dialogs,
    "dialogs, time to loss": time_to_loss,
    "double clicks": double_clicks,
    "roles": roles,
    "sessions": sessions,
    "states": states,
    "secrets": canaries,
    "long day": long_day,
    "filters of 10,000": filtered_pipelines,
    "first pipeline": first_pipeline,
    "mis-set servers": mis_set_servers,
}


def main(words: Sequence[str]) -> int:
    logging.disable(logging.CRITICAL)
    missed = 0
    with running_console() as console:
        for name, check in CHECKS.items():
            if words and not any(word in name for word in words):
                continue
            for figure in check(console):
                print(figure, flush=True)
                missed += not figure.holds
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
