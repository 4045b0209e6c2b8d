"""Why this machine's GPUs cannot be used, for ``mgraph info``: what is missing or does not go together, and what helps.

Which drivers go with which CUDA is NVIDIA's: "CUDA compatibility" (a driver serves every minor version of its own CUDA
and all older ones) and "CUDA on WSL" (the driver is that of Windows). A driver's version of CUDA is 0 if there is none
(CUDA runtime API, cudaDriverGetVersion).
"""

import os
import platform

from ..errors import DeviceError
from .cuda import OLDEST, cupy, gpu_count

#: A kernel that needs CUDA's headers, as CuPy's own do.
_WITH_HEADERS = '#include <cuda_fp16.h>\nextern "C" __global__ void mgraph_headers(__half* x) { x[0] = x[1]; }\n'


def gpu_problem() -> str | None:
    """Return why no GPU can be used, and what to do about it; None if one can.

    Returns
    -------
    str or None

    Examples
    --------
    >>> from mgraph import device
    >>> problem = device.gpu_problem()
    >>> problem is None or len(problem) > 0
    True
    """
    try:
        xp = cupy()
    except DeviceError as error:
        return str(error)
    runtime = xp.cuda.runtime
    try:
        driver, built = runtime.driverGetVersion(), runtime.runtimeGetVersion()
    except Exception as error:  # CuPy raises its own types, and OSError where a library is missing
        return f"CuPy cannot load CUDA: {_in_a_line(error)}"
    if not driver:
        return f"there is no NVIDIA driver: {_driver_from()}"
    if driver // 1000 < built // 1000:
        return (
            f"the driver is too old: it supports CUDA {_version(driver)}, and CuPy was built for CUDA "
            f"{_version(built)}: pip install 'dask-mgraph[cuda{driver // 1000}]' in place of CuPy, or a newer driver"
        )
    try:
        count = runtime.getDeviceCount()
        problem = "" if count else "none is there"
    except Exception as error:
        count, problem = 0, _in_a_line(error)
    if not count:
        hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
        shown = "" if hidden is None else f"; CUDA_VISIBLE_DEVICES is {hidden!r}"
        return f"CUDA finds no GPU ({problem}{shown}): nvidia-smi shows what there is"
    if not gpu_count():
        found = runtime.getDeviceProperties(0)
        return (
            f"the GPU is too old: {found['name'].decode()} has compute capability {found['major']}.{found['minor']}, "
            f"and the kernels need {OLDEST}.0 or more"
        )
    try:
        xp.RawModule(code=_WITH_HEADERS, options=("-std=c++17",)).compile()
    except Exception as error:
        return (
            f"CUDA's headers are missing, or are not those of CUDA {_version(built)}: pip install "
            f"'dask-mgraph[cuda{built // 1000}]', which brings them, and unset CUDA_PATH ({_in_a_line(error)})"
        )
    return None


def _driver_from() -> str:
    """Return where a driver comes from on this system."""
    if "microsoft" in platform.release().lower():
        return "under WSL, install it in Windows, and none in Linux; then wsl --update"
    return "install it from your system's packages or from NVIDIA"


def _version(number: int) -> str:
    """Return a version of CUDA as people write it."""
    return f"{number // 1000}.{number % 1000 // 10}"


def _in_a_line(error: Exception) -> str:
    """Return the first line of an error with words."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
