# Measures an all-reduce over all ranks and prints it as nccl-tests does. The bus bandwidth is that of
# https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md: size / time * 2 * (ranks - 1) / ranks.
import os, socket
from mpi4py import MPI

world = MPI.COMM_WORLD
ranks = world.Get_size()


def seconds(send, receive, times):
    world.Barrier()
    began = MPI.Wtime()
    for _ in range(times):
        world.Allreduce([send, MPI.FLOAT], [receive, MPI.FLOAT])
    return world.allreduce(MPI.Wtime() - began, op=MPI.MAX)


def say(text):
    if world.Get_rank() == 0:
        print(text, flush=True)


here = "Pid %6d on %s" % (os.getpid(), socket.gethostname())
for rank, place in enumerate(world.allgather(here)):
    say("#  Rank %2d %s" % (rank, place))
say("#       size         count      type   redop    root     time   algbw   busbw")
say("#        (B)    (elements)                               (us)  (GB/s)  (GB/s)")
for size in (1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 25):
    send, receive = bytearray(size), bytearray(size)
    once = seconds(send, receive, 1)  # the first one connects the ranks
    once = seconds(send, receive, 1)
    times = max(2, min(200, int(0.5 / once)))
    each = seconds(send, receive, times) / times
    speed = size / each / 1e9
    say("%12d  %12d     float     sum      -1 %8.1f %7.3f %7.3f" % (size, size // 4, each * 1e6, speed, speed * 2 * (ranks - 1) / ranks))
    if each > 1:  # larger messages take too long here
        break
