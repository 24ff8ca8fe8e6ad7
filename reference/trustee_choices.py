"""Choices among candidates by mpyc, three parties: python trustee_choices.py -M3"""
import json, random, sys
from mpyc.runtime import mpc
import mpyc

secint = mpc.SecInt(32)


async def choose(contributions, noise):
    p = len(noise[0])
    scores = []
    for j in range(p):
        u = secint(0)
        for row in contributions:
            u = u + mpc.input(secint(row[j]), senders=0)
        negative = u < 0
        a = mpc.if_else(negative, -u - 1, u)
        for dealer in range(3):
            a = a + mpc.input(secint(noise[dealer][j]), senders=dealer)
        scores.append(a)
    best, index = scores[0], secint(0)
    for j in range(1, p):
        greater = scores[j] > best
        best = mpc.if_else(greater, scores[j], best)
        index = mpc.if_else(greater, secint(j), index)
    return int(await mpc.output(index))


async def main():
    rng = random.Random(20260)
    vectors = []
    await mpc.start()
    shapes = [(1, 2, 3, 2), (2, 3, 2, 2), (3, 3, 2, 1), (5, 4, 3, 3), (7, 2, 2, 1), (9, 6, 4, 3),
              (11, 1, 2, 1), (13, 5, 3, 2), (16, 8, 7, 5), (17, 3, 1, 1), (20, 10, 7, 6), (23, 4, 2, 2)]
    for number, (p, n, bits, noise_bits) in enumerate(shapes):
        half = 1 << (bits - 1)
        contributions = [[rng.randrange(-half, half) for _ in range(p)] for _ in range(n)]
        noise = [[rng.randrange(1 << noise_bits) for _ in range(p)] for _ in range(3)]
        index = await choose(contributions, noise)
        vectors.append({"id": f"trustee_choices-{number:04}", "group": "choice",
                        "inputs": {"client_bits": bits, "noise_bits": noise_bits,
                                   "contributions": contributions, "noise": noise},
                        "expected": {"index": index}})
    await mpc.shutdown()
    if mpc.pid == 0:
        json.dump({"vectors": vectors, "mpyc": mpyc.__version__, "python": sys.version.split()[0],
                   "parties": len(mpc.parties)}, open(sys.argv[1] if len(sys.argv) > 1 else "out.json", "w"))

mpc.run(main())
