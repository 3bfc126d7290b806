! One file whose parts use mpi_f08, mpi and mpif.h. The compiler thus checks that their common definitions agree. The
! test also checks constants that are addresses, and statuses that are passed from one binding to another.
!
! np: 1 2
! timeout: 60
! bindings: f08
! with: check.F90
module with_f08
  use mpi_f08
  implicit none
contains
  ! get receives from rank `before`, and returns the status in the form of mpi and mpif.h.
  subroutine get(into, before, source)
    integer, intent(out) :: into, source(MPI_STATUS_SIZE)
    integer, intent(in) :: before
    type(MPI_Status) :: status
    call MPI_Recv(into, 1, MPI_INTEGER, before, 1, MPI_COMM_WORLD, status)
    call MPI_Status_f082f(status, source)
  end subroutine

  subroutine give(value, next, requests)
    integer, intent(in) :: value, next
    type(MPI_Request), intent(out) :: requests(2)
    integer, asynchronous, save :: kept(2)
    kept = value
    call MPI_Isend(kept(1), 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(kept(2), 1, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(2))
  end subroutine

  subroutine finish(requests)
    type(MPI_Request), intent(inout) :: requests(2)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  end subroutine
end module

module with_mpi
  use mpi
  implicit none
contains
  ! get_second receives the second message from rank `before`.
  subroutine get_second(into, before, ierror)
    integer, intent(out) :: into, ierror
    integer, intent(in) :: before
    integer :: request(1)
    call MPI_Irecv(into, 1, MPI_INTEGER, before, 2, MPI_COMM_WORLD, request(1), ierror)
    call MPI_Waitall(1, request, MPI_STATUSES_IGNORE, ierror)
    call MPI_Wait(request(1), MPI_STATUS_IGNORE, ierror)
    call MPI_F_sync_reg(into)
  end subroutine
end module

! meet synchronizes all processes. It uses mpif.h only for calls without a buffer: without interfaces, the compiler
! derives the type of a buffer from the calls, and would report a conflict with the calls of the other parts.
subroutine meet(size)
  implicit none
  include 'mpif.h'
  integer :: size, ierror
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
end subroutine

program both
  use check
  use with_f08, only: get, give, finish, MPI_Request
  use with_mpi
  implicit none
  type(MPI_Request) :: requests(2)
  integer :: ierror, next, before, value, second, size, status(MPI_STATUS_SIZE)

  call MPI_Init(ierror)
  call check_begin()
  next = mod(check_rank + 1, check_size)
  before = mod(check_rank + check_size - 1, check_size)
  call give(7 + check_rank, next, requests)
  call get(value, before, status)
  call expect(value, 7 + before, 'first')
  call expect(status(MPI_SOURCE), before, 'source')
  call expect(status(MPI_TAG), 1, 'tag')
  call get_second(second, before, ierror)
  call expect(second, 7 + before, 'second')
  call finish(requests)
  call meet(size)
  call expect(size, check_size, 'size')
  call check_end()
end program
