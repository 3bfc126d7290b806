! Tests the conversion of lists of strings and special constants for spawning, and of procedures for files and sessions.
! C functions in this program replace those of the library, so that the test also covers functions that the library does
! not implement.
!
! np: 1
! timeout: 60
! bindings: f08 mpi mpif
! with: check.F90 standin_c.c
#include "binding.inc"

module converting
  use, intrinsic :: iso_c_binding
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  integer :: handle, code, seen
  integer(C_INT), bind(C) :: c_errors, c_calls
  integer(kind=MPI_ADDRESS_KIND) :: extra_seen
contains

#ifdef USE_F08
  subroutine read_ints(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(C_PTR), value :: userbuf, filebuf
    DATATYPE :: datatype
    integer :: count, ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: to(:), from(:)
    call c_f_pointer(userbuf, to, [count])
    call c_f_pointer(filebuf, from, [count])
#else
  subroutine read_ints(to, datatype, count, from, position, extra_state, ierror)
    integer :: datatype, count, ierror, to(count), from(count)
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
#endif
    to = from
    extra_seen = extra_state
    ierror = MPI_SUCCESS
    if (datatype == MPI_INTEGER .and. position == 5000000000_MPI_OFFSET_KIND) seen = seen + 1
  end subroutine

#ifdef USE_F08
  subroutine read_many(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(C_PTR), value :: userbuf, filebuf
    DATATYPE :: datatype
    integer(kind=MPI_COUNT_KIND) :: count
    integer :: ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: to(:), from(:)
    call c_f_pointer(userbuf, to, [count])
    call c_f_pointer(filebuf, from, [count])
    to = from
    extra_seen = extra_state
    ierror = MPI_SUCCESS
    if (datatype == MPI_INTEGER .and. position == 5000000000_MPI_OFFSET_KIND) seen = seen + 1
  end subroutine
#endif

  subroutine extent_of(datatype, extent, extra_state, ierror)
    DATATYPE :: datatype
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    extent = 40
    ierror = MPI_SUCCESS
    if (datatype == MPI_INTEGER .and. extra_state == 99) seen = seen + 1
    extra_state = extra_state + 1
  end subroutine

  subroutine on_file(f, error)
#ifdef USE_F08
    type(MPI_File) :: f
#else
    integer :: f
#endif
    integer :: error
    handle = VALUE_OF(f)
    code = error
  end subroutine

  subroutine on_session(s, error)
#ifdef USE_F08
    type(MPI_Session) :: s
#else
    integer :: s
#endif
    integer :: error
    handle = VALUE_OF(s)
    code = error
  end subroutine
end module

program standin
  use check
  use converting
  implicit none
  integer :: ierror, codes(4), length
  character(len=16) :: pset
  character(len=5) :: arguments(3), of_each(2, 3)
  character(len=8) :: commands(2)
  COMM :: c
  ERRHANDLER :: h
  integer(kind=MPI_ADDRESS_KIND) :: extra

  call MPI_Init(ierror)
  call check_begin()

  arguments = ['-n   ', ' a b ', '     ']
  codes = 0
  call MPI_Comm_spawn('the program  ', arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, c, codes, ierror)
  call expect(ierror, MPI_SUCCESS, 'comm_spawn')
  call expect(c == MPI_COMM_WORLD, 'comm_spawn: communicator')
  call expect(codes, [70, 71, 0, 0], 'comm_spawn: codes')
  call MPI_Comm_spawn('the program', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, c, MPI_ERRCODES_IGNORE, ierror)
  commands = ['first   ', 'second  ']
  of_each(1, :) = ['x    ', '     ', '?    ']
  of_each(2, :) = ['y    ', 'zz   ', '     ']
  call MPI_Comm_spawn_multiple(2, commands, of_each, [1, 3], [MPI_INFO_ENV, MPI_INFO_NULL], 0, MPI_COMM_SELF, c, codes, ierror)
  call expect(c == MPI_COMM_SELF, 'comm_spawn_multiple: communicator')
  call expect(codes, [80, 81, 82, 83], 'comm_spawn_multiple: codes')
  call MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, [1, 3], [MPI_INFO_ENV, MPI_INFO_NULL], 0, MPI_COMM_SELF, c, &
                               MPI_ERRCODES_IGNORE, ierror)

  length = 0
  pset = '?'
  call MPI_Session_get_nth_pset(MPI_SESSION_NULL, MPI_INFO_NULL, 1, length, pset, ierror)
  call expect(length, 11, 'session_get_nth_pset asks for the length')
  call expect(pset, '?', 'session_get_nth_pset writes nothing')
  length = len(pset)
  call MPI_Session_get_nth_pset(MPI_SESSION_NULL, MPI_INFO_NULL, 1, length, pset, ierror)
  call expect(length, 11, 'session_get_nth_pset: length')
  call expect(pset, 'mpi://WORLD', 'session_get_nth_pset')
  length = 3
  call MPI_Session_get_nth_pset(MPI_SESSION_NULL, MPI_INFO_NULL, 1, length, pset, ierror)
  call expect(pset, 'mpi', 'session_get_nth_pset, cut')

  call MPI_File_create_errhandler(on_file, h, ierror)
  call expect(handle, 2468, 'the file of its error handler')
  call expect(code, 13, 'the code of a file''s error handler')
  call expect(h == MPI_ERRORS_RETURN, 'file_create_errhandler')
  call MPI_Session_create_errhandler(on_session, h, ierror)
  call expect(handle, 1357, 'the session of its error handler')
  call expect(code, 14, 'the code of a session''s error handler')
  call expect(h == MPI_ERRORS_ABORT, 'session_create_errhandler')

  seen = 0
  extra = 99
  call MPI_Register_datarep('mine ', read_ints, MPI_CONVERSION_FN_NULL, extent_of, extra, ierror)
  call expect(seen, 2, 'conversion and extent')
  call expect(extra_seen == 99, 'extra state of a conversion')
  call expect(extra == 100, 'extra state that a procedure has changed')
#ifdef USE_F08
  call MPI_Register_datarep_c('large', read_many, MPI_CONVERSION_FN_NULL_C, extent_of, extra, ierror)
  call expect(seen, 3, 'conversion with a large count')
  call expect(int(c_calls), 11, 'calls of C functions')
#else
  call expect(int(c_calls), 10, 'calls of C functions')
#endif
  call expect(int(c_errors), 0, 'what C functions got')
  call check_end()
end program
