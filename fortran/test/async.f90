! Checks that MPI_ASYNC_PROTECTS_NONBLOCKING may be .TRUE. For a buffer that is ASYNCHRONOUS, the compiler must store
! assigned values to memory before the call that starts an operation. After the call that completes the operation, it
! must load the buffer from memory. The buffers are scalars and small arrays, which optimizers tend to keep in
! registers.
!
! np: 1
! timeout: 60
! bindings: f08
! with: check.F90
! flags: -O3
program async
  use check
  use mpi_f08
  implicit none
  integer :: i
  call MPI_Init()
  call check_begin()
  call expect(MPI_ASYNC_PROTECTS_NONBLOCKING, 'MPI_ASYNC_PROTECTS_NONBLOCKING')
  do i = 1, 100
    call scalar(i)
    call array(i)
    call component(i)
    call heap(i)
    call window(i)
    call dummy(i)
  end do
  call check_end()
contains

  subroutine scalar(k)
    integer, intent(in) :: k
    integer, asynchronous :: x, y
    type(MPI_Request) :: r(2)
    x = -1
    call MPI_Irecv(x, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, r(1))
    y = 0
    y = k
    call MPI_Isend(y, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call expect(x, k, 'a scalar')
    y = -5
  end subroutine

  subroutine array(k)
    integer, intent(in) :: k
    integer, asynchronous :: x(2), y(2)
    type(MPI_Request) :: r
    x = -1
    call MPI_Irecv(x(2), 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, r)
    x(1) = 3
    y = k
    call MPI_Send(y(2), 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call expect(x, [3, k], 'an array')
  end subroutine

  subroutine component(k)
    integer, intent(in) :: k
    type t
      integer :: a, b
    end type
    type(t), asynchronous :: x
    type(MPI_Request) :: r
    x = t(1, 2)
    call MPI_Irecv(x%b, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, r)
    call MPI_Send(k, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call expect(x%a == 1 .and. x%b == k, 'a component')
  end subroutine

  subroutine heap(k)
    integer, intent(in) :: k
    integer, allocatable, asynchronous :: x(:)
    type(MPI_Request) :: r
    allocate (x(4))
    x = -1
    call MPI_Irecv(x(1:4:2), 2, MPI_INTEGER, 0, 0, MPI_COMM_SELF, r)
    call MPI_Send([k, k + 1], 2, MPI_INTEGER, 0, 0, MPI_COMM_SELF)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call expect(x, [k, -1, k + 1, -1], 'an allocatable')
  end subroutine

  ! A window over a local variable that other processes write.
  subroutine window(k)
    integer, intent(in) :: k
    integer, asynchronous :: x
    integer(kind=MPI_ADDRESS_KIND) :: size, disp
    type(MPI_Win) :: w
    size = integer_bytes
    disp = 0
    x = -1
    call MPI_Win_create(x, size, integer_bytes, MPI_INFO_NULL, MPI_COMM_SELF, w)
    call MPI_Win_fence(0, w)
    x = 2
    call MPI_Win_fence(0, w)
    call MPI_Accumulate(k, 1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, MPI_SUM, w)
    call MPI_Win_fence(0, w)
    call expect(x, k + 2, 'a window')
    call MPI_Win_free(w)
  end subroutine

  subroutine dummy(k)
    integer, intent(in) :: k
    integer :: x(3)
    call inner(x, k)
  end subroutine

  subroutine inner(x, k)
    integer, intent(in) :: k
    integer, asynchronous, intent(inout) :: x(3)
    type(MPI_Request) :: r
    x(2) = -1
    call MPI_Irecv(x(2), 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, r)
    call MPI_Send(k, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call expect(x(2), k, 'a dummy argument')
  end subroutine
end program
