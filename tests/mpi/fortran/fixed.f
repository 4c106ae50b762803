! 1, 2: right
! 3: call order
! 4: root mismatch
! 5: right
! 6: tag mismatch
! 7: right
! 8: local concurrency
      program fixed
      implicit none
      include 'mpif.h'
      integer which, rank, ranks, ierr, n, i, status(MPI_STATUS_SIZE)
      integer request, values(4), keyval, own
      integer (kind=MPI_ADDRESS_KIND) value
      logical flag
      character*20 text
      real x(3), y(3)
      double precision d(2)
      common /shared/ x, d
      external largest
      call getarg(1, text)
      read (text, *) which
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
      n = -1
      if (which .eq. 1) then
        if (rank .eq. 0) then
          call MPI_SEND(rank, 1, MPI_INTEGER, 1, 3,
     &                  MPI_COMM_WORLD, ierr)
          call MPI_SEND(x, 3, MPI_REAL, 1, 4, MPI_COMM_WORLD, ierr)
        else
          call MPI_RECV(n, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG,
     &                  MPI_COMM_WORLD, status, ierr)
          call MPI_RECV(x, 3, MPI_REAL, 0, 4, MPI_COMM_WORLD,
     &                  MPI_STATUS_IGNORE, ierr)
          if (n .ne. 0 .or. status(MPI_TAG) .ne. 3) stop 'wrong'
        end if
      else if (which .eq. 2) then
        values(1) = rank
        call MPI_OP_CREATE(largest, .true., own, ierr)
        call MPI_ALLREDUCE(MPI_IN_PLACE, values, 1, MPI_INTEGER, own,
     &                     MPI_COMM_WORLD, ierr)
        if (values(1) .ne. ranks - 1) stop 'wrong'
        call MPI_OP_FREE(own, ierr)
        call MPI_COMM_CREATE_KEYVAL(MPI_COMM_NULL_COPY_FN,
     &       MPI_COMM_NULL_DELETE_FN, keyval, value, ierr)
        value = 5
        call MPI_COMM_SET_ATTR(MPI_COMM_SELF, keyval, value, ierr)
        value = 0
        call MPI_COMM_GET_ATTR(MPI_COMM_SELF, keyval, value, flag, ierr)
        if (.not. flag .or. value .ne. 5) stop 'wrong'
        if (MPI_WTIME() .lt. 0d0) stop 'wrong'
      else if (which .eq. 3) then
        if (rank .eq. 0) then
c         one of them is missing
          call MPI_BARRIER(MPI_COMM_WORLD, ierr)
        else
          call MPI_ALLREDUCE(rank, n, 1, MPI_INTEGER, MPI_SUM, ! wrong 3
     &                       MPI_COMM_WORLD, ierr)
        end if
      else if (which .eq. 4) then
        call MPI_BCAST(d, 2, MPI_DOUBLE_PRECISION, rank, ! wrong 4
     &                 MPI_COMM_WORLD, ierr)
      else if (which .eq. 5) then
        call MPI_KEYVAL_CREATE(MPI_DUP_FN, MPI_NULL_DELETE_FN, keyval,
     &                         i, ierr)
        call MPI_ATTR_PUT(MPI_COMM_SELF, keyval, -7, ierr)
        call MPI_COMM_DUP(MPI_COMM_SELF, own, ierr)
        call MPI_ATTR_GET(own, keyval, i, flag, ierr)
        if (.not. flag .or. i .ne. -7) stop 'wrong'
        call MPI_COMM_FREE(own, ierr)
        call MPI_ATTR_GET(MPI_COMM_WORLD, MPI_TAG_UB, i, flag, ierr)
        if (.not. flag .or. i .lt. 32767) stop 'wrong'
      else if (which .eq. 6) then
        if (rank .eq. 0) call MPI_SSEND(d, 2, MPI_DOUBLE_PRECISION, ! wrong 6
     &    1, 0, MPI_COMM_WORLD, ierr)
        if (rank .eq. 1) call MPI_RECV(d, 2, MPI_DOUBLE_PRECISION, 0, ! wrong 6
     &    1, MPI_COMM_WORLD, status, ierr)
      else if (which .eq. 7) then
        call system_clock(i)
        call random_seed()
        call random_number(x)
        call MPI_REDUCE(x, y, 3, MPI_REAL, MPI_MAX, 0, MPI_COMM_WORLD,
     &                  ierr)
        print *, 'the time is ', i, x
      else if (which .eq. 8) then
        call MPI_IRECV(n, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD,
     &                 request, ierr)
        call MPI_SEND(rank, 1, MPI_INTEGER, 1 - rank, 0,
     &                MPI_COMM_WORLD, ierr)
        if (n .eq. 3) ! wrong 8
     &    print *, 'early'
        call MPI_WAIT(request, status, ierr)
      end if
      call MPI_FINALIZE(ierr)
      end

      subroutine largest(in, inout, length, type)
      implicit none
      include 'mpif.h'
      integer length, type, i
      integer in(length), inout(length)
      if (type .ne. MPI_INTEGER) stop 'wrong'
      do 10 i = 1, length
        inout(i) = max(in(i), inout(i))
   10 continue
      end
