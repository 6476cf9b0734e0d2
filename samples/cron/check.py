"""Looks at how busy the machine is and says how late it looked. Plain Python: any image with it will do."""
import datetime
import json
import os
import pathlib
import sys

due = datetime.datetime.fromisoformat(sys.argv[1].replace("Z", "+00:00"))
late = (datetime.datetime.now(datetime.timezone.utc) - due).total_seconds()
load = os.getloadavg()[0] / os.cpu_count()
print(f"look {sys.argv[2]}, due {due:%H:%M:%S}, {late:.1f} s late: load={load:.2f}")
metrics = pathlib.Path(sys.argv[3])
metrics.parent.mkdir(parents=True, exist_ok=True)
metrics.write_text(json.dumps(dict(metrics=[
    dict(name="load", numberValue=load, format="RAW"),
    dict(name="late", numberValue=late, format="RAW"),
])))
