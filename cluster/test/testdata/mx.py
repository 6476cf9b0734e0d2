"""One replica of an MXJob: the scheduler waits for all, servers and workers find it by what the operator put into the environment."""
import os, socket, sys, time

e = os.environ
role, servers, workers = e["DMLC_ROLE"], int(e["DMLC_NUM_SERVER"]), int(e["DMLC_NUM_WORKER"])
at = e["DMLC_PS_ROOT_URI"], int(e["DMLC_PS_ROOT_PORT"])
if role == "scheduler":
    listening = socket.create_server(("", at[1]))
    peers = [listening.accept()[0] for _ in range(servers + workers)]
    names = sorted(p.makefile().readline().strip() for p in peers)
    for p in peers:
        p.sendall(b"go\n")
    for p in peers:
        p.recv(1)  # nothing: it has ended
    print("met:", *names)
    sys.exit()
deadline = time.time() + 50
while True:
    try:
        scheduler = socket.create_connection(at, 5)
        break
    except OSError as error:
        if time.time() > deadline:
            sys.exit(f"{at}: {error}")
        time.sleep(0.05)
scheduler.settimeout(None)
scheduler.sendall(f"{role}\n".encode())
scheduler.makefile().readline()
if role == "worker":
    print(f"one of {workers} workers beside {servers} servers")
    print("loss=0.5")
