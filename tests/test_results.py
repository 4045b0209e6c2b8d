"""What all results have in common, and what all calls say of their arguments."""

import inspect
import re

import pytest

import mgraph

GRAPH = mgraph.Graph.from_edges([0, 1, 3], [1, 2, 4], [3, 4, 5])

#: Every public call with arguments that suit it.
CALLS = {
    "apsp": (GRAPH,),
    "bfs": (GRAPH, 0),
    "bfs_many": (GRAPH, [0, 3]),
    "connected_components": (GRAPH,),
    "list_rank": ([1, 2, 2],),
    "sssp": (GRAPH, 0),
    "transitive_closure": (GRAPH,),
}
COMMON = ("device", "client", "memory_limit", "span", "progress", "worker_timeout")


def test_no_call_is_left_out():
    returned = {name: inspect.signature(getattr(mgraph, name)).return_annotation for name in mgraph.__all__
                if inspect.isfunction(getattr(mgraph, name))}  # fmt: skip
    assert {name for name, annotation in returned.items() if "Result" in str(annotation)} == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_is_documented_once(name):
    call = getattr(mgraph, name)
    parameters = inspect.signature(call).parameters
    assert set(COMMON) <= set(parameters)
    described = re.findall(r"^ *([\w, ]+) : ", inspect.getdoc(call).partition("Returns\n---")[0], re.MULTILINE)
    assert sorted(", ".join(described).split(", ")) == sorted(set(parameters) - {"max_depth"})
    assert "{common" not in call.__doc__ and "See Also" in call.__doc__


@pytest.mark.parametrize("name", CALLS)
def test_common_arguments_are_accepted_and_checked(name):
    call, given = getattr(mgraph, name), CALLS[name]
    seen = []
    result = call(
        *given, device="cpu", memory_limit="1GiB", span=1, progress=lambda done, total: seen.append((done, total))
    )
    assert result.plan.span == 1 and seen and seen[-1][0] >= seen[0][0]
    with pytest.raises(mgraph.InputError, match="memory_limit must be a number of bytes"):
        call(*given, device="cpu", memory_limit="much")
    with pytest.raises(mgraph.InputError, match="span must be an integer"):
        call(*given, device="cpu", span=0)
    with pytest.raises(mgraph.MemoryLimitError, match=r"may take 1 B \(memory_limit=\)"):
        call(*given, device="cpu", memory_limit=1)
