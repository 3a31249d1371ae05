"""All bugs."""

from tests.seeded_bugs.access_bugs import ACCESS_BUGS
from tests.seeded_bugs.connector_bugs import CONNECTOR_BUGS
from tests.seeded_bugs.data_bugs import DATA_BUGS
from tests.seeded_bugs.mysql_bugs import MYSQL_BUGS
from tests.seeded_bugs.silence_bugs import SILENCE_BUGS

BUGS = (*ACCESS_BUGS, *DATA_BUGS, *CONNECTOR_BUGS, *MYSQL_BUGS, *SILENCE_BUGS)
