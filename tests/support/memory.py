"""Memory that a call allocates, measured."""

import tracemalloc


def measured(call):
    """Return a call's result, and the most bytes that were allocated at a time while it ran."""
    tracemalloc.start()
    try:
        result = call()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def with_peak(xp, call):
    """Return a call's result and the most bytes that CuPy's pool had in use during it."""
    pool = xp.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.used_bytes()

    class Watch(xp.cuda.MemoryHook):
        name = "watch"
        peak = 0

        def malloc_postprocess(self, **_):
            self.peak = max(self.peak, pool.used_bytes() - before)

    with Watch() as watch:
        result = call()
    return result, watch.peak
