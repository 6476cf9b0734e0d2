"""Adds up the numbers of MPICH's ranks. It calls the C library, since Debian's mpi4py is made for Open MPI alone."""
import ctypes
import os

mpi = ctypes.CDLL("libmpich.so.12")
WORLD, INT, SUM = 0x44000000, 0x4C000405, 0x58000003  # mpi.h
mpi.MPI_Init(None, None)
rank, size, total = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
mpi.MPI_Comm_size(WORLD, ctypes.byref(size))
mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(total), 1, INT, SUM, WORLD)
os.write(1, f"rank {rank.value} of {size.value}, the sum is {total.value}\n".encode())  # at once: Hydra tags each piece
mpi.MPI_Finalize()
