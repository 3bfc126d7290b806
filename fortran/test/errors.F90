! Checks errors with MPI_ERRORS_RETURN: ierror must have the error code, the error text must have the invalid values,
! and the program must continue. Calls with mpi_f08 may omit ierror.
!
! np: 2
! timeout: 60
! bindings: f08 mpi mpif
! with: check.F90
#include "binding.inc"

program errors_test
  use check
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  integer :: ierror, code, me, length
  integer, asynchronous :: memory(4), value
  integer(kind=MPI_ADDRESS_KIND) :: size, disp
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=20) :: wanted
  WIN :: w
  ERRHANDLER :: h
  COMM :: c
  REQUEST :: r

  call MPI_Init(ierror)
  call check_begin()
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  size = 4 * integer_bytes
  disp = 3
  memory = 0
  value = 1
  call MPI_Win_create(memory, size, integer_bytes, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierror)
  call MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN, ierror)
  call MPI_Win_get_errhandler(w, h, ierror)
  call expect(h == MPI_ERRORS_RETURN, 'win_get_errhandler')
  call MPI_Put(value, 1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, w, ierror)
  call expect_class(ierror, MPI_ERR_RMA_SYNC, 'put outside of an epoch')
  call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w, ierror)
  call MPI_Put(memory, 2, MPI_INTEGER, 0, disp, 2, MPI_INTEGER, w, ierror)
  call expect_class(ierror, MPI_ERR_RMA_RANGE, 'put past the window')
  call MPI_Error_string(ierror, text, length, code)
  write (wanted, '(i0,a)') 4 * integer_bytes, ' bytes'
  call expect(index(text, trim(wanted)) > 0, 'the text has the window''s size: ' // trim(text))
  call MPI_Put(value, 1, MPI_INTEGER, 7, disp, 1, MPI_INTEGER, w, ierror)
  call expect_class(ierror, MPI_ERR_RANK, 'put to no process')
  call MPI_Put(value, -1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, w, ierror)
  call expect_class(ierror, MPI_ERR_COUNT, 'put of -1 elements')
  call MPI_Put(value, 1, MPI_DATATYPE_NULL, 0, disp, 1, MPI_INTEGER, w, ierror)
  call expect_class(ierror, MPI_ERR_TYPE, 'put of no type')
  disp = -1
  call MPI_Put(value, 1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, w, ierror)
  call expect(ierror /= MPI_SUCCESS, 'put before the window')
  call MPI_Accumulate(value, 1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, MPI_OP_NULL, w, ierror)
  call expect(ierror /= MPI_SUCCESS, 'accumulate with no operation')
  call MPI_Win_unlock(1 - me, w, ierror)
  if (me == 0) call expect_class(ierror, MPI_ERR_RMA_SYNC, 'unlock of what is not locked')
  call MPI_Win_unlock(0, w, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call expect(memory, [0, 0, 0, 0], 'what was refused changed nothing')
#ifdef USE_F08
  ! Calls without ierror, and errors that the binding itself reports.
  call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w)
  disp = 0
  call MPI_Put(memory(1:4:2), 3, MPI_INTEGER, 0, disp, 3, MPI_INTEGER, w)
  call MPI_Put(memory(1:4:2), 3, MPI_INTEGER, 0, disp, 3, MPI_INTEGER, w, ierror)
  call expect_class(ierror, MPI_ERR_COUNT, 'more than the section has')
  call MPI_Put(memory(1:4:2), -1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, w, ierror)
  call expect_class(ierror, MPI_ERR_COUNT, 'a section, -1 elements')
  call MPI_Put(memory(1:4:2), 1, MPI_DATATYPE_NULL, 0, disp, 1, MPI_INTEGER, w, ierror)
  call expect_class(ierror, MPI_ERR_TYPE, 'a section, no type')
  call MPI_Win_unlock(0, w)
  call MPI_Comm_dup(MPI_COMM_WORLD, c)
  call MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN)
  block
    type(MPI_Win) :: w2
    call MPI_Win_create(memory(1:4:2), size, 4, MPI_INFO_NULL, c, w2, ierror)
    call expect_class(ierror, MPI_ERR_BUFFER, 'a window over a section')
  end block
  call MPI_Comm_free(c)
#endif
  call MPI_Comm_dup(MPI_COMM_WORLD, c, ierror)
  call MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN, ierror)
  call MPI_Isend(value, 1, MPI_INTEGER, -5, 0, c, r, ierror)
  call expect_class(ierror, MPI_ERR_RANK, 'isend to no process')
  call MPI_Comm_free(c, ierror)
  call MPI_Win_free(w, ierror)
  call check_end()
end program
