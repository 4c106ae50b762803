! Each rank adds up a part of an integral; the sum is pi.
program pi
  use mpi
  implicit none
  integer, parameter :: steps = 1000
  integer :: rank, ranks, i, ierr
  double precision :: part, all, x
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  part = 0
  do i = rank, steps - 1, ranks
    x = (i + 0.5d0) / steps
    part = part + 4 / (1 + x * x) / steps
  end do
  call MPI_Reduce(part, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a, f8.5)', 'pi is about', all
  call MPI_Finalize(ierr)
end program
