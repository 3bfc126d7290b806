! Handles, statuses and attributes that Fortran shares with C. A Fortran handle must have the value that MPI_X_toint
! returns for the C handle, where X is Comm, Win and so on.
!
! np: 1
! timeout: 60
! bindings: f08 mpi mpif
! with: check.F90 handles_c.c
#include "binding.inc"

program handles
  use check
  use, intrinsic :: iso_c_binding
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  interface
    integer function c_check_handles(comm, win, type, op, info, group, errhandler, request) bind(C)
      import
      integer, value :: comm, win, type, op, info, group, errhandler, request
    end function
    integer function c_check_predefined(world, integer, sum, null) bind(C)
      import
      integer, value :: world, integer, sum, null
    end function
    subroutine c_make(comm, type) bind(C)
      import
      integer :: comm, type
    end subroutine
    integer function c_check_status(status) bind(C)
      import
      integer :: status(*)
    end function
    integer function c_is_ignore(status) bind(C)
      import
      !GCC$ attributes no_arg_check :: status
      type(*) :: status(*)
    end function
    integer function c_key() bind(C)
      import
    end function
    subroutine c_set(comm, key, pointer) bind(C)
      import
      integer, value :: comm, key
      integer(C_INTPTR_T), value :: pointer
    end subroutine
    integer(C_INTPTR_T) function c_get(comm, key, set_by_fortran) bind(C)
      import
      integer, value :: comm, key, set_by_fortran
    end function
  end interface
  integer :: ierror, n, key, mine
  integer, asynchronous :: memory(4), value, got(3), f_status(MPI_STATUS_SIZE)
  integer(kind=MPI_ADDRESS_KIND) :: size, attribute, extra
  logical :: flag
  COMM :: c, c2
  WIN :: w
  DATATYPE :: t
  OP :: o
  INFO :: i
  GROUP :: g
  ERRHANDLER :: h
  REQUEST :: r
  STATUS(s)

  call MPI_Init(ierror)
  call check_begin()
  size = 4 * integer_bytes
  memory = 0
  call MPI_Comm_dup(MPI_COMM_WORLD, c, ierror)
  call MPI_Win_create(memory, size, integer_bytes, MPI_INFO_NULL, c, w, ierror)
  call MPI_Type_contiguous(3, MPI_INTEGER, t, ierror)
  call MPI_Info_create(i, ierror)
  call MPI_Info_set(i, 'a', 'b', ierror)
  call MPI_Comm_group(c, g, ierror)
  h = MPI_ERRORS_RETURN
  o = MPI_SUM
  value = 4711
  call MPI_Isend(value, 1, MPI_INTEGER, 0, 9, MPI_COMM_SELF, r, ierror)
  n = c_check_handles(VALUE_OF(c), VALUE_OF(w), VALUE_OF(t), VALUE_OF(o), VALUE_OF(i), VALUE_OF(g), VALUE_OF(h), VALUE_OF(r))
  call expect(n, 0, 'handles in C')
  n = c_check_predefined(VALUE_OF(MPI_COMM_WORLD), VALUE_OF(MPI_INTEGER), VALUE_OF(MPI_SUM), VALUE_OF(MPI_WIN_NULL))
  call expect(n, 0, 'predefined handles in C')
  call c_make(VALUE_OF(c2), n)
  call MPI_Comm_size(c2, mine, ierror)
  call expect(mine, 1, 'a communicator of C')
  call MPI_Type_free(t, ierror)
  VALUE_OF(t) = n
  call MPI_Type_size(t, mine, ierror)
  call expect(mine, 20, 'a datatype of C')

  got = [1, 2, 3]
  call MPI_Sendrecv(got, 3, MPI_INTEGER, 0, 77, memory, 4, MPI_INTEGER, 0, 77, MPI_COMM_SELF, s, ierror)
#ifdef USE_F08
  call MPI_Status_f082f(s, f_status, ierror)
  call expect(f_status(MPI_TAG), 77, 'status_f082f')
  s%MPI_TAG = 0
  call MPI_Status_f2f08(f_status, s, ierror)
  call expect(s%MPI_TAG, 77, 'status_f2f08')
  call expect(s%MPI_SOURCE, f_status(MPI_SOURCE), 'status_f2f08: source')
#else
  f_status = s
#endif
  call expect(c_check_status(f_status), 0, 'a status in C')
#ifdef USE_MPI
  block
    ! The module mpi has the types of mpi_f08 too, for conversions.
    type(MPI_Status) :: s08
    type(MPI_Comm) :: c08
    call MPI_Status_f2f08(s, s08, ierror)
    call expect(s08%MPI_TAG, 77, 'status_f2f08 in mpi')
    c08%MPI_VAL = c
    call expect(c08 == MPI_Comm(c) .and. c08 /= MPI_Comm(c2), 'types of handles in mpi')
  end block
#endif

#if defined(USE_F08)
  call expect(c_is_ignore(MPI_STATUS_IGNORE), 3, 'MPI_STATUS_IGNORE in C')
  call expect(c_is_ignore(MPI_STATUSES_IGNORE), 4, 'MPI_STATUSES_IGNORE in C')
#else
  call expect(c_is_ignore(MPI_STATUS_IGNORE), 1, 'MPI_STATUS_IGNORE in C')
  call expect(c_is_ignore(MPI_STATUSES_IGNORE), 2, 'MPI_STATUSES_IGNORE in C')
#endif
  call expect(c_is_ignore(f_status), 0, 'a status that is none of them')

  ! Attributes: each language sets some attributes, with keyvals that the same or the other language has created.
  key = c_key()
  attribute = 123456789012_MPI_ADDRESS_KIND
  call MPI_Comm_set_attr(c, key, attribute, ierror)
  call expect(c_get(VALUE_OF(c), key, 1) == attribute, 'set by Fortran, got by C')
  call c_set(VALUE_OF(c2), key, 8000_C_INTPTR_T)
  call MPI_Comm_get_attr(c2, key, attribute, flag, ierror)
  call expect(flag .and. attribute == 8000, 'set by C, got by Fortran')
  call MPI_Comm_free_keyval(key, ierror)
  extra = 0
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra, ierror)
  call c_set(VALUE_OF(c2), key, 9000_C_INTPTR_T)
  call MPI_Comm_free(c, ierror)
  call MPI_Comm_dup(c2, c, ierror)
  call expect(c_get(VALUE_OF(c), key, 0) == 9000, 'set by C, copied by a key of Fortran')
  call MPI_Comm_free(c, ierror)
  call MPI_Comm_free(c2, ierror)
  call MPI_Comm_free_keyval(key, ierror)
  call MPI_Win_free(w, ierror)
  call MPI_Type_free(t, ierror)
  call MPI_Info_free(i, ierror)
  call MPI_Group_free(g, ierror)
  call check_end()
end program
