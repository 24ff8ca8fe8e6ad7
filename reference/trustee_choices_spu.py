"""Choices among candidates by SPU, three parties of ABY3 in one process, and writes vectors/trustee_choices_spu.json.

    python trustee_choices_spu.py VECTORS

VECTORS is the folder vectors/. Needs spu 0.9.5. Every client's numbers and every noise vector is a secret input of its own; only the
index is opened. The shapes are other ones than those of trustee_choices.py. Integers have 32 bits in a ring of 64: with integers of 64
bits the argmax of this version of SPU is always 0.
"""

import hashlib
import json
import pathlib
import platform
import random
import sys
from importlib.metadata import version

import jax.numpy as jnp
import numpy as np
from spu import libspu
from spu.utils import simulation

SHAPES = [(2, 1, 2, 1), (3, 2, 4, 2), (4, 5, 3, 3), (6, 3, 2, 1), (8, 4, 5, 4), (12, 2, 1, 1), (15, 6, 6, 5), (19, 3, 10, 9),
          (31, 8, 7, 6), (33, 2, 3, 2), (64, 4, 12, 11), (100, 5, 20, 18)]  # fmt: skip


def choose(contributions, noise):
    total = sum(contributions)
    return jnp.argmax(jnp.where(total < 0, -total - 1, total) + sum(noise))


def main():
    script = pathlib.Path(__file__)
    draw = random.Random(20261)
    vectors = []
    for number, (candidates, clients, bits, noise_bits) in enumerate(SHAPES):
        half = 1 << (bits - 1)
        contributions = [[draw.randrange(-half, half) for _ in range(candidates)] for _ in range(clients)]
        noise = [[draw.randrange(1 << noise_bits) for _ in range(candidates)] for _ in range(3)]
        simulator = simulation.Simulator.simple(3, libspu.ProtocolKind.ABY3, libspu.FieldType.FM64)
        secret = [np.array(numbers, dtype=np.int32) for numbers in [*contributions, *noise]]
        chosen = simulation.sim_jax(simulator, lambda *all: choose(all[:-3], all[-3:]))
        vectors.append({
            "id": f"trustee_choices_spu-{number:04}",
            "group": "choice",
            "inputs": {
                "client_bits": bits, "noise_bits": noise_bits, "contributions": contributions, "noise": noise,
            },
            "expected": {"index": str(int(chosen(*secret)))},
        })  # fmt: skip
    meta = {
        "name": "trustee_choices_spu",
        "description": "choices with noise by SPU, three parties of ABY3 in one process: the first index of the largest "
        "a(u)+noise, a(u)=max(u,-u-1), u the sum of the clients' integers, three noise vectors",
        "generator": {
            "script": f"reference/{script.name}",
            "script_sha256": hashlib.sha256(script.read_bytes()).hexdigest(),
            "python": platform.python_version(),
            "parties": 3,
            "command": f"python reference/{script.name} vectors",
        },
        "library_versions": {"spu": version("spu"), "jax": version("jax"), "numpy": version("numpy")},
        "tolerance": {"kind": "exact"},
        "count": len(vectors),
    }
    path = pathlib.Path(sys.argv[1]) / "trustee_choices_spu.json"
    path.write_text(json.dumps({"meta": meta, "vectors": vectors}, indent=1) + "\n")


main()
