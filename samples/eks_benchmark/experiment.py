"""Stands in for training: reads its share of the dataset in batches and counts images per second.

experiment.py FOLDER BATCH STEPS
"""
import os
import sys
import time
import zlib

IMAGE = 3 * 32 * 32

folder, batch, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rank, size = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"])
data = b"".join(open(os.path.join(folder, name), "rb").read() for name in sorted(os.listdir(folder)))
mine = [data[i : i + IMAGE] for i in range(rank * IMAGE, len(data), size * IMAGE)] or [data[:IMAGE]]

warm_up = steps // 10
for step in range(steps):
    if step == warm_up:
        start, seen = time.perf_counter(), 0
    for i in range(batch):
        zlib.compress(mine[(step * batch + i) % len(mine)], 9)
    if step >= warm_up:
        seen += batch
        if step % 10 == 9 or step == steps - 1:
            print(f"{step + 1}\timages/sec: {seen / (time.perf_counter() - start):.1f}", flush=True)
