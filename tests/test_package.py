"""The wheel holds the package and its kernels, nothing else, and works where there is no checkout."""

import ast
import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import typing
import zipfile
from pathlib import Path

import pytest

import mgraph
from mgraph.algorithms import calls
from mgraph.public import MODULES
from tests.support.parameters import exhaustive

ROOT = Path(__file__).parents[1]


def run(*command, **options):
    """Run `command` and return what it prints; fail with all of it if it does not exit with 0."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    assert result.returncode == 0, f"{command} exited with {result.returncode}:\n{result.stdout}"
    return result.stdout.strip()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of an sdist, and of the wheel that was built from it."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("built")
    # From another folder: the checkout's build/ would pass for the module.
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


def environment(folder, *what):
    """Return the folder of a new virtual environment with the packages given to pip and those of this environment."""
    folder = folder.resolve()
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    # Python reads no .pth file of a folder that is added by one, so an editable mgraph stays out.
    dependencies = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    site = run(python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    (Path(site) / "dependencies.pth").write_text("\n".join(sorted(dependencies)) + "\n")
    install = ("install", "--no-index", "--no-deps", "--no-build-isolation", "--ignore-installed")
    run(sys.executable, "-m", "pip", "--python", python, *install, *what, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of a virtual environment that has the wheel."""
    return environment(tmp_path_factory.mktemp("installed"), wheel)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """The folder of a virtual environment in which this checkout is installed, to be edited."""
    pytest.importorskip("hatchling")
    return environment(tmp_path_factory.mktemp("checkout"), "-e", ROOT)


def test_the_wheel_holds_the_kernels(wheel):
    sources = {
        path.relative_to(ROOT / "kernels").as_posix(): path.read_bytes()
        for path in (ROOT / "kernels").rglob("*")
        if path.suffix in (".cu", ".cuh", ".h")
    }
    assert sources
    with zipfile.ZipFile(wheel) as archive:
        for name, content in sources.items():
            assert archive.read(f"mgraph/kernels/sources/{name}") == content, name


def test_the_sdist_holds_what_the_repository_does(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for wanted in ("README.md", "pyproject.toml", "docs/index.md", "tests/test_package.py", "kernels/minplus.cu"):
        assert wanted in names
    assert not [name for name in names if "__pycache__" in name or name.startswith((".git/", "build/", "dist/"))]


def test_the_wheel_has_the_version_of_the_package(wheel):
    assert wheel.name.startswith(f"dask_mgraph-{mgraph.__version__}-")


def test_the_wheel_is_marked_as_typed(wheel):
    with zipfile.ZipFile(wheel) as archive:
        assert "mgraph/py.typed" in archive.namelist()


def test_the_wheel_holds_what_the_benchmarks_read(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for folder, there in (("suites", "suites"), ("published", "published"), ("mgraph_bench/report", "report")):
        files = [path.relative_to(ROOT / "benchmarks" / folder) for path in (ROOT / "benchmarks" / folder).rglob("*.*")]
        files = [path for path in files if path.suffix in (".toml", ".html", ".md", ".css")]
        assert files and {f"mgraph_bench/{there}/{path}" for path in files} <= names


def test_the_wheel_holds_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {
        "mgraph",
        "mgraph_bench",
        "mgraph_networkx",
        "dask_mgraph",
    }
    assert not [name for name in names if "tests" in Path(name).parts or "__pycache__" in name]


def test_the_installed_package_is_complete(installed, tmp_path):
    program = (
        "import mgraph, mgraph.device; print(mgraph.__file__, mgraph.device.KERNELS, sep='\\n');"
        "assert list(mgraph.device.KERNELS.glob('*.cu'))"
    )
    paths = run(installed / "bin" / "python", "-I", "-c", program, cwd=tmp_path).splitlines()
    assert len(paths) == 2
    assert all(Path(path).is_relative_to(installed) for path in paths), paths


@pytest.fixture
def beside_the_other(installed):
    """The Python of `installed`, with the files of another project's distribution `mgraph` beside ours."""
    python = installed / "bin" / "python"
    site = Path(run(python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
    record = site / "mgraph-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: mgraph\nVersion: 1.0\n")
    yield python, site
    shutil.rmtree(record)


def test_the_import_warns_of_another_distribution_in_the_same_folder(beside_the_other, tmp_path):
    python, site = beside_the_other
    said = run(python, "-I", "-c", "import mgraph", cwd=tmp_path)
    assert "mgraph-1.0.dist-info" in said and "pip uninstall mgraph" in said
    assert said.startswith("<string>:1: UserWarning")  # the line that imports it
    said = run(python, "-I", "-W", "ignore", "-m", "mgraph.cli", "info", cwd=tmp_path)
    assert "another distribution named mgraph (1.0) is installed" in said
    shutil.move(site / "mgraph-1.0.dist-info", tmp_path)
    assert run(python, "-I", "-c", "import mgraph", cwd=tmp_path) == ""
    shutil.move(tmp_path / "mgraph-1.0.dist-info", site)


def test_the_command_reports_a_foreign_package(beside_the_other, tmp_path):
    python, site = beside_the_other
    ours = (site / "mgraph" / "__init__.py").read_text()
    try:
        (site / "mgraph" / "__init__.py").write_text("from .graphing import MGraph\n")
        (site / "mgraph" / "graphing.py").write_text("class MGraph: ...\n")
        done = subprocess.run(
            [python, "-I", python.parent / "mgraph", "info"], capture_output=True, text=True, cwd=tmp_path
        )
    finally:
        (site / "mgraph" / "__init__.py").write_text(ours)
        (site / "mgraph" / "graphing.py").unlink()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("mgraph: error: the package mgraph that Python finds is another distribution's")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(not (ROOT / "mgraph" / "cli").exists(), reason="there is no command line")
def test_the_installed_command(installed, tmp_path):
    assert "Usage" in run(installed / "bin" / "mgraph", "--help", cwd=tmp_path)
    run(installed / "bin" / "python", "-I", "-m", "mgraph.cli", "--help", cwd=tmp_path)
    run(installed / "bin" / "mgraph", "info", cwd=tmp_path)
    found = run(installed / "bin" / "mgraph", "components", "--rmat", "5", "--device", "cpu", "--json", cwd=tmp_path)
    assert json.loads(found)["n"] == 32


@pytest.mark.parametrize("environment", ["installed", "checkout"])
def test_the_command_bench_comes_from_a_package_of_its_own(environment, request, tmp_path):
    command = request.getfixturevalue(environment) / "bin" / "mgraph"
    assert re.search("^  bench +Measure", run(command, "--help", cwd=tmp_path), re.M)
    assert "mgraph bench report [DIR]" in run(command, "bench", "--help", cwd=tmp_path)
    for arguments, words in (
        (["nothing"], "use one of apsp-methods, "),
        (["--limit", "soon"], "[SUITE]... Try 'mgraph"),
    ):
        done = subprocess.run([command, "bench", *arguments], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 2 and done.stdout == "" and words in " ".join(done.stderr.split())
    run(command, "bench", "bfs-size", "--quick", "--limit", "0", "--out", "here", cwd=tmp_path)


def test_the_library_never_imports_the_benchmarks():
    for path in (ROOT / "mgraph").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.startswith(("mgraph_bench", "benchmarks"))], path


def test_importing_mgraph_loads_no_large_package():
    program = """
import sys, mgraph
assert "numpy" not in sys.modules
for name in mgraph.__all__:
    if name not in ("DistributedGraph", "resident"):  # which import Dask
        getattr(mgraph, name)
large = {"cupy", "dask", "distributed", "importlib.metadata", "networkx", "numba", "numpy.random", "pandas", "psutil"}
print(*sorted(name for name in sys.modules if name in large or name.partition(".")[0] == "scipy"))
"""
    assert run(sys.executable, "-c", program, env={**os.environ, "PYTHONPATH": str(ROOT)}) == ""


@pytest.mark.parametrize(
    ("name", "algorithms"),
    # bfs shares a program with sssp
    [("sssp", "sssp"), ("bfs", "bfs sssp"), ("apsp", "apsp"), ("Graph", ""), ("Hierarchy", ""), ("read", "")],
)
def test_a_name_imports_only_the_algorithms_it_needs(name, algorithms):
    packages = sorted({module.rpartition(".")[2] for module in MODULES.values() if ".algorithms." in module})
    program = f"""
import sys, mgraph
mgraph.{name}
print(*(each for each in {packages} if f"mgraph.algorithms.{{each}}" in sys.modules))
"""
    assert run(sys.executable, "-c", program, env={**os.environ, "PYTHONPATH": str(ROOT)}) == algorithms


def test_names_are_listed_before_any_is_used():
    program = "import mgraph; names = dir(mgraph); print('bfs' in names, hasattr(mgraph, 'a.b'), names == dir(mgraph))"
    assert run(sys.executable, "-c", program, env={**os.environ, "PYTHONPATH": str(ROOT)}) == "True False True"


def parts(value):
    """Yield a public object, and of a class its functions and the getters of its properties."""
    yield value
    for name, member in inspect.getmembers_static(value) if inspect.isclass(value) else ():
        getter = getattr(member, "__func__", getattr(member, "fget", getattr(member, "func", member)))
        if not name.startswith("_") and inspect.isfunction(getter):
            yield getter


MODULES_OF_NAMES = "mgraph cluster csgraph datasets device errors generate planner roads".split()


@pytest.mark.parametrize("module", MODULES_OF_NAMES)
def test_types_of_public_names_can_be_resolved(module):
    package = mgraph if module == "mgraph" else importlib.import_module(f"mgraph.{module}")
    public = (getattr(package, name) for name in getattr(package, "__all__", None) or dir(package))
    known = [each for each in public if callable(each) and getattr(each, "__module__", "").startswith("mgraph")]
    assert known
    for each in known:
        for part in parts(each):
            typing.get_type_hints(part)


def test_two_threads_may_use_their_first_names_at_once():
    """Their modules import each other."""
    program = """
import sys, threading
import mgraph

sys.setswitchinterval(1e-6)
both, found = threading.Barrier(2), []

def use(name):
    both.wait()
    found.append(getattr(mgraph, name).__name__)

threads = [threading.Thread(target=use, args=(name,)) for name in ("bfs", "transitive_closure")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*sorted(found))
"""
    said = run(sys.executable, "-c", program, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert said == "bfs transitive_closure"


def test_what_users_call_of_an_algorithm_is_public():
    assert sorted(name for name, module in MODULES.items() if module.startswith(".algorithms.")) == calls.NAMES
    for name, module in MODULES.items():
        assert name in getattr(importlib.import_module(module, "mgraph"), "__all__", [name])


@pytest.mark.parametrize(
    ("given", "looks"),
    [({}, "3000"), *exhaustive(({"GOMP_SPINCOUNT": "77"}, "77"), ({"OMP_WAIT_POLICY": "PASSIVE"}, "0"))],
)
def test_waiting_threads_sleep_soon_by_default(given, looks):
    program = (
        "import os; before = dict(os.environ); import mgraph.kernels.minplus.host; assert os.environ == before; "
        "import numba.np.ufunc.omppool; print('libgomp' in open('/proc/self/maps').read())"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_"))}
    environment |= {"PYTHONPATH": str(ROOT), "OMP_DISPLAY_ENV": "VERBOSE", **given}
    if sys.platform != "linux":
        pytest.skip("Numba takes another OpenMP than GNU's")
    said = run(sys.executable, "-c", program, env=environment)
    if said.endswith("False"):
        pytest.skip("this Numba takes another OpenMP than GNU's")
    assert f"GOMP_SPINCOUNT = '{looks}'" in said


def test_other_threading_layers_are_not_configured():
    program = "import mgraph.kernels.minplus.host; print('libgomp' in open('/proc/self/maps').read())"
    if sys.platform != "linux":
        pytest.skip("OpenMP is loaded on Linux only")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_THREADING_LAYER": "workqueue"}
    assert run(sys.executable, "-c", program, env=environment) == "False"


def test_documented_names_exist_after_importing_mgraph():
    pages = "".join(page.read_text() for page in (ROOT / "README.md", *ROOT.glob("docs/*.md")))
    names = set(re.findall(r"mgraph(?:\.[a-z]\w*)+(?=\()", pages))
    assert {"mgraph.apsp", "mgraph.generate.rmat", "mgraph.cluster.connect", "mgraph.device.find"} <= names
    code = f"""if True:
        import os, sys
        import mgraph
        for name in {sorted(names)}:
            # A process each: what one name imports, the next one must not find.
            if not os.fork():
                eval(name)
                os._exit(0)
            assert os.wait()[1] == 0, name
    """
    run(sys.executable, "-c", code, env={**os.environ, "PYTHONPATH": str(ROOT)})
