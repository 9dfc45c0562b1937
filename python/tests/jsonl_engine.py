"""The exact engine behind the protocol of the kit, with faults of a process."""

import json
import sys
import time

from exact_engine import Exact

fault = sys.argv[1] if len(sys.argv) > 1 else ""
engine = Exact()
for line in sys.stdin:
    given = json.loads(line)
    if "hello" in given:
        if fault == "mute":
            time.sleep(60)
        about = {"name": "exact-jsonl", "version": "1", "settings": {"fault": fault}, "precision": "double"}
        print(json.dumps({**about, "unsupported": ["box"] if fault == "no-box" else []}), flush=True)
        continue
    if given["scene"] == "ball-e05":
        if fault == "dies":
            sys.exit(3)
        if fault == "silent":
            time.sleep(60)
        if fault == "babbles":
            print("no json", flush=True)
            continue
        if fault == "twice":
            print(json.dumps(engine.run(given)), flush=True)
        if fault == "nan":
            print('{"bodies": [{"position": [[NaN, 0, 0]]}]}', flush=True)
            continue
        if fault == "refuses":
            print('{"unsupported": "no <half> restitution"}', flush=True)
            continue
        if fault == "endless":
            while True:
                sys.stdout.write("x" * 65536)
    print(json.dumps(engine.run(given), default=float), flush=True)
