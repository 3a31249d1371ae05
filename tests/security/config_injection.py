"""S4: what a user writes reaches a connector's config as a value or not at all. About two minutes."""

from tests.security.figure import Figure, none_of
from tests.support.apps.sandbox import running_sandbox
from tests.support.hostile.injection import Injector


def figures() -> list[Figure]:
    """Every text and every key that reaches a config, with what would make Connect do something else."""
    with running_sandbox() as sandbox:
        sandbox.seal()
        found = Injector(sandbox=sandbox).run()
    return [
        none_of(
            f"accepted of {found.attempts} injections that the contract refuses",
            found.accepted,
            enough=found.attempts > 1_500,
        ),
        none_of(
            f"unexpected keys, lines and references in {found.configs} configs that Connect received",
            found.unexpected,
            enough=found.configs > 15,
        ),
        none_of("literal secrets in these configs", found.secrets),
    ]
