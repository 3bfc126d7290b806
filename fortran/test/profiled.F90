! Makes three puts that a profiling library sees, and one PMPI_Put, which it must not see. ctest runs this program with
! the profiling library count_puts.c.
#include "binding.inc"

program profiled
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  integer :: ierror, i
  integer, asynchronous :: memory(4), value
  integer(kind=MPI_ADDRESS_KIND) :: size, disp
  WIN :: w
  call MPI_Init(ierror)
  size = 16
  memory = 0
  call MPI_Win_create(memory, size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierror)
  call MPI_Win_fence(0, w, ierror)
  value = 5
  do i = 1, 3
    disp = i - 1
    call MPI_Put(value, 1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, w, ierror)
  end do
  disp = 3
  call PMPI_Put(value, 1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, w, ierror)
  call MPI_Win_fence(0, w, ierror)
  if (any(memory /= 5)) stop 1
  call MPI_Win_free(w, ierror)
  call MPI_Finalize(ierror)
end program
