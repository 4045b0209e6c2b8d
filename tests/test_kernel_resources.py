"""Every kernel compiles for every architecture without unjustified spills; and the check detects them."""

import sys

import pytest

from mgraph import device
from tests import kernel_resources

needs_compiler = pytest.mark.skipif(
    bool(kernel_resources.compiler_missing()), reason=kernel_resources.compiler_missing()
)

TOY = """
template <typename T>
__global__ void plain(T* out) {
    __shared__ T tile[64];
    tile[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
"""

#: 128 values a thread, combined with one another, where 1024 threads leave 64 registers each.
SPILLING = """
template <typename T>
__global__ void __launch_bounds__(1024) crowded(T* out, int n) {
    T held[128];
    #pragma unroll
    for (int i = 0; i < 128; ++i) held[i] = out[i * n + threadIdx.x];
    for (int k = 0; k < n; ++k) {
        #pragma unroll
        for (int i = 0; i < 128; ++i) held[i] = held[i] * held[(i + 1) % 128] + held[(i + 7) % 128];
    }
    #pragma unroll
    for (int i = 0; i < 128; ++i) out[i * n + threadIdx.x] = held[i];
}
"""

#: The same in a function of its own: ptxas reports its spills apart from its caller's.
SPILLING_CALLEE = (
    SPILLING.replace("__global__ void __launch_bounds__(1024)", "__device__ __noinline__ void")
    + "__global__ void __launch_bounds__(1024) caller(float* out) { crowded(out, 5); }"
)


def test_headers_are_part_of_what_is_compiled():
    folder = device.KERNELS
    headers = {path.name: path.read_text() for path in folder.glob("*.cuh")}
    used = set()
    for source in folder.glob("*.cu"):
        code = kernel_resources.compilation(source, ())["code"]
        assert "#include" not in code
        used |= {name for name, text in headers.items() if text in code}
    assert headers and used == headers.keys()


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A function that checks a folder with one source, listed by a package made for it."""
    kernels = tmp_path / "kernels"
    package = tmp_path / "toy_families"
    kernels.mkdir()
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "helpers.py").write_text("UNRELATED = 1\n")
    allowed = tmp_path / "spills.toml"
    monkeypatch.syspath_prepend(tmp_path)

    def check(code, *instances, spills=""):
        (kernels / "toy.cu").write_text(code)
        (package / "toy.py").write_text(f"SOURCE = 'toy.cu'\nINSTANCES = {instances!r}\n")
        allowed.write_text(spills)
        return kernel_resources.check(["sm_90"], kernels, package.name, allowed)

    yield check
    for name in [name for name in sys.modules if name.partition(".")[0] == package.name]:
        del sys.modules[name]


@needs_compiler
def test_a_clean_kernel(toy):
    usages, problems = toy(TOY, "plain<float>", "plain<double>")
    assert not problems
    shared = {usage.kernel: usage.shared for usage in usages}
    assert shared == {"plain<float>": 256, "plain<double>": 512}
    assert all(usage.registers > 0 and not usage.spills for usage in usages)
    assert len({len(line) for line in kernel_resources.table(usages).splitlines()}) == 1


@needs_compiler
@pytest.mark.parametrize(
    ("code", "kernel"), [(SPILLING, "crowded<float>"), (SPILLING_CALLEE, "caller")], ids=["own", "callee"]
)
def test_a_spill_is_a_problem(toy, code, kernel):
    usages, problems = toy(code, kernel)
    assert [usage.kernel for usage in usages if usage.spill_stores and usage.spill_loads] == [kernel]
    (problem,) = problems
    assert kernel in problem and "spills for sm_90" in problem


@needs_compiler
@pytest.mark.parametrize(("arch", "allowed"), [("sm_90", True), ("'*'", True), ("sm_80", False)])
def test_a_justified_spill(toy, arch, allowed):
    usages, problems = toy(SPILLING, "crowded<float>", spills=f'["crowded<float>"]\n{arch} = "a benchmark"\n')
    assert usages[0].spills
    assert bool(problems) != allowed


@needs_compiler
@pytest.mark.parametrize(
    ("code", "instances", "complaint"),
    [
        (TOY.replace("tile[64];", "tile[64]"), ("plain<float>",), 'expected a ";"'),
        (TOY, ("plain<float>", "absent<float>"), "absent"),
        (TOY, (), "lists its instances"),
    ],
    ids=["syntax", "unknown instance", "unlisted source"],
)
def test_a_source_in_error(toy, code, instances, complaint):
    _, problems = toy(code, *instances)
    (problem,) = problems
    assert "toy.cu" in problem and complaint in problem


def test_a_log_without_figures_is_no_pass():
    assert kernel_resources.parse_log("ptxas info    : Compiling entry function 'f' for 'sm_90'\n") == {}
