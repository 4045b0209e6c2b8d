"""Faults in the middle of calls on Dask workers: fault x moment x algorithm, and what a call leaves behind.

``python -m tests.faults --count 300 --seed 1`` makes 300 rounds, on GPUs with ``--device cuda --workers 2``. In each a
call is struck by a fault of `faults` at a moment of `cases`. The call has to end in the right result, bit for bit. Only
where it may not be made again, or where the fault lasts, it may end in one error of mgraph, within 90 s, or so many
beyond the time for which a worker may be silent. The next call has to be right, and nothing may be left: sessions,
threads and tasks on the workers, processes, files, and the line of calls at the scheduler. Dask's logs may have no
traceback, and nothing of sending to a worker that has left.

``--jobs 8`` has so many processes make the rounds side by side, each on clusters of its own. ``--seconds 500`` lets no
round begin later. The table is written after each round, and what SIGTERM or Ctrl-C stops leaves nothing behind.

``python -m tests.faults --soak 2000`` makes so many calls in one client, kills a worker every 50, and measures what
grows.
"""
