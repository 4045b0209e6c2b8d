"""Errors with fields: the library and the command line make their sentences from the same parts."""

import copyreg
import pickle
from importlib import metadata

import numpy as np
import pandas
import pytest
import tblib.pickling_support

import mgraph
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.arguments import checked_bytes, checked_choice, checked_flag, checked_integer, checked_vertices
from mgraph.cli.commands import COMMANDS
from mgraph.errors import (
    LONGEST_MESSAGE,
    ArgumentValue,
    DeviceError,
    InputError,
    MemoryLimitError,
    MissingFileError,
    NegativeCycleError,
    OutputExistsError,
    SchedulerError,
)
from tests.support.calls import arguments
from tests.support.commands import invoke


@pytest.mark.parametrize(
    ("check", "value", "expected"),
    [
        (lambda name, value: checked_integer(name, value, 0, 2), 7, "an integer in [0, 3)"),
        (lambda name, value: checked_integer(name, value, 1), 0.5, "an integer of 1 or more"),
        (checked_flag, "yes", "True or False"),
        (lambda name, value: checked_choice(name, value, ("weak", "strong")), "big", "'weak' or 'strong'"),
        (checked_bytes, "lots", "a number of bytes, 1 or more, such as 150000000000, '150GB' or '140GiB'"),
        (lambda name, value: checked_vertices(name, value, 3), "all", "a sequence of vertices"),
    ],
)
def test_checks_fill_the_fields(check, value, expected):
    with pytest.raises(InputError) as caught:
        check("name", value)
    error = caught.value
    assert (error.argument, error.value, error.expected) == ("name", value, expected)
    assert str(error).startswith(f"name must be {expected}, got {value!r}")


def test_the_library_and_the_command_line_say_it_each_in_its_way(tmp_path):
    file = tmp_path / "graph.txt"
    file.write_text("0 1\n1 2\n")
    graph = mgraph.read(file)
    for options, call, said, printed in (
        (
            ["bfs", "--source", "7"],
            lambda: mgraph.bfs(graph, sources=[7]),
            "sources must be an integer in [0, 3), got 7",
            "--source must be an integer in [0, 3), got 7",
        ),
        (
            ["components", "--method", "bogus"],
            lambda: mgraph.connected_components(graph, method="bogus"),
            "method must be 'auto', 'afforest', 'shiloach-vishkin', 'sequential', 'multistep' or 'colouring', got ",
            "--method must be 'auto', 'afforest', 'shiloach-vishkin', 'sequential', 'multistep' or 'colouring', got ",
        ),
        (
            ["apsp", "--predecessors", "--intermediate"],
            lambda: mgraph.apsp(graph, predecessors=True, intermediate=True),
            "predecessors=True and intermediate=True exclude each other",
            "--predecessors and --intermediate exclude each other",
        ),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert str(caught.value).startswith(said)
        result = invoke(options[0], str(file), *options[1:], "--device", "cpu")
        assert result.exit_code == 2 and printed in " ".join(result.output.split())


def test_file_names_are_not_taken_for_arguments(tmp_path):
    file = tmp_path / "method=bogus.txt"
    file.write_text("0 one\n")
    result = invoke("bfs", str(file))
    assert result.exit_code == 1 and "method=bogus.txt" in "".join(result.output.split())


@pytest.fixture(params=["pickle", "tblib"])
def sent(request):
    """Pickle an error as Python does, and as a worker of Dask does."""

    def copy(error):
        if request.param == "tblib":
            tblib.pickling_support.install(error)
        return pickle.loads(pickle.dumps(error))

    yield copy
    for kind in [kind for kind in copyreg.dispatch_table if kind.__module__.startswith("mgraph")]:
        del copyreg.dispatch_table[kind]


@pytest.mark.parametrize("kind", [SchedulerError, OutputExistsError, MemoryLimitError, DeviceError])
def test_errors_of_every_base_may_name_arguments(kind, sent):
    error = kind("there: ", ArgumentValue("overwrite", True), " replaces it")
    assert str(error) == "there: overwrite=True replaces it"
    assert error.sentence(lambda part: f"--{part.name}") == "there: --overwrite replaces it"
    copy = sent(error)
    assert type(copy) is kind and str(copy) == str(error) and copy.parts == error.parts


def test_a_missing_file_has_its_number_and_name(sent):
    error = MissingFileError(2, "no such file", "graph.txt")
    for each in (error, sent(error)):
        assert (each.errno, each.filename, each.names_arguments) == (2, "graph.txt", False)


def test_an_error_survives_pickling(sent):
    error = InputError(
        ": use ", ArgumentValue("method", "johnson"), argument="dtype", value=np.int16, expected="a float"
    )
    copy = sent(error)
    assert str(copy) == str(error) and copy.argument == "dtype" and copy.value is np.int16
    assert copy.sentence(lambda part: f"<{part.name}>").startswith("<dtype> must be a float")


@pytest.mark.parametrize(
    ("text", "options", "printed"),
    [
        ("0 1\n1 2\n", ["--n", "2"], "the vertex id 2 in '1 2' is not below --n 2"),
        ("0 5000000000\n", [], "--relabel numbers the ids in use from 0"),
        ("0 1\n", ["--device", "gpu"], "--device must be 'cpu', 'cuda' or 'cuda:N', such as 'cuda:1', got 'gpu'"),
    ],
)
def test_errors_of_a_file_name_options_within_its_lines(text, options, printed, tmp_path):
    file = tmp_path / "graph.txt"
    file.write_text(text)
    result = invoke("components", str(file), *options)
    assert result.exit_code and printed in " ".join(result.output.split())


#: Values that are neither words nor types of distances; comparing, hashing, parsing or printing them raises errors.
HOSTILE = (
    np.array(["auto", "x"]),
    [],
    {},
    {"auto"},
    b"auto",
    0,
    10**5000,
    float("nan"),
    "\udc80",
    "9" * 5000,
    "cuda:\u00b2",
    "cuda:" + "9" * 5000,
)

GRAPH = mgraph.Graph.from_edges([0, 1], [1, 2], [3, 4])

#: Calls by the argument that they are given.
CALLS = {
    "method": (
        *(
            lambda value, name=name: ALGORITHMS[name].call(*arguments(name), method=value)
            for name in ALGORITHMS
            if ALGORITHMS[name].methods
        ),
        lambda value: mgraph.connected_components(GRAPH, method=value, connection="strong"),
        *(lambda value, name=name: mgraph.plan(name, 9, 9, "cpu", method=value) for name in ALGORITHMS),
    ),
    "dtype": (
        lambda value: mgraph.apsp(GRAPH, dtype=value),
        lambda value: mgraph.sssp(GRAPH, 0, dtype=value),
        lambda value: mgraph.plan("apsp", 9, 9, "cpu", dtype=value),
        lambda value: mgraph.plan("sssp", 9, 9, "cpu", dtype=value),
        lambda value: mgraph.generate.weighted(GRAPH, (1, 9), dtype=value),
        lambda value: mgraph.generate.random_matrix(3, dtype=value),
    ),
    "device": (
        lambda value: mgraph.bfs(GRAPH, 0, device=value),
        lambda value: mgraph.apsp(GRAPH, device=value),
        lambda value: mgraph.generate.rmat(3, device=value),
        GRAPH.release,
    ),
    "devices": (
        lambda value: mgraph.plan("apsp", 9, devices=value),
        lambda value: mgraph.plan("apsp", 9, devices=[value]),
    ),
    "connection": (lambda value: mgraph.connected_components(GRAPH, connection=value),),
    "algorithm": (lambda value: mgraph.plan(value, 9, 9),),
    "client": (lambda value: mgraph.bfs(GRAPH, 0, client=value),),
    "format": (lambda value: mgraph.read("graph.txt", format=value),),
    "dense": (lambda value: mgraph.read("graph.npy", dense=value),),
}


@pytest.mark.parametrize("argument", CALLS)
def test_hostile_values_of_words_are_refused_by_name(argument):
    for call in CALLS[argument]:
        for value in HOSTILE:
            with pytest.raises(InputError) as caught:
                call(value)
            assert caught.value.argument == argument and caught.value.expected
            assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: mgraph.apsp(GRAPH, block=33), "block"),
        (lambda: mgraph.apsp(GRAPH, dtype="int8"), "dtype"),
        (lambda: mgraph.sssp(GRAPH, 0, dtype="int16"), "dtype"),
        (lambda: mgraph.bfs(GRAPH, sources=[]), "sources"),
        (lambda: mgraph.Graph.from_edges([0], [1], [float("nan")]), "weights"),
        (lambda: mgraph.Graph.from_edges([0], [1], [1, 2]), "weights"),
        (lambda: mgraph.Graph.from_edges([0], [1], ["a"]), "weights"),
        (lambda: mgraph.Graph.from_edges([0], [-1]), "dst"),
        (lambda: mgraph.Graph.from_edges([0.5], [1]), "src"),
        (lambda: mgraph.Graph.from_edges([0], [5], n=5), "n"),
        (lambda: mgraph.list_rank([5]), "succ"),
        (lambda: mgraph.list_rank([0.5]), "succ"),
        (lambda: mgraph.plan("apsp", 10, m=10**400), "m"),
        (lambda: mgraph.plan("apsp", 10, devices=2**31), "devices"),
        (lambda: mgraph.plan("apsp", 10, devices=2**63), "devices"),
        (lambda: mgraph.plan("apsp", 10, devices=mgraph.DeviceSpec("cuda:0", "cuda", memory=None)), "memory"),
        (lambda: mgraph.plan("apsp", 10, devices=mgraph.DeviceSpec("cuda:0", "cuda", memory=[1])), "memory"),
        (lambda: mgraph.plan("apsp", 10, devices=mgraph.DeviceSpec("cuda:0", ["cuda"], 1 << 30)), "kind"),
        (lambda: mgraph.plan("apsp", 10, devices=mgraph.DeviceSpec("x", "cpu", 1 << 30, model=["x"])), "model"),
    ],
)
def test_errors_about_one_value_name_the_argument(call, argument):
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.argument == argument and caught.value.expected
    assert str(caught.value).startswith(f"{argument} must be {caught.value.expected}, got ")


def test_a_value_of_several_lines_is_shown_on_one():
    with pytest.raises(InputError, match=r"^source must be .*, got array\(\[\[0, 1\], \[2, 3\]\]\): for several "):
        mgraph.bfs(GRAPH, np.arange(4).reshape(2, 2))


def test_the_memory_of_a_described_device_may_have_a_unit():
    made = mgraph.plan("apsp", 10, devices=mgraph.DeviceSpec("cuda:0", "cuda", memory="16GiB"))
    assert made.devices[0].memory == 16 << 30


def test_advice_for_one_vertex_is_that_of_the_call():
    with pytest.raises(InputError, match=r"sources must be .*, got 3: for one vertex give source=$"):
        mgraph.bfs(GRAPH, sources=3)
    with pytest.raises(InputError, match=r"sources must be .*, got 3: for one vertex give \[3\]$"):
        mgraph.bfs_many(GRAPH, 3)
    for sources in ("LHR", np.int64(3)):
        with pytest.raises(InputError, match=r"sources must be .*: for one vertex give \[.+\]$"):
            mgraph.distances(GRAPH, sources)
    with pytest.raises(InputError, match=r"sources must be a sequence of vertices, got 0\.5$"):
        mgraph.distances(GRAPH, 0.5)


def test_a_command_that_cannot_be_imported_breaks_no_other(monkeypatch):
    point = metadata.EntryPoint("broken", "no_such_package.commands:broken", COMMANDS)
    found = metadata.entry_points

    def entry_points(**wanted):
        if wanted.get("group") == COMMANDS:
            return metadata.EntryPoints([point]).select(**wanted)
        return found(**wanted)

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    for options in (["--help"], ["-h"]):
        shown = invoke(*options)
        assert shown.exit_code == 0 and "components" in shown.output
        assert "(cannot be imported: No module named 'no_such_package')" in shown.output
    mistyped = invoke("bfz")
    assert mistyped.exit_code == 2 and "No such command 'bfz'" in mistyped.output
    run = invoke("broken", "x", "--any", "3")
    assert run.exit_code == 1 and len(run.output.splitlines()) == 1
    assert "the command 'broken' cannot be imported: No module named 'no_such_package'" in run.output


#: Names that set a terminal's title, change the direction of text, begin a line of their own, or fill the screen.
NAMES = ["a\x1b]0;owned\x07b", "a\u202eb\x9b31m", "a\nmgraph: error: b", "a\tb" * 10**6, "a" + " " * 10**6]

GRID = mgraph.generate.grid(2, 3)


def the_header(folder, name):
    """Read a table whose header has a name, but not the one that is looked for."""
    file = folder / "table.csv"
    file.write_text(f'"{name}",b\n1,2\n', encoding="utf-8")
    mgraph.read(file, source="c", target="b")


def lines(folder, name, suffix, before="", **options):
    """Read a text whose last line is a name."""
    file = folder / f"graph{suffix}"
    file.write_text(f"{before}{name}\n", encoding="utf-8")
    mgraph.read(file, **options)


def of_frame(_, name):
    mgraph.Graph.from_pandas(pandas.DataFrame({name: [0], "b": [1]}))


def of_ids(_, name):
    mgraph.Graph.from_edges([0], [1], ids=[name, "b"]).vertices_of([name + "c"])


@pytest.mark.parametrize("name", NAMES, ids=["title", "direction", "line", "long", "blank"])
@pytest.mark.parametrize(
    "call",
    [
        lambda folder, name: mgraph.read(folder / name),
        lambda folder, name: mgraph.read(folder, format=name),
        lambda folder, name: lines(folder, name, ".txt"),
        lambda folder, name: lines(folder, name, ".csv", "source,target\n0,", source="source", target=name),
        the_header,
        lambda folder, name: lines(folder, name, ".gr"),
        lambda folder, name: lines(folder, name, ".mtx"),
        lambda folder, name: lines(folder, name, ".mtx", "%%MatrixMarket matrix coordinate real general\n"),
        lambda folder, name: lines(folder, name, ".metis"),
        lambda folder, name: lines(folder, name, ".graphml", "<graphml>"),
        lambda folder, name: mgraph.write(folder / f"graph.{name}", GRID),
        lambda _, name: mgraph.Graph.from_pandas(pandas.DataFrame({"a": [0], "b": [1]}), name, "b"),
        of_frame,
        of_ids,
        lambda _, name: mgraph.Graph.from_edges([0], [name]),
        lambda _, name: mgraph.bfs(GRID, name),
        lambda _, name: mgraph.bfs(GRID, 0, device=name),
        lambda _, name: mgraph.apsp(GRID, method=name),
        lambda _, name: mgraph.apsp(GRID, dtype=name),
        lambda _, name: mgraph.apsp(GRID, memory_limit=name),
        lambda _, name: mgraph.distances(GRID, [0], reduce=name),
        lambda _, name: mgraph.plan(name, 5),
        lambda _, name: mgraph.datasets.fetch(name),
        lambda folder, name: mgraph.Hierarchy.load(folder / name),
        lambda folder, name: mgraph.apsp(GRID, device="cpu", checkpoint=folder / "empty" / name, resume=name),
        lambda _, name: mgraph.csgraph.shortest_path(np.ones((2, 2)), method=name),
    ],
)
def test_messages_have_no_control_characters_and_an_end(call, name, tmp_path):
    with pytest.raises((mgraph.MgraphError, TypeError, ValueError)) as caught:
        call(tmp_path, name)
    assert str(caught.value).isprintable() and len(str(caught.value)) <= LONGEST_MESSAGE


@pytest.mark.parametrize("name", NAMES[:4])
@pytest.mark.parametrize(
    "words",
    [
        ["{}"],
        ["bfs", "{}"],
        ["bfs", "{}.gr", "--source", "0"],
        ["bfs", "--rmat", "3", "--device", "{}"],
        ["bfs", "--rmat", "{}"],
        ["bfs", "--rmat", "3", "--{}"],
        ["apsp", "--rmat", "3", "--method", "{}"],
        ["apsp", "--rmat", "3", "--out", "no/{}.npy"],
        ["plan", "apsp", "5", "--devices", "{}"],
        ["fetch", "{}"],
        ["resume", "{}"],
    ],
)
def test_the_command_line_prints_no_control_characters(words, name):
    ran = invoke(*[word.format(name) for word in words])
    assert ran.exit_code and all(line.isprintable() for line in ran.output.split("\n"))
    assert len(ran.output) < LONGEST_MESSAGE + 1000


def test_warnings_have_no_control_characters(tmp_path, monkeypatch):
    file = tmp_path / f"{NAMES[0]}.txt"
    file.write_text("0 1\n1000000 1\n")
    with pytest.warns(mgraph.io.SparseIdsWarning) as caught:
        mgraph.read(file)
    assert "\\x1b]0;owned" in str(caught[0].message) and str(caught[0].message).isprintable()
    ran = invoke("bfs", str(file), "--source", "0", "--device", "cpu")
    assert "\\x1b]0;owned" in ran.output and all(line.isprintable() for line in ran.output.split("\n"))


def test_mistakes_of_newcomers_are_named():
    """A column instead of its name, an argument of another call, a table of edges, an id that is a tuple."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"from": [0, 1], "to": [1, 2], "km": [3.0, 4.0]})
    with pytest.raises(InputError, match="weight must be one of the columns"):
        mgraph.Graph.from_pandas(frame, "from", "to", frame["km"])
    with pytest.raises(InputError, match="from_pandas"):
        mgraph.sssp(frame, 0)
    frame["time"] = pandas.to_timedelta([90, 60], unit="min")
    with pytest.raises(InputError, match=r"in the column 'time': divided by numpy\.timedelta64\(1, 's'\) they are"):
        mgraph.Graph.from_pandas(frame, "from", "to", "time")
    frame["time"] /= np.timedelta64(1, "s")
    assert mgraph.Graph.from_pandas(frame, "from", "to", "time").total() == 9000
    graph = mgraph.generate.grid(2, 2)
    with pytest.raises(TypeError, match=r"^closeness\(\) got an unexpected keyword argument 'sources': it is u="):
        mgraph.closeness(graph, sources=[0])
    with pytest.raises(InputError, match="not both: a vertex to find the way to is target="):
        mgraph.sssp(graph, 0, 3)
    with pytest.raises(InputError, match=r"^graph 1: expected a mgraph\.Graph, .* got int$"):
        mgraph.apsp_batch([graph, 3])
    with pytest.raises(InputError, match=r"got list: mgraph\.apsp_batch takes several"):
        mgraph.apsp([graph, graph])
    edges = [(0, 1, 5), (1, 2, 6), (2, 3, 7), (3, 0, 8)]
    with pytest.raises(InputError, match=r"must be square.*from_edges\(\*zip\(\*edges\)\)"):
        mgraph.apsp(edges)
    assert mgraph.Graph.from_edges(*zip(*edges, strict=True)).total() == 26
    tuples = np.empty(2, dtype=object)
    tuples[:] = [(0, 0), (0, 1)]
    with pytest.raises(InputError, match="the graph's ids go with ids=True"):
        mgraph.sssp(mgraph.Graph.from_edges([0], [1], ids=tuples), (0, 0))


def test_an_id_that_is_nearly_one_is_answered_by_it():
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], ids=["Rome", "Pisa", "Genoa"])
    with pytest.raises(InputError, match="got 'Roma': 'Rome' is one"):
        mgraph.sssp(graph, "Roma")
    with pytest.raises(InputError, match=r"got 'Berlin'$"):
        mgraph.sssp(graph, "Berlin")


def test_a_vertex_on_a_negative_cycle_is_named():
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 1], [1.0, -3.0, 2.0], ids=["x", "y", "z"])
    for call in (
        lambda: mgraph.sssp(graph, "x"),
        lambda: mgraph.sssp(graph=graph, source=0),
        lambda: mgraph.apsp(graph),
        lambda: mgraph.closeness(graph),
    ):
        with pytest.raises(NegativeCycleError, match=r"^vertex 1, with id 'y', lies on a cycle") as caught:
            call()
        assert (caught.value.vertex, caught.value.id) == (1, "y")
    with pytest.raises(NegativeCycleError, match=r"^vertex 1, with id 'y', of graph 1 lies on a cycle"):
        mgraph.apsp_batch([graph.unweighted(), graph])
    copied = pickle.loads(pickle.dumps(caught.value))
    assert (str(copied), copied.id) == (str(caught.value), "y")
    plain = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 1], [1.0, -3.0, 2.0])
    with pytest.raises(NegativeCycleError, match=r"^vertex 1 lies") as caught:
        mgraph.sssp(plain, 0)
    assert caught.value.id is None
