"""The index of the largest of n scores by SPU: three parties of ABY3 in one process, each with a thread.

    python spu_argmax.py N REPETITIONS

Each of three parties has a share of every score, as after a sum over clients. The scores are added up, and the index of
the largest one is opened. Integers have 32 bits in a ring of 64, as the argmax of 64-bit integers is wrong in spu 0.9.5. The
last line has the medians for one party, as JSON: CPU time, and bytes sent, which SPU writes to its log.
"""

import json
import os
import re
import statistics
import sys
import tempfile
import time
from importlib.metadata import version

import jax.numpy as jnp
import numpy as np
from spu import libspu
from spu.utils import simulation


def logged(work):
    """What `work` returns, and what this process wrote to its two outputs meanwhile: the log is written in C++."""
    with tempfile.TemporaryFile() as log:
        kept = [os.dup(1), os.dup(2)]
        try:
            for stream in (1, 2):
                os.dup2(log.fileno(), stream)
            found = work()
        finally:
            for stream, former in zip((1, 2), kept):
                os.dup2(former, stream)
        log.seek(0)
        return found, log.read().decode(errors="replace")


def main():
    n, repetitions = int(sys.argv[1]), int(sys.argv[2])
    config = libspu.RuntimeConfig(protocol=libspu.ProtocolKind.ABY3, field=libspu.FieldType.FM64)
    config.enable_pphlo_profile = True
    simulator = simulation.Simulator(3, config)
    random = np.random.default_rng(1)
    shares = [random.integers(-(2**28), 2**28, size=n, dtype=np.int32) for _ in range(3)]
    chosen = simulation.sim_jax(simulator, lambda a, b, c: jnp.argmax(a + b + c))
    seconds, sent = [], []
    # The first call compiles.
    for _ in range(repetitions + 1):
        started = time.process_time()
        index, log = logged(lambda: chosen(*shares))
        seconds.append((time.process_time() - started) / 3)
        assert int(index) == int(np.argmax(sum(shares))), (index, log)
        found = re.findall(r"total send bytes (\d+)", log)
        sent += [int(found[-1])] if found else []
    print()
    print(
        json.dumps(
            dict(
                version=version("spu"),
                repetitions=repetitions,
                candidates=n,
                cpu_milliseconds=1e3 * statistics.median(seconds[1:]),
                megabytes_sent=statistics.median(sent) / 1e6 if sent else None,
            )
        )
    )


main()
