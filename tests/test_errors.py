"""Errors with fields: the library and the command line make their sentences from the same parts."""

import copyreg
import pickle

import numpy as np
import pytest
import tblib.pickling_support
from click.testing import CliRunner

import mgraph
from mgraph.arguments import checked_bytes, checked_flag, checked_integer, checked_vertices
from mgraph.cli import main
from mgraph.errors import (
    Argument,
    DeviceError,
    Given,
    InputError,
    MemoryLimitError,
    MissingFileError,
    OutputExistsError,
    RenamedWarning,
    SchedulerError,
)


@pytest.mark.parametrize(
    ("check", "value", "expected"),
    [
        (lambda name, value: checked_integer(name, value, 0, 2), 7, "an integer in [0, 3)"),
        (lambda name, value: checked_integer(name, value, 1), 0.5, "an integer of 1 or more"),
        (checked_flag, "yes", "True or False"),
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
            "method='bogus' is not known for components",
            "--method bogus is not known for components",
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
        result = CliRunner().invoke(main, [options[0], str(file), *options[1:], "--device", "cpu"])
        assert result.exit_code == 2 and printed in " ".join(result.output.split())


def test_file_names_are_not_taken_for_arguments(tmp_path):
    file = tmp_path / "method=bogus.txt"
    file.write_text("0 one\n")
    result = CliRunner().invoke(main, ["bfs", str(file)])
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
    error = kind("there: ", Given("overwrite", True), " replaces it")
    assert str(error) == "there: overwrite=True replaces it"
    assert error.sentence(lambda part: f"--{part.name}") == "there: --overwrite replaces it"
    copy = sent(error)
    assert type(copy) is kind and str(copy) == str(error) and copy.parts == error.parts


def test_a_missing_file_has_its_number_and_name(sent):
    error = MissingFileError(2, "no such file", "graph.txt")
    for each in (error, sent(error)):
        assert (each.errno, each.filename, each.names_arguments) == (2, "graph.txt", False)


def test_an_error_survives_pickling(sent):
    error = InputError(": use ", Given("method", "johnson"), argument="dtype", value=np.int16, expected="a float")
    copy = sent(error)
    assert str(copy) == str(error) and copy.argument == "dtype" and copy.value is np.int16
    assert copy.sentence(lambda part: f"<{part.name}>").startswith("<dtype> must be a float")
    assert str(RenamedWarning(Argument("limit"), " is ", Given("limit"))) == "limit is limit="


@pytest.mark.parametrize(
    ("text", "options", "printed"),
    [
        ("0 1\n1 2\n", ["--n", "2"], "the vertex id 2 in '1 2' is not below --n 2"),
        ("0 5000000000\n", [], "--relabel numbers the ids in use from 0"),
        ("0 1\n", ["--device", "gpu"], "--device gpu is not known: use 'cpu', 'cuda' or 'cuda:1'"),
    ],
)
def test_errors_of_a_file_name_options_within_its_lines(text, options, printed, tmp_path):
    file = tmp_path / "graph.txt"
    file.write_text(text)
    result = CliRunner().invoke(main, ["components", str(file), *options])
    assert result.exit_code and printed in " ".join(result.output.split())
