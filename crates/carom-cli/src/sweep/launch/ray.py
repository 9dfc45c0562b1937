#!/usr/bin/env python3
"""The sweep @NAME@ on Ray: a part of its shards for every call; the folder is the only state."""

import subprocess
import sys

import ray

CAROM, PLAN, OUT, TABLE = [@CAROM@], @PLAN@, @OUT@, @TABLE@
SHARDS, TASKS = @SHARDS@, @TASKS@


@ray.remote(num_cpus=1, max_retries=-1)
def part(i):
    """Computes the shards k with k % TASKS == i. A killed worker loses the shards in hand."""
    command = [*CAROM, "sweep", "run", PLAN, "--out", OUT, "--shard", f"{i}/{TASKS}", "--threads", "1"]
    while True:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            return i
        # 1 and signals: stopped from outside, so go on. Anything else is for people.
        if done.returncode > 1:
            raise RuntimeError(done.stderr.strip())


ray.init(address=sys.argv[1] if len(sys.argv) > 1 else None)
waiting = [part.remote(i) for i in range(TASKS)]
while waiting:
    finished, waiting = ray.wait(waiting)
    ray.get(finished)
    print(f"{TASKS - len(waiting)} of {TASKS} parts", file=sys.stderr)
sys.exit(subprocess.run([*CAROM, "sweep", "merge", OUT, "-o", TABLE]).returncode)
