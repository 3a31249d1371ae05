"""What readiness asks of the server and of the account."""

from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.facts import MySQLServerFacts
from chalicelib.domain.readiness import Judgement, failed, passed, readiness_check


@readiness_check("log_bin", name="Binary log", description="The server writes a binary log.")
def log_bin(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement:
    if facts.is_on("log_bin"):
        return passed("ON", "ON")
    return failed("OFF", "ON", "Set log_bin in the server's configuration and restart it.")
