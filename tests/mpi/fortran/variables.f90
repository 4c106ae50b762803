! 1, 2, 3: right
! 4, 5, 6, 7: invalid buffer
! 8, 9, 10: datatype mismatch
! 11, 12, 13, 14: right
! 15: invalid buffer
! 16: datatype mismatch
! 17: right
! 18: datatype mismatch
! 19, 20: right
! 21: datatype mismatch
! 22: invalid buffer
! 23: right
module data
  implicit none
  real(8) :: in_module(5)
  real, allocatable :: block(:)
  integer :: first, second, third
  real(8) :: rest(4)
  common /work/ first, second, third
  common /storage/ rest
  type particle
    integer :: kind
    real(8) :: place(3)
    character(len=4) :: name
  end type
  type(particle) :: particles(3)
  logical :: is_set(4)
end module

program variables
  use mpi
  use data
  implicit none
  integer :: which, rank, ierr
  character(len=20) :: text
  integer :: few(3), table(0:2, -1:1)
  real(8), allocatable :: many(:, :), other(:)
  complex(8) :: z(2)
  integer :: as_integers(4)
  real(8) :: as_reals(2)
  equivalence (as_integers, as_reals)
  call get_command_argument(1, text)
  read (text, *) which
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  allocate (many(4, 4), other(3), block(6))
  select case (which)
  case (1)
    call share(in_module, 5, MPI_DOUBLE_PRECISION)
    call share(block, 6, MPI_REAL)
    call share(few, 3, MPI_INTEGER)
    call share(table, 9, MPI_INTEGER)
    call share(many, 16, MPI_DOUBLE_PRECISION)
    call share(many(:, 2), 4, MPI_DOUBLE_PRECISION)
    call share(many(2:3, 2:3), 4, MPI_DOUBLE_PRECISION)
    call share(text, 20, MPI_CHARACTER)
    call share(is_set, 4, MPI_LOGICAL)
    call share(z, 2, MPI_DOUBLE_COMPLEX)
    call share(z, 4, MPI_DOUBLE_PRECISION)
  case (2) ! storage association: what follows in a common block
    call MPI_Bcast(first, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  case (3) ! truth values as integers, and what has two types
    call MPI_Bcast(is_set, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(as_integers, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(as_integers, 2, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  case (4)
    call MPI_Bcast(few, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) ! wrong 4
  case (5)
    call MPI_Bcast(in_module, 6, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr) ! wrong 5
  case (6)
    call MPI_Bcast(many, 17, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr) ! wrong 6
  case (7)
    call MPI_Bcast(table, 10, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) ! wrong 7
  case (8)
    call MPI_Bcast(few, 3, MPI_REAL, 0, MPI_COMM_WORLD, ierr) ! wrong 8
  case (9)
    call MPI_Bcast(in_module, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) ! wrong 9
  case (10)
    call MPI_Bcast(many, 4, MPI_REAL, 0, MPI_COMM_WORLD, ierr) ! wrong 10
  case (11)
    call shape_is_told(many, 4)
    call shape_is_assumed(many)
    call shape_is_assumed(many(1:4:2, :))
    call length_is_unknown(many)
    call automatic(5)
  case (12) ! in another unit, the block has other members
    call elsewhere
  case (13)
    call share(particles(2)%place, 3, MPI_DOUBLE_PRECISION)
    call share(particles(1)%name, 4, MPI_CHARACTER)
    call share(particles%kind, 3, MPI_INTEGER)
  case (14) ! memory that was used for other values before
    deallocate (many)
    call reused
  case (15)
    call MPI_Bcast(first, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) ! wrong 15
  case (16)
    call MPI_Bcast(block, 3, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr) ! wrong 16
  case (17)
    call through_pointers
  case (18)
    call wrong_type(other)
  case (19)
    call MPI_Bcast(particles, 3 * storage_size(particles) / 8, MPI_BYTE, 0, MPI_COMM_WORLD, ierr)
  case (20)
    call texts
  case (21)
    call MPI_Bcast(particles(2)%place, 3, MPI_REAL, 0, MPI_COMM_WORLD, ierr) ! wrong 21
  case (22)
    call MPI_Bcast(text, 21, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr) ! wrong 22
  case (23)
    call explicit_work(many, 16)
  end select
  call MPI_Finalize(ierr)
contains
  subroutine share(x, n, kind)
    integer, intent(in) :: n, kind
    type(*), dimension(*) :: x
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: x
    call MPI_Bcast(x, n, kind, 0, MPI_COMM_WORLD, ierr)
  end subroutine
  subroutine shape_is_told(x, n)
    integer, intent(in) :: n
    real(8) :: x(n, n)
    call MPI_Bcast(x, n * n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(x(2, 2), 3, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine
  subroutine shape_is_assumed(x)
    real(8) :: x(:, :)
    call MPI_Bcast(x, size(x), MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine
  subroutine length_is_unknown(x)
    real(8) :: x(*)
    call MPI_Bcast(x, 16, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine
  subroutine automatic(n)
    integer, intent(in) :: n
    integer :: own(n), i
    own = [(i, i = 1, n)]
    call MPI_Bcast(own, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  end subroutine
  subroutine wrong_type(x)
    real(8) :: x(:)
    call MPI_Bcast(x, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr) ! wrong 18
  end subroutine
  subroutine reused
    integer, allocatable :: now(:)
    allocate (now(32))
    now = 1
    call MPI_Bcast(now, 32, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  end subroutine
  subroutine through_pointers
    real(8), pointer :: row(:), all(:, :)
    allocate (all(3, 3))
    row => all(2, :)
    call MPI_Bcast(row, 3, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    row => all(:, 2)
    call MPI_Bcast(row, 3, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    deallocate (all)
  end subroutine
  subroutine texts
    character(len=:), allocatable :: long
    character(len=8) :: words(3)
    allocate (character(len=30) :: long)
    call MPI_Bcast(long, len(long), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(words, 24, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(words(2)(3:5), 3, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
  end subroutine
end program

! It uses its workspace for values of another type.
subroutine explicit_work(work, n)
  use mpi
  implicit none
  integer, intent(in) :: n
  integer :: work(2 * n), ierr
  work = 1
  call MPI_Bcast(work, 2 * n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
end subroutine

subroutine elsewhere
  use mpi
  implicit none
  integer :: halves(8), ierr
  common /storage/ halves
  halves = 1
  call MPI_Bcast(halves, 8, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
end subroutine
