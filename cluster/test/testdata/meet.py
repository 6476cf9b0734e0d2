"""All replicas of a job meet, each found through what its operator put into the environment."""
import json, os, socket, sys, time


def place():
    """The replica's number, how many there are, and where number 0 listens."""
    e = os.environ
    if "TF_CONFIG" in e:
        config = json.loads(e["TF_CONFIG"])
        cluster, task = config["cluster"], config["task"]
        trainers = [("chief", 0)] + [("worker", i) for i in range(len(cluster["worker"]))]
        host, port = cluster["chief"][0].rsplit(":", 1)
        return trainers.index((task["type"], task["index"])), len(trainers), host, port
    if "PADDLE_MASTER" in e:  # leaves the numbers to the replicas
        host, port = e["PADDLE_MASTER"].rsplit(":", 1)
        return 0 if "POD_IP_DUMMY" in e else 1, int(e["PADDLE_NNODES"]), host, port
    if "COORDINATOR_ADDRESS" in e:
        return int(e["PROCESS_ID"]), int(e["NUM_PROCESSES"]), e["COORDINATOR_ADDRESS"], e["COORDINATOR_PORT"]
    return int(e["RANK"]), int(e["WORLD_SIZE"]), e["MASTER_ADDR"], e["MASTER_PORT"]


rank, world, host, port = place()
me = socket.gethostname()
if rank == 0:
    server = socket.create_server(("", int(port)))
    names = [me]
    peers = []
    while len(names) < world:
        peer, _ = server.accept()
        names.append(peer.makefile().readline().strip())
        peers.append(peer)
    for peer in peers:
        peer.sendall(b"welcome\n")
    print("met:", *sorted(names))
else:
    deadline = time.time() + 50
    while True:
        try:
            meeting = socket.create_connection((host, int(port)), 5)
            break
        except OSError as e:
            if time.time() > deadline:
                sys.exit(f"{host}:{port}: {e}")
            time.sleep(0.05)
    meeting.sendall(me.encode() + b"\n")
    print(meeting.makefile().readline().strip())
