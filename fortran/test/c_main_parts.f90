! Subroutines that the C program c_main.c calls after MPI_Init: one uses mpif.h, the other mpi_f08.
!
! np: 1 3
! timeout: 60
! bindings: mpif
! with: c_main.c
subroutine mpif_part(comm, win, ierror)
  implicit none
  include 'mpif.h'
  integer :: comm, win, ierror, rank, n, value
  integer(kind=MPI_ADDRESS_KIND) :: disp
  call MPI_Comm_rank(comm, rank, ierror)
  call MPI_Comm_size(comm, n, ierror)
  call MPI_Win_fence(0, win, ierror)
  value = 42
  disp = 0
  call MPI_Put(value, 1, MPI_INTEGER, mod(rank + 1, n), disp, 1, MPI_INTEGER, win, ierror)
  disp = 2
  call section_part(win, mod(rank + 1, n), disp)
  call MPI_Win_fence(0, win, ierror)
end subroutine

subroutine section_part(win, next, disp)
  use mpi_f08
  implicit none
  integer, intent(in) :: win, next
  integer(kind=MPI_ADDRESS_KIND), intent(in) :: disp
  integer, asynchronous :: values(5)
  type(MPI_Win) :: w
  values = [43, -1, -1, 0, -1]
  w%MPI_VAL = win
  call MPI_Put(values(1:5:3), 2, MPI_INTEGER, next, disp, 2, MPI_INTEGER, w)
  call MPI_Win_fence(0, w) ! completes the put: values exists only until this subroutine returns
end subroutine

subroutine f08_part(comm, status, made) bind(C)
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  integer, value :: comm
  integer :: status(MPI_STATUS_SIZE), made
  type(MPI_Status) :: s
  type(MPI_Comm) :: c
  type(MPI_Datatype) :: t
  integer :: a(2), b(4), me
  c%MPI_VAL = comm
  call MPI_Comm_rank(c, me)
  a = 5
  call MPI_Sendrecv(a, 2, MPI_INTEGER, me, 9, b, 4, MPI_INTEGER, me, 9, c, s)
  call MPI_Status_f082f(s, status)
  call MPI_Type_contiguous(6, MPI_INTEGER, t)
  made = t%MPI_VAL
end subroutine
