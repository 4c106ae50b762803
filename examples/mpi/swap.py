"""Two ranks swap values. Each of them receives before it sends.

This example needs nothing but Python: it calls the functions of MPI by ctypes.
"""

import ctypes

mpi = ctypes.CDLL(None)
WORLD = ctypes.c_void_p(0x101)
INT = ctypes.c_void_p(0x209)

mpi.MPI_Init(None, None)
rank = ctypes.c_int()
got = ctypes.c_int()
mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
other = 1 - rank.value
mpi.MPI_Recv(ctypes.byref(got), 1, INT, other, 0, WORLD, None)
mpi.MPI_Send(ctypes.byref(rank), 1, INT, other, 0, WORLD)
print(f"rank {rank.value} got {got.value}")
mpi.MPI_Finalize()
