! 1, 2, 3: right
! 4: call order
! 5: root mismatch
! 6: right
! 7: datatype mismatch
! 8, 9: right
! 10: global concurrency
! 11: right
! 12: count mismatch
! 13, 14, 15: right
! 16: unsupported
! 17, 18, 19, 20: right
! 21: operator mismatch
! 22: right
module own
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: handled = 0, copied = 0, deleted = 0
contains
  ! The larger one of two numbers by their last digits.
  subroutine larger(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len, i
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    if (datatype /= MPI_INTEGER) error stop "another type"
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    do i = 1, len
      if (mod(in(i), 10) > mod(inout(i), 10)) inout(i) = in(i)
    end do
  end subroutine
  subroutine handle(comm, code)
    type(MPI_Comm) :: comm
    integer :: code, error_class
    call MPI_Error_class(code, error_class)
    if (comm == MPI_COMM_WORLD) handled = handled + 1
  end subroutine
  subroutine copy(comm, key, extra, in, out, flag, ierror)
    type(MPI_Comm) :: comm
    integer :: key, ierror
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    copied = copied + 1
    out = in + extra
    flag = .true.
    ierror = MPI_SUCCESS
    if (comm == MPI_COMM_NULL .or. key < 0) ierror = MPI_ERR_OTHER
  end subroutine
  subroutine erase(comm, key, value, extra, ierror)
    type(MPI_Comm) :: comm
    integer :: key, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    deleted = deleted + int(value + extra)
    ierror = MPI_SUCCESS
    if (comm == MPI_COMM_NULL .or. key < 0) ierror = MPI_ERR_OTHER
  end subroutine
  subroutine query(extra, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    type(MPI_Status) :: status
    integer :: ierror
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra))
    call MPI_Status_set_cancelled(status, .false.)
    status%MPI_SOURCE = 4
    status%MPI_TAG = 5
    ierror = MPI_SUCCESS
  end subroutine
  subroutine free_it(extra, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    handled = handled + int(extra)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel_it(extra, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierror
    if (.not. complete) handled = handled + int(extra)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine check(is_right, what)
    logical, intent(in) :: is_right
    character(len=*), intent(in) :: what
    if (.not. is_right) then
      print *, what
      error stop "wrong"
    end if
  end subroutine
end module

program typed
  use own
  implicit none
  integer :: which, rank, ranks, i, ierr, key, n, ints(4), more(4), list(2), lengths(2), dims(2), coords(2)
  integer :: class, from, to, size, place
  type(MPI_Comm) :: comm, other
  type(MPI_Group) :: group, part
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Request) :: request, both(2)
  type(MPI_Datatype) :: kind, types(2), again(2)
  type(MPI_Op) :: op
  type(MPI_Win) :: win
  type(MPI_Info) :: info
  type(MPI_Errhandler) :: handler
  type(MPI_File) :: file
  integer(MPI_ADDRESS_KIND) :: displacements(2), base, bytes, value, lower, extent
  integer(MPI_COUNT_KIND) :: large
  integer(MPI_OFFSET_KIND) :: offset
  logical :: flag, periods(2)
  type pair
    sequence
    integer :: number
    real(8) :: values(3)
  end type
  type(pair) :: mine
  integer, target :: shared(2)
  integer, pointer :: window(:)
  type(c_ptr) :: at
  character(len=12) :: text
  character(len=MPI_MAX_INFO_VAL) :: long
  character(len=8) :: packed
  call get_command_argument(1, text)
  read (text, *) which
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call check(ierr == MPI_SUCCESS .and. MPI_COMM_WORLD /= MPI_COMM_SELF, "constants")
  ints = rank
  select case (which)
  case (1) ! statuses and requests
    if (rank == 0) then
      call MPI_Isend(ints, 3, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call check(request == MPI_REQUEST_NULL, "the request is gone")
    else
      call MPI_Recv(ints, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status)
      call MPI_Get_count(status, MPI_INTEGER, n)
      call check(n == 3 .and. status%MPI_SOURCE == 0 .and. status%MPI_TAG == 5, "status")
      call MPI_Get_count(status, MPI_INTEGER, large)
      call check(large == 3, "a large count")
    end if
    call MPI_Irecv(n, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, both(1))
    call MPI_Isend(rank, 1_MPI_COUNT_KIND, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, both(2))
    call MPI_Waitall(2, both, statuses)
    call check(n == 1 - rank .and. statuses(1)%MPI_SOURCE == 1 - rank, "statuses")
    call MPI_Waitall(2, both, MPI_STATUSES_IGNORE)
  case (2) ! collectives and operators
    ints = [1, 12, 3, 14]
    if (rank == 1) ints = [11, 2, 13, 4]
    call MPI_Op_create(larger, .true., op)
    call MPI_Allreduce(MPI_IN_PLACE, ints, 4, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(all(mod(ints, 10) == [1, 2, 3, 4]), "own operator")
    call MPI_Op_commutative(op, flag)
    call check(flag, "commutative")
    call MPI_Op_free(op)
    n = rank + 1
    call MPI_Reduce(n, i, 1, MPI_INTEGER, MPI_SUM, 1, MPI_COMM_WORLD)
    if (rank == 1) call check(i == 3, "sum")
    call MPI_Allgather([rank, 2 * rank], 2, MPI_INTEGER, ints, 2, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(ints == [0, 0, 1, 2]), "gathered")
    call MPI_Allgatherv(rank, 1, MPI_INTEGER, ints, [1, 1], [2, 0], MPI_INTEGER, MPI_COMM_WORLD)
    call check(ints(1) == 1 .and. ints(3) == 0, "gathered at places")
  case (3) ! derived types
    mine = pair(rank, [1d0, 2d0, 3d0])
    lengths = [1, 3]
    call MPI_Get_address(mine%number, displacements(1))
    call MPI_Get_address(mine%values, displacements(2))
    types = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
    call MPI_Type_create_struct(2, lengths, displacements, types, kind)
    call MPI_Type_commit(kind)
    if (rank == 0) call MPI_Send(MPI_BOTTOM, 1, kind, 1, 0, MPI_COMM_WORLD)
    if (rank == 1) then
      mine%values = 0
      call MPI_Recv(MPI_BOTTOM, 1, kind, 0, 0, MPI_COMM_WORLD, status)
      call MPI_F_sync_reg(mine)
      call check(mine%number == 0 .and. all(nint(mine%values) == [1, 2, 3]), "structure")
    end if
    call MPI_Type_get_envelope(kind, i, from, to, n)
    call check(n == MPI_COMBINER_STRUCT .and. i == 3 .and. from == 2 .and. to == 2, "envelope")
    call MPI_Type_get_contents(kind, i, from, to, ints, displacements, again)
    call check(again(1) == MPI_INTEGER .and. again(2) == MPI_DOUBLE_PRECISION, "contents")
    call MPI_Type_free(kind)
    call MPI_Type_vector(2, 1, 2, MPI_INTEGER, kind)
    call MPI_Type_get_extent(kind, lower, extent)
    call MPI_Type_size(kind, size)
    call check(lower == 0 .and. extent == 12 .and. size == 8, "extent")
    call MPI_Type_free(kind)
  case (4)
    if (rank == 0) call MPI_Barrier(MPI_COMM_WORLD) ! wrong 4
    if (rank == 1) call MPI_Bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD) ! wrong 4
  case (5)
    call MPI_Bcast(ints, 4, MPI_INTEGER, rank, MPI_COMM_WORLD) ! wrong 5
  case (6) ! attributes
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_create_keyval(copy, erase, key, 3_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(comm, key, 7_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(comm, other)
    call MPI_Comm_get_attr(other, key, value, flag)
    call check(flag .and. value == 10 .and. copied == 1, "the copy")
    call MPI_Comm_free(other)
    call check(deleted == 13, "deleted once")
    call MPI_Comm_free(comm)
    call check(deleted == 23, "deleted twice")
    call MPI_Comm_free_keyval(key)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    call check(flag .and. value >= 32767, "the largest tag")
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, 5_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_get_attr(comm, key, value, flag)
    call check(flag .and. value == 5, "the same value")
    call MPI_Comm_free(comm)
  case (7)
    call MPI_Allreduce(ints, more, 1, merge(MPI_INTEGER, MPI_REAL, rank == 0), MPI_SUM, MPI_COMM_WORLD) ! wrong 7
  case (8) ! windows
    bytes = 8
    shared = 0
    call MPI_Win_create(shared, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_fence(0, win)
    base = 1
    call MPI_Put(rank + 5, 1, MPI_INTEGER, 1 - rank, base, 1, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(shared(2) == 6 - rank, "put")
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag)
    call check(flag .and. value == 8, "its size")
    call MPI_Win_free(win)
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, at, win)
    call c_f_pointer(at, window, [2])
    window = 3
    call MPI_Win_free(win)
  case (9) ! groups and topologies
    call MPI_Comm_group(MPI_COMM_WORLD, group)
    call MPI_Group_range_incl(group, 1, reshape([1, 0, -1], [3, 1]), part)
    call MPI_Group_translate_ranks(group, 2, [0, 1], part, list)
    call check(all(list == [1, 0]), "reversed")
    call MPI_Group_free(group)
    call MPI_Group_free(part)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., comm)
    call MPI_Cart_get(comm, 2, dims, periods, coords)
    call check(periods(1) .and. .not. periods(2), "periods")
    call MPI_Cart_shift(comm, 1, 1, from, to)
    call check(to == MPI_PROC_NULL, "the end")
    call MPI_Comm_free(comm)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [1 - rank], MPI_UNWEIGHTED, 1, [1 - rank], &
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, .false., comm)
    call MPI_Dist_graph_neighbors_count(comm, from, to, flag)
    call check(from == 1 .and. to == 1 .and. .not. flag, "neighbours")
    displacements = 0
    call MPI_Neighbor_alltoallw([rank], [1], displacements, [MPI_INTEGER], n, [1], displacements, [MPI_INTEGER], comm)
    call check(n == 1 - rank, "from a neighbour")
    call MPI_Comm_free(comm)
    types = MPI_INTEGER
    list = [10 * rank, 10 * rank + 1]
    call MPI_Alltoallw(list, [1, 1], [0, 4], types, more, [1, 1], [4, 0], types, MPI_COMM_WORLD)
    call check(more(2) == rank .and. more(1) == 10 + rank, "to all")
  case (10)
    bytes = 8
    call MPI_Win_create(shared, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    base = 0
    call MPI_Win_fence(0, win)
    call MPI_Put(rank, 1, MPI_INTEGER, 0, base, 1, MPI_INTEGER, win) ! wrong 10
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
  case (11) ! error handlers
    call MPI_Comm_create_errhandler(handle, handler)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler)
    call MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER)
    call check(handled == 1, "handled")
    call MPI_Errhandler_free(handler)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_File_open(MPI_COMM_SELF, "nowhere/file ", MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierr)
    call MPI_Error_class(ierr, class)
    call check(class == MPI_ERR_NO_SUCH_FILE .and. file == MPI_FILE_NULL, "no file")
    call MPI_Error_string(ierr, long, n)
    call check(n > 0 .and. long(n:n) /= " " .and. long(n + 1:) == " ", "its text")
  case (12)
    call MPI_Bcast(ints, 4 - rank, MPI_INTEGER, 0, MPI_COMM_WORLD) ! wrong 12
  case (13) ! information
    call MPI_Info_create(info)
    call MPI_Info_set(info, "key  ", " value  ")
    call MPI_Info_get(info, "key", len(long), long, flag)
    call check(flag .and. long == "value", "the value")
    n = len(long)
    call MPI_Info_get_string(info, "key", n, long, flag)
    call check(flag .and. n == 5 .and. long == "value", "the text")
    long = "stays"
    call MPI_Info_get(info, "other", len(long), long, flag)
    call check(.not. flag .and. long == "stays", "no value")
    call MPI_Info_get_nthkey(info, 0, text)
    call check(text == "key", "the key")
    call MPI_Info_free(info)
    call check(info == MPI_INFO_NULL, "freed")
  case (14) ! generalised requests
    call MPI_Grequest_start(query, free_it, cancel_it, 3_MPI_ADDRESS_KIND, request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call MPI_Get_count(status, MPI_INTEGER, n)
    call check(handled == 3 .and. status%MPI_TAG == 5 .and. n == 3, "the status")
  case (15) ! packing, and files
    place = 0
    call MPI_Pack([1, 2], 2, MPI_INTEGER, packed, len(packed), place, MPI_COMM_WORLD)
    call check(place == 8, "packed")
    place = 0
    call MPI_Unpack(packed, len(packed), place, list, 2, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(list == [1, 2]), "unpacked")
    call MPI_File_open(MPI_COMM_WORLD, "typed.dat", ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file)
    offset = 4 * rank
    call MPI_File_write_at_all(file, offset, rank + 40, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_sync(file)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_File_sync(file)
    offset = 4 * (1 - rank)
    call MPI_File_read_at(file, offset, n, 1, MPI_INTEGER, status)
    call check(n == 41 - rank, "from the file")
    call MPI_File_close(file)
  case (16)
    call MPI_Comm_join(0, comm) ! wrong 16
  case (17) ! a loop that polls
    call MPI_Irecv(n, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, request)
    call MPI_Send(rank, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_SELF_OR(rank))
    flag = .false.
    do while (.not. flag)
      call MPI_Test(request, flag, status)
    end do
    call check(n == 1 - rank, "polled")
  case (18) ! persistent requests, a buffer
    call MPI_Send_init(rank, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, both(1))
    call MPI_Recv_init(n, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, both(2))
    do i = 1, 2
      call MPI_Startall(2, both)
      call MPI_Waitall(2, both, MPI_STATUSES_IGNORE)
      call check(n == 1 - rank, "again")
    end do
    call MPI_Request_free(both(1))
    call MPI_Request_free(both(2))
  case (19) ! the buffer for MPI_Bsend
    call buffered
  case (20) ! splitting
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm)
    call MPI_Comm_rank(comm, n)
    call check(n == 1 - rank, "in the other order")
    call MPI_Comm_compare(comm, MPI_COMM_WORLD, n)
    call check(n == MPI_SIMILAR, "similar")
    call MPI_Comm_free(comm)
    call MPI_Sizeof(mine%values, n)
    call check(n == 8, "the size of a value")
  case (21)
    call MPI_Allreduce(ints, more, 1, MPI_INTEGER, merge(MPI_SUM, MPI_MAX, rank == 0), MPI_COMM_WORLD) ! wrong 21
  case (22) ! the name of the profiling interface
    call PMPI_Barrier(MPI_COMM_WORLD)
  end select
  call MPI_Finalize()
contains
  function MPI_COMM_SELF_OR(rank) result(comm)
    integer, intent(in) :: rank
    type(MPI_Comm) :: comm
    comm = MPI_COMM_WORLD
    if (rank < 0) comm = MPI_COMM_SELF
  end function
  subroutine buffered
    integer, target, allocatable :: room(:)
    allocate (room(1000))
    call MPI_Buffer_attach(room, 4000)
    call MPI_Bsend(rank, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD)
    call MPI_Recv(n, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, status)
    call MPI_Buffer_detach(at, size)
    call check(size == 4000 .and. c_associated(at, c_loc(room)), "the buffer")
  end subroutine
end program
