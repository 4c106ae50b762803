"""Two ranks swap values: each receives first. Case `right` sends first on one of them."""

import ctypes
import sys

mpi = ctypes.CDLL(None)
WORLD, INT = ctypes.c_void_p(0x101), ctypes.c_void_p(0x209)


def receive(source):
    value = ctypes.c_int()
    mpi.MPI_Recv(ctypes.byref(value), 1, INT, source, 0, WORLD, None)
    return value.value


def send(value, to):
    mpi.MPI_Send(ctypes.byref(ctypes.c_int(value)), 1, INT, to, 0, WORLD)


mpi.MPI_Init(None, None)
rank = ctypes.c_int()
mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
rank = rank.value
if rank == 1 and "right" in sys.argv:
    send(rank, to=0)
    got = receive(source=0)
else:
    got = receive(source=1 - rank)
    send(rank, to=1 - rank)
print(f"rank {rank} got {got}")
mpi.MPI_Finalize()
