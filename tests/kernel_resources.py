"""Resources of each kernel: registers, shared memory, stack and spills, reported by the compiler without a GPU.

``python -m tests.kernel_resources`` compiles every instance of every ``kernels/*.cu`` for each architecture
with NVRTC and prints a table. It exits with 1 if anything fails to compile, or if a kernel spills registers
and ``benchmarks/spills.toml`` does not name the benchmark that justifies it.
"""

import importlib
import pkgutil
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mgraph import device
from mgraph.device.compile import compilation

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
ALLOWED = Path(__file__).parents[1] / "benchmarks" / "spills.toml"

#: CuPy appends these to the options of every RawModule.
CUPY_OPTIONS = ("-ftz=true", "--device-as-default-execution-space")

#: The log of ptxas for a kernel, up to the next one; functions that it calls without inlining follow it.
_ENTRY = re.compile(r"Compiling entry function '(\w+)'[^\n]*\n(.*?)(?=Compiling entry function|\Z)", re.DOTALL)


class CompileError(Exception):
    """A source that NVRTC does not compile, with its log; or a log without the figures."""


@dataclass(frozen=True)
class Usage:
    """The resources of one kernel instance on one architecture: registers, and bytes of all else."""

    source: str
    kernel: str
    arch: str
    registers: int
    shared: int
    stack: int
    spill_stores: int
    spill_loads: int

    @property
    def spills(self) -> bool:
        return self.spill_stores + self.spill_loads > 0


def compiler_missing() -> str:
    """Return why there is no NVRTC here, or an empty string where there is one."""
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        return f"NVRTC is not installed ({reason}): pip install cuda-bindings nvidia-cuda-nvrtc"
    return ""


def families(package: str = "mgraph.kernels") -> dict[str, tuple[str, ...]]:
    """Return the instances of each source, as the modules of `package` list them."""
    instances: dict[str, tuple[str, ...]] = {}
    for info in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        if info.name.endswith(".host"):
            continue  # it has nothing to compile, and imports Numba
        module = importlib.import_module(info.name)
        if hasattr(module, "SOURCE"):
            listed = instances.get(module.SOURCE, ()) + tuple(module.INSTANCES)
            instances[module.SOURCE] = tuple(dict.fromkeys(listed))
    return instances


def compile_source(source: Path, instances: Sequence[str], arch: str) -> list[Usage]:
    """Compile `instances` of `source` for `arch` and return what each of its kernels uses.

    Raises
    ------
    CompileError
        If NVRTC refuses the source, or its log lacks the figures of an instance.
    """
    from cuda.bindings import nvrtc

    request = compilation(str(source.resolve()), instances)
    options = (*request["options"], *CUPY_OPTIONS, f"-arch={arch}", "--ptxas-options=-v")
    _, program = nvrtc.nvrtcCreateProgram(request["code"].encode(), source.name.encode(), 0, [], [])
    try:
        for name in request["name_expressions"]:
            nvrtc.nvrtcAddNameExpression(program, name.encode())
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = bytearray(size)
        nvrtc.nvrtcGetProgramLog(program, log)
        text = log.rstrip(b"\0").decode(errors="replace").strip()
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise CompileError(f"{source.name} does not compile for {arch}: {status.name}\n{text}")
        names = {
            nvrtc.nvrtcGetLoweredName(program, name.encode())[1].decode(): name for name in request["name_expressions"]
        }
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    usages = [
        Usage(source.name, names.get(symbol, symbol), arch, *figures) for symbol, figures in parse_log(text).items()
    ]
    if lost := set(instances) - {usage.kernel for usage in usages}:
        raise CompileError(f"{source.name} for {arch}: the log has no figures of {sorted(lost)}\n{text}")
    return usages


def parse_log(log: str) -> dict[str, tuple[int, int, int, int, int]]:
    """Return registers, shared memory, stack, spill stores and spill loads by mangled name."""

    def total(pattern: str, text: str) -> int:
        return sum(int(figure) for figure in re.findall(rf"(\d+) {pattern}", text))

    return {
        symbol: (
            total("registers", text),
            total("bytes smem", text),
            total("bytes stack frame", text),
            total("bytes spill stores", text),
            total("bytes spill loads", text),
        )
        for symbol, text in _ENTRY.findall(log)
        if "registers" in text and "spill stores" in text
    }


def allowed_spills(path: Path = ALLOWED) -> dict[tuple[str, str], str]:
    """Return the benchmark that justifies each spill, by kernel and architecture (or ``"*"``)."""
    tables = tomllib.loads(path.read_text())
    return {(kernel, arch): why for kernel, table in tables.items() for arch, why in table.items()}


def unlisted_spills(usages: Iterable[Usage], allowed: Mapping[tuple[str, str], str]) -> list[Usage]:
    """Return those of `usages` that spill and are not in `allowed`."""
    return [
        usage
        for usage in usages
        if usage.spills and not {(usage.kernel, usage.arch), (usage.kernel, "*")} & allowed.keys()
    ]


def check(
    architectures: Sequence[str] = ARCHITECTURES,
    folder: Path = device.KERNELS,
    package: str = "mgraph.kernels",
    allowed: Path = ALLOWED,
) -> tuple[list[Usage], list[str]]:
    """Compile all sources of `folder` and return the kernels' resources, and the problems found."""
    instances = families(package)
    usages: list[Usage] = []
    problems = []
    for name in sorted({path.name for path in folder.glob("*.cu")} | instances.keys()):
        if not (folder / name).is_file():
            problems.append(f"{name}: a module of {package} names it, and it is not in {folder.name}/")
            continue
        if not instances.get(name):
            problems.append(f"{name}: no module of {package} lists its instances")
        for arch in architectures:
            try:
                usages += compile_source(folder / name, instances.get(name, ()), arch)
            except CompileError as error:
                problems.append(str(error))
    if not (usages or problems):
        problems.append(f"{folder.name}/ holds no *.cu")
    problems += [
        f"{usage.source}: {usage.kernel} spills for {usage.arch}, and {allowed.name} does not justify it"
        for usage in unlisted_spills(usages, allowed_spills(allowed))
    ]
    return usages, problems


def table(usages: Iterable[Usage]) -> str:
    """Return `usages` as an aligned table, a line each."""
    rows: list[tuple[str, ...]] = [("source", "kernel", "arch", "registers", "shared", "stack", "spill st", "spill ld")]
    for u in sorted(usages, key=lambda u: (u.source, u.kernel, len(u.arch), u.arch)):
        figures = (u.registers, u.shared, u.stack, u.spill_stores, u.spill_loads)
        rows.append((u.source, u.kernel, u.arch, *map(str, figures)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < 3 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def main() -> int:
    """Print the table and the problems; return 1 if there are any."""
    if missing := compiler_missing():
        print(missing, file=sys.stderr)
        return 1
    usages, problems = check()
    print(table(usages))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
