! Checks that the procedure of a profiling tool in Fortran, tool_put.F90, replaces the procedure of the library.
! (MPI-5.0 15.2)
!
! np: 1 2
! timeout: 60
! bindings: f08 mpi mpif
! with: check.F90 tool_put.F90
#include "binding.inc"

program tool_test
  use check
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  integer :: ierror, i, me, n
  integer, asynchronous :: memory(6), values(6)
  integer(kind=MPI_ADDRESS_KIND) :: size, disp
  WIN :: w
  integer :: calls, elements
  common /tool/ calls, elements

  call MPI_Init(ierror)
  call check_begin()
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)
  size = 6 * integer_bytes
  memory = -1
  values = [(10 * me + i, i = 1, 6)]
  calls = 0
  elements = 0
  call MPI_Win_create(memory, size, integer_bytes, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierror)
  call MPI_Win_fence(0, w, ierror)
  do i = 1, 3
    disp = 2 * i - 2
#ifdef USE_F08
    call MPI_Put(values(i:i + 3:3), 2, MPI_INTEGER, mod(me + 1, n), disp, 2, MPI_INTEGER, w)
#else
    call MPI_Put(values(2 * i - 1), 2, MPI_INTEGER, mod(me + 1, n), disp, 2, MPI_INTEGER, w, ierror)
#endif
  end do
  call MPI_Win_fence(0, w, ierror)
  call expect(calls, 3, 'calls that the tool saw')
  call expect(elements, 6, 'elements that it counted')
  i = 10 * mod(me + n - 1, n)
#ifdef USE_F08
  call expect(memory, [i + 1, i + 4, i + 2, i + 5, i + 3, i + 6], 'what was put, sections through a tool')
#else
  call expect(memory, [i + 1, i + 2, i + 3, i + 4, i + 5, i + 6], 'what was put')
#endif
  call MPI_Win_free(w, ierror)
  call check_end()
end program
