"""Questions to `mgraph.distances`: strategies and measures."""

from hypothesis import strategies as st

from tests.support.graphs import weighted_graphs

MEASURES = [
    *("eccentricity", "mean", "out_closeness", "out_harmonic", "reached"),
    ("within", [0, 3, 40.5]),
    ("histogram", [-1.5, 0, 1, 2.5, 7, 40]),
]


@st.composite
def questions(draw):
    """A graph, a type, sources and targets in any order, some of them repeated, and a limit."""
    graph, dtype = draw(weighted_graphs().filter(lambda case: case[0].n > 0))
    vertices = st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=70)
    limit = draw(st.sampled_from([None, 0, 5, 30.5]))
    return graph, dtype, draw(st.none() | vertices), draw(st.none() | vertices), limit
