"""Secrets in memory, which print as a mask."""

MASK = "********"


class Secret:
    """A secret value. Printing, formatting and logging it show the mask; `reveal` alone returns the value."""

    __slots__ = ("__value",)

    def __init__(self, value: str) -> None:
        self.__value = value

    def reveal(self) -> str:
        """The plain value. Call it only where the value is handed to what needs it."""
        return self.__value

    def __repr__(self) -> str:
        return f"Secret({MASK!r})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        # own-rule secrets-compared: what comes from outside is compared by its hash
        return isinstance(other, Secret) and other.reveal() == self.__value

    def __hash__(self) -> int:
        return hash((Secret, self.__value))

    def __bool__(self) -> bool:
        return bool(self.__value)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a Secret is never serialized")
