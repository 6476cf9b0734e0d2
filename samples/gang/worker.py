"""A worker of a TFJob that begins when all workers are there, however long that takes, as every all-reduce does. Who they
are stands in TF_CONFIG: worker 0 counts the others, and tells them to begin."""
import json
import os
import socket
import time

config = json.loads(os.environ["TF_CONFIG"])
workers, index = config["cluster"]["worker"], config["task"]["index"]
host, port = workers[0].rsplit(":", 1)
print(f"worker {index} waits for the other {len(workers) - 1}", flush=True)


def gather():
    others = {}
    with socket.create_server(("", int(port))) as server:
        while len(others) < len(workers) - 1:
            connection, _ = server.accept()
            if who := connection.recv(16):
                others[who] = connection
    for connection in others.values():
        connection.sendall(b"begin")
    print("worker 0: all are there", flush=True)
    for connection in others.values():
        connection.recv(1)  # until that worker is done: the job ends with worker 0


def join():
    """Tells whether worker 0 has said that all are there."""
    try:
        with socket.create_connection((host, int(port)), 5) as connection:
            connection.settimeout(None)
            connection.sendall(str(index).encode())
            if connection.recv(5) == b"":
                return False
            print(f"worker {index}: all are there", flush=True)
            return True
    except OSError:  # its pod or its name is not there yet
        return False


if index == 0:
    gather()
else:
    while not join():
        time.sleep(0.05)
