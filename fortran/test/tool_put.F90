! A profiling tool in Fortran: its MPI_Put counts the call and calls PMPI_Put. In mpi_f08 it replaces the specific
! procedure of MPI_Put, in the other bindings the external procedure.
#include "binding.inc"
#if defined(USE_F08)
subroutine tool_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, ierror) &
    bind(C, name="mpi_put_f08ts_")
  use mpi_f08
  implicit none
  type(*), dimension(..), intent(in), asynchronous :: origin_addr
  integer, intent(in) :: origin_count, target_rank, target_count
  integer, optional, intent(out) :: ierror
#else
subroutine mpi_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, ierror)
#if defined(USE_MPI)
  use mpi, only: MPI_ADDRESS_KIND, PMPI_Put
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer :: origin_addr(*)
  integer :: origin_count, target_rank, target_count, ierror
#endif
  DATATYPE, intent(in) :: origin_datatype, target_datatype
  integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
  WIN, intent(in) :: win
  integer :: calls, elements
  common /tool/ calls, elements
  calls = calls + 1
  elements = elements + origin_count
  call PMPI_Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, ierror)
end subroutine
