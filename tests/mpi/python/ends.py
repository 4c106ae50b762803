"""How a rank of Python may end: the case is the first argument."""

import ctypes
import sys

mpi = ctypes.CDLL(None)
case = sys.argv[1]
if case == "early":
    sys.exit(4)
if case == "alone":
    sys.exit(0)
mpi.MPI_Init(None, None)
if case == "raises":
    {}["missing"]
if case == "asserts":
    assert 1 + 1 == 3, "sums"
mpi.MPI_Finalize()
if case == "late":
    sys.exit(5)
if case == "quits":
    import os
    os._exit(5)
