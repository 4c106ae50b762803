! Two ranks that both send before they receive: right if sends are buffered, a deadlock if they wait.
program head_to_head
  use mpi_f08
  implicit none
  integer :: rank, other
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Send(rank, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD)
  call MPI_Recv(other, 1, MPI_INTEGER, 1 - rank, 0, &
                MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  print *, 'rank', rank, 'has the number of rank', other
  call MPI_Finalize()
end program
