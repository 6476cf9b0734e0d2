"""The ranks of a job: over MPI under mpirun, alone without it."""

import os
import platform
import sys

# Set by mpirun (Open MPI), by PMIx and by Hydra (MPICH, Intel MPI).
UNDER_MPIRUN = ("OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE")


class Alone:
    """A world of one rank."""

    rank, size = 0, 1

    def sum(self, array):
        pass

    def broadcast(self, array):
        pass

    def barrier(self):
        pass

    def gather(self, value):
        return [value]

    def abort(self, code):
        sys.exit(code)


class MPIWorld:
    """The ranks that mpirun started."""

    def __init__(self, mpi):
        self.mpi, self.comm = mpi, mpi.COMM_WORLD
        self.rank, self.size = self.comm.Get_rank(), self.comm.Get_size()

    def sum(self, array):
        """Replaces an array by its sum over all ranks."""
        self.comm.Allreduce(self.mpi.IN_PLACE, array, op=self.mpi.SUM)

    def broadcast(self, array):
        """Replaces an array by that of rank 0."""
        self.comm.Bcast(array, root=0)

    def barrier(self):
        self.comm.Barrier()

    def gather(self, value):
        """Every rank's value, in the order of the ranks, on all of them."""
        return self.comm.allgather(value)

    def abort(self, code):
        self.comm.Abort(code)


def join():
    """Joins the job's world."""
    if not any(name in os.environ for name in UNDER_MPIRUN):
        return Alone()
    try:
        from mpi4py import MPI
    except ImportError as fault:
        sys.exit(f"error: mpirun started several ranks, and they cannot talk: {fault}. Install mpi4py (Debian: python3-mpi4py).")
    return MPIWorld(MPI)


def host():
    """The name of the machine or pod that this rank runs on."""
    return platform.node()
