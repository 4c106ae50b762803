! 1, 2, 3: right
! 4: call order
! 5: buffering hazard
! 6: tag mismatch
! 7: datatype mismatch
! 8: truncation
! 9: missing wait
! 10: local concurrency
! 11: message race, 3 ranks
! 12: invalid rank
! 13: right, 3 ranks
! 14: local concurrency
! 15: right
! 16: warning: communicator leak
! 17: right
! 18: invalid request
! 19: invalid buffer
! 20, 21, 22: local concurrency
! 23: right
program messages
  use mpi
  implicit none
  integer :: which, rank, ranks, ierr, i, other
  integer :: got, sent, all(10), statuses(MPI_STATUS_SIZE, 2), requests(2), status(MPI_STATUS_SIZE)
  integer :: index, done, indices(2), comm
  logical :: flag
  real(8) :: many(10, 10), section(10)
  character(len=20) :: text
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  call get_command_argument(1, text)
  read (text, *) which
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  other = mod(rank + 1, ranks)
  sent = 10 * rank
  got = -1
  select case (which)
  case (1)
    if (rank == 0) then
      call MPI_Send([1, 2, 3], 3, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, ierr)
    else
      call mpi_recv(all, 10, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &
                    status, ierr)
      call MPI_Get_count(status, MPI_INTEGER, got, ierr)
      if (got /= 3 .or. any(all(:3) /= [1, 2, 3])) error stop "other values"
      if (status(MPI_SOURCE) /= 0 .or. status(MPI_TAG) /= 7) error stop "another status"
    end if
  case (2) ! indices count from 1
    call MPI_Irecv(got, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(sent, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, ierr)
    if (index /= 1 .and. index /= 2) error stop "another index"
    if (requests(index) /= MPI_REQUEST_NULL) error stop "the request is still there"
    call MPI_Waitsome(2, requests, done, indices, MPI_STATUSES_IGNORE, ierr)
    if (done /= 1 .or. indices(1) /= 3 - index) error stop "other indices"
    call MPI_Waitany(2, requests, index, status, ierr)
    if (index /= MPI_UNDEFINED) error stop "there is no request"
    call MPI_Testany(2, requests, index, flag, status, ierr)
    if (.not. flag) error stop "there is no request to wait for"
    call MPI_Waitall(2, requests, statuses, ierr)
    if (got /= 10 * other) error stop "another value"
  case (3) ! a section is copied, and back
    many = rank
    section = -1
    if (rank == 0) then
      call MPI_Send(many(3, :), 5, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, ierr)
    else
      call MPI_Recv(many(4, 1:9:2), 5, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, status, ierr)
    end if
  case (4)
    call MPI_Recv(got, 1, MPI_INTEGER, other, 0, & ! wrong 4
                  MPI_COMM_WORLD, status, ierr)
    call MPI_Send(sent, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, ierr)
  case (5)
    call MPI_Send(sent, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, ierr) ! wrong 5
    call MPI_Recv(got, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, status, ierr)
  case (6)
    if (rank == 0) call MPI_Send(sent, 1, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, ierr) ! wrong 6
    if (rank == 1) call MPI_Recv(got, 1, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, status, ierr) ! wrong 6
  case (7)
    if (rank == 0) call MPI_Send(section, 1, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, ierr) ! wrong 7
    if (rank == 1) call MPI_Recv(all, 2, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, status, ierr) ! wrong 7
  case (8)
    if (rank == 0) call MPI_Send(all, 3, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierr) ! wrong 8
    if (rank == 1) call MPI_Recv(all, 2, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, status, ierr) ! wrong 8
  case (9)
    if (rank == 0) call MPI_Isend(sent, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, requests(1), ierr) ! wrong 9
    if (rank == 1) call MPI_Recv(got, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, status, ierr)
  case (10)
    call MPI_Irecv(got, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Send(sent, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, ierr)
    got = 3 ! wrong 10
    call MPI_Wait(requests(1), status, ierr)
  case (11)
    if (rank > 0) call MPI_Send(rank, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) then
      call MPI_Recv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, status, ierr)
      call MPI_Recv(sent, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, status, ierr)
      if (got > sent) error stop "in another order" ! wrong 11
    end if
  case (12)
    call MPI_Send(sent, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, ierr) ! wrong 12
  case (13)
    if (rank > 0) call MPI_Send(rank, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) then
      call MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, status, ierr)
      call MPI_Recv(got, 1, MPI_INTEGER, status(MPI_SOURCE), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_Recv(sent, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      if (got + sent /= 3) error stop "another sum"
    end if
  case (14) ! the copy of the section is gone when the call returns
    call MPI_Irecv(many(4, :), 10, MPI_DOUBLE_PRECISION, other, 0, MPI_COMM_WORLD, requests(1), ierr) ! wrong 14
    call MPI_Send(section, 10, MPI_DOUBLE_PRECISION, other, 0, MPI_COMM_WORLD, ierr)
    call MPI_Wait(requests(1), status, ierr)
  case (15) ! columns are not copied
    section = rank
    call MPI_Irecv(many(:, 4), 10, MPI_DOUBLE_PRECISION, other, 0, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Send(section, 10, MPI_DOUBLE_PRECISION, other, 0, MPI_COMM_WORLD, ierr)
    call MPI_Wait(requests(1), status, ierr)
    if (any(nint(many(:, 4)) /= other)) error stop "other values"
  case (16)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr) ! wrong 16
  case (17)
    call MPI_Get_processor_name(name, i, ierr)
    if (i < 1 .or. len_trim(name) /= i) error stop "another length"
    call MPI_Comm_set_name(MPI_COMM_SELF, "my own  ", ierr)
    call MPI_Comm_get_name(MPI_COMM_SELF, name, i, ierr)
    if (i /= 6 .or. name /= "my own") error stop "another name"
    if (MPI_Wtime() > MPI_Wtime()) error stop "the time goes back"
  case (18)
    requests(1) = 12345
    call MPI_Wait(requests(1), status, ierr) ! wrong 18
  case (19) ! the section has 5 values
    if (rank == 0) call MPI_Send(section, 10, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, ierr)
    if (rank == 1) call MPI_Recv(many(4, 1:9:2), 10, MPI_DOUBLE_PRECISION, 0, 0, & ! wrong 19
                                 MPI_COMM_WORLD, status, ierr)
  case (20:23) ! what is printed, or read
    call MPI_Irecv(all(3), 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Send(sent, 1, MPI_INTEGER, other, 0, MPI_COMM_WORLD, ierr)
    if (which == 20) print *, all(3) ! wrong 20
    text = "1 2 3 4"
    if (which == 21) read (text, *) all(1:4) ! wrong 21
    if (which == 22) print *, all(1:9:2) ! wrong 22
    if (which == 23) print *, all(2:10:2)
    call MPI_Wait(requests(1), status, ierr)
  end select
  if (which == 3 .and. rank == 1) then
    if (any(nint(many(4, 1:9:2)) /= 0) .or. any(nint(many(4, 2:10:2)) /= 1)) error stop "other values"
  end if
  call MPI_Finalize(ierr)
end program
