"""Copies the results of the experiments out of the shared storage, with a table of their throughput.

results.py FROM TO STATUS WORKERS
"""
import json
import os
import re
import shutil
import sys

source, target, status, workers = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
if os.path.isdir(source):
    shutil.copytree(source, target)
else:
    os.makedirs(target)
lines = [f"status: {status}", "workers\timages/sec"]
for n in workers:
    log = os.path.join(target, f"{n}-workers.log")
    speeds = {}
    if os.path.exists(log):
        for line in open(log, errors="replace"):
            rank = re.search(r"\[\d+,(\d+)\]<std", line)
            speed = re.search(r"images/sec: ([0-9.]+)", line)
            if speed:
                speeds[rank and rank[1]] = float(speed[1])
    lines.append(f"{n}\t{sum(speeds.values()):.1f}" if speeds else f"{n}\tno result")
with open(os.path.join(target, "summary.txt"), "w") as f:
    f.write("\n".join(lines) + "\n")
print("\n".join(lines))
