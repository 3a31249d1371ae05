"""S1: no secret leaves Headgate but where it has to. See tests/security/leaks and tests/integration."""

from tests.security.figure import Figure, none_of
from tests.security.leaks.legal import LEGAL, illegal, unused
from tests.security.leaks.planting import CHANNELS, found_when_planted
from tests.security.leaks.scenario import recorded_day, searched
from tests.support.hostile.leaks import find_leaks

MEGABYTE = 1_000_000


def figures() -> list[Figure]:
    """A day with every kind of secret; then every output is searched, then a leak is planted in every channel."""
    with recorded_day() as recorder:
        outputs = recorder.everything()
        names = searched(recorder)
        found = find_leaks(names, outputs)
        leaks = [str(leak) for leak in illegal(found)]
        channels = {output.channel for output in outputs}
        size = sum(len(output.data) for output in outputs)
        planted = [place for place in CHANNELS if found_when_planted(recorder, place)]
    used = len(LEGAL) - len(unused(found))
    return [
        Figure("secrets searched", str(len(names)), ">= 30", len(names) >= 30),
        Figure("channels searched", str(len(channels)), ">= 18", len(channels) >= 18),
        Figure("bytes searched", f"{size / MEGABYTE:.1f} MB in {len(outputs)} outputs", "> 1 MB", size > MEGABYTE),
        none_of("leaks", leaks),
        Figure("secrets found where they have to be", str(used), str(len(LEGAL)), used == len(LEGAL)),
        Figure(
            "planted leaks found", f"{len(planted)} of {len(CHANNELS)}", "all", len(planted) == len(CHANNELS)
        ),
    ]  # fmt: skip
