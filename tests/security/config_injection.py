"""S4: what a user writes reaches a connector's config as a value or not at all. About two minutes."""

from tests.security.figure import Figure
from tests.support.apps.sandbox import running_sandbox
from tests.support.hostile.injection import Injector


def figures() -> list[Figure]:
    """Every text and every key that reaches a config, with what would make Connect do something else."""
    with running_sandbox() as sandbox:
        sandbox.seal()
        found = Injector(sandbox=sandbox).run()
    return [
        Figure(
            f"accepted of {found.attempts} injections that the contract refuses",
            str(len(found.accepted)),
            "0",
            found.accepted == [] and found.attempts > 1_500,
        ),
        Figure(
            f"unexpected keys, lines and references in {found.configs} configs that Connect received",
            str(len(found.unexpected)),
            "0",
            found.unexpected == [] and found.configs > 15,
        ),
        Figure("literal secrets in these configs", str(len(found.secrets)), "0", found.secrets == []),
    ]
