"""The rounds of pointer jumping, which the plan and the program count alike."""


def rounds(links: int) -> int:
    """Return the number of rounds of pointer jumping that reach the end of any chain, or prove a cycle."""
    return max(1, (links - 1).bit_length()) if links > 0 else 0
