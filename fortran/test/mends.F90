! Tests an error handler that replaces the error code by MPI_SUCCESS. In this case ierror must be MPI_SUCCESS, and the
! results and buffers of the call must stay unchanged. This must hold even if the error occurs in a query that the
! binding makes before the call. (MPI-5.0 9.3)
!
! np: 1 2
! timeout: 60
! bindings: f08 mpi mpif
! with: check.F90
#include "binding.inc"

module mending
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  integer :: calls = 0
contains
  subroutine on_comm(comm, code)
    COMM :: comm
    integer :: code
    calls = calls + 1
    code = MPI_SUCCESS
  end subroutine

  subroutine on_win(win, code)
    WIN :: win
    integer :: code
    calls = calls + 1
    code = MPI_SUCCESS
  end subroutine
end module

program mends
  use check
  use mending
  implicit none
  integer :: ierror, i
  integer, asynchronous :: memory(16), values(16)
  integer(kind=MPI_ADDRESS_KIND) :: size, disp, addresses(1)
  integer :: integers(8)
  DATATYPE :: none, types(4), made, three(3)
  ERRHANDLER :: h
  WIN :: w
  integer :: lengths(3)
  integer(kind=MPI_ADDRESS_KIND) :: places(3)

  call MPI_Init(ierror)
  call check_begin()
  call MPI_Comm_create_errhandler(on_comm, h, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, h, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, h, ierror)
  call MPI_Errhandler_free(h, ierror)
  size = 16 * integer_bytes
  memory = 7
  values = 5
  call MPI_Win_create(memory, size, integer_bytes, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierror)
  call MPI_Win_create_errhandler(on_win, h, ierror)
  call MPI_Win_set_errhandler(w, h, ierror)
  call MPI_Errhandler_free(h, ierror)
#ifdef USE_F08
  none%MPI_VAL = 0
#else
  none = 0
#endif
  disp = 0
  call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w, ierror)
  call mended('lock', .false.)
  call MPI_Put(values, 1, none, 0, disp, 1, MPI_INTEGER, w, ierror)
  call mended('put', .true.)
  call MPI_Get(values, 1, MPI_INTEGER, 0, disp, 1, none, w, ierror)
  call mended('get', .true.)
#ifdef USE_F08
  call MPI_Put(values(1:16:3), 2, none, 0, disp, 2, MPI_INTEGER, w, ierror)
  call mended('put of a section of no type', .true.)
  call MPI_Get(values(16:1:-2), 2, none, 0, disp, 2, MPI_INTEGER, w, ierror)
  call mended('get to a section of no type', .true.)
  call MPI_Fetch_and_op(values(2), values(3), none, 0, disp, MPI_SUM, w, ierror)
  call mended('fetch_and_op of no type', .true.)
  call MPI_Recv(values(1:16:3), 2, none, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call mended('receive of a section of no type', .true.)
  block
    type(MPI_Request) :: r
    integer :: n(16), zeros(16)
    type(MPI_Datatype) :: list(16)
    n = 1
    zeros = 0
    list = none
    call MPI_Isend(values(1:16:3), 2, none, 0, 0, MPI_COMM_WORLD, r, ierror)
    call mended('isend of a section of no type', .true.)
    call MPI_Alltoallw(values, n, zeros, list, values, n, zeros, list, MPI_COMM_NULL, ierror)
    call mended('alltoallw on no communicator', .true.)
    call MPI_Neighbor_alltoallw(values, n, places, list, values, n, places, list, MPI_COMM_NULL, ierror)
    call mended('neighbor_alltoallw on no communicator', .true.)
  end block
#endif
  call MPI_Win_unlock(0, w, ierror)
  call mended('unlock', .false.)
  call expect(values, [(5, i = 1, 16)], 'the values')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call expect(memory, [(7, i = 1, 16)], 'the window')

  ! The struct has three datatypes, but the output array has space for only one. The call must fail and leave the array
  ! unchanged.
  lengths = 1
  places = [0, 4, 12]
  three = MPI_INTEGER
  calls = 0
  call MPI_Type_create_struct(3, lengths, places, three, made, ierror)
  types = MPI_BYTE
  call MPI_Type_get_contents(made, 8, 1, 1, integers, addresses, types, ierror)
  call mended('contents without room', .true.)
  do i = 1, 4
    call expect(types(i) == MPI_BYTE, 'a datatype behind the room, or before')
  end do
  call MPI_Type_free(made, ierror)
  call MPI_Win_free(w, ierror)
  call check_end()

contains

  subroutine mended(what, refused)
    character(len=*), intent(in) :: what
    logical, intent(in) :: refused
    call expect(ierror, MPI_SUCCESS, what)
    call expect((calls > 0) .eqv. refused, what // ': calls of the handler')
    calls = 0
  end subroutine
end program
