! Strings: the bindings remove trailing blanks on input, and pad with blanks on output. They truncate text that does not
! fit. Info keys and values lose leading and trailing blanks. Lengths do not include a terminating zero.
!
! np: 1
! timeout: 60
! bindings: f08 mpi mpif
! with: check.F90
#include "binding.inc"

program strings
  use check
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  integer :: ierror, length, code, class, n
  character(len=MPI_MAX_OBJECT_NAME) :: name
#ifndef USE_F08
  character(len=5) :: short
#endif
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=MPI_MAX_PROCESSOR_NAME) :: machine
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  character(len=12) :: value
  integer(kind=MPI_ADDRESS_KIND) :: size
  integer, asynchronous :: memory(1)
  WIN :: w
  COMM :: c
  DATATYPE :: t
  INFO :: i
  logical :: flag

  call MPI_Init(ierror)
  call check_begin()
  call expect(MPI_MAX_OBJECT_NAME, 127, 'MPI_MAX_OBJECT_NAME')
  size = 4
  memory = 0
  call MPI_Win_create(memory, size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierror)
  name = 'x'
  call MPI_Win_get_name(w, name, length, ierror)
  call expect(length, 0, 'length of no name')
  call expect(name, ' ', 'no name')
  call MPI_Win_set_name(w, '  my window   ', ierror)
  call MPI_Win_get_name(w, name, length, ierror)
  call expect(length, 11, 'win_get_name: length')
  call expect(name, '  my window', 'win_get_name')
  call MPI_Win_free(w, ierror)
#ifndef USE_F08
  call MPI_Comm_get_name(MPI_COMM_WORLD, short, length, ierror) ! mpi_f08 requires a variable of the maximum length
  call expect(short, 'MPI_C', 'comm_get_name, cut')
#endif
  call MPI_Comm_dup(MPI_COMM_WORLD, c, ierror)
  call MPI_Comm_set_name(c, repeat('n', 126) // '  ', ierror)
  call MPI_Comm_get_name(c, name, length, ierror)
  call expect(length, 126, 'a long name')
  call expect(name, repeat('n', 126), 'a long name')
  call MPI_Comm_free(c, ierror)
  call MPI_Type_contiguous(1, MPI_INTEGER, t, ierror)
  call MPI_Type_set_name(t, 'one', ierror)
  call MPI_Type_get_name(t, name, length, ierror)
  call expect(name(1:length), 'one', 'type_get_name')
  call MPI_Type_free(t, ierror)

  call MPI_Error_string(MPI_ERR_RMA_RANGE, text, length, ierror)
  call expect(length > 10 .and. text(length + 1:) == ' ' .and. text(length:length) /= ' ', 'error_string')
  call MPI_Add_error_class(class, ierror)
  call MPI_Add_error_code(class, code, ierror)
  call MPI_Add_error_string(code, 'all is lost   ', ierror)
  call MPI_Error_string(code, text, length, ierror)
  call expect(text(1:length), 'all is lost', 'add_error_string')
  call MPI_Get_processor_name(machine, length, ierror)
  call expect(length > 0 .and. len_trim(machine) == length, 'get_processor_name')
  call MPI_Get_library_version(version, length, ierror)
  call expect(len_trim(version(1:length)) > 0 .and. version(length + 1:) == ' ', 'get_library_version')

  call MPI_Info_create(i, ierror)
  call MPI_Info_set(i, '  key ', '   a value  ', ierror)
  call MPI_Info_set(i, 'empty key', 'b', ierror)
  call MPI_Info_get_nkeys(i, n, ierror)
  call expect(n, 2, 'info_get_nkeys')
  value = 'xxxxxxxxxxxx'
  call MPI_Info_get(i, 'key', len(value), value, flag, ierror)
  call expect(flag, 'info_get finds the key')
  call expect(value, 'a value', 'info_get')
  call MPI_Info_get_valuelen(i, ' key', length, flag, ierror)
  call expect(length, 7, 'info_get_valuelen')
  value = 'xxxxxxxxxxxx'
  call MPI_Info_get(i, 'key', 4, value, flag, ierror)
  call expect(value(1:4), 'a va', 'info_get, cut')
  length = 0
  value = 'xxxxxxxxxxxx'
  call MPI_Info_get_string(i, 'key', length, value, flag, ierror)
  call expect(length, 7, 'info_get_string asks for the length')
  call expect(value, 'xxxxxxxxxxxx', 'and writes nothing')
  length = len(value)
  call MPI_Info_get_string(i, 'key ', length, value, flag, ierror)
  call expect(flag, 'info_get_string finds the key')
  call expect(length, 7, 'info_get_string: length')
  call expect(value, 'a value', 'info_get_string')
  length = 3
  call MPI_Info_get_string(i, 'key ', length, value, flag, ierror)
  call expect(value, 'a v', 'info_get_string, cut')
  call expect(length, 7, 'info_get_string, cut: length')
  value = 'untouched'
  length = len(value)
  call MPI_Info_get_string(i, 'another', length, value, flag, ierror)
  call expect(.not. flag, 'info_get_string of no key')
  call expect(value, 'untouched', 'info_get_string of no key')
  call keys()
  call nothing()
  call MPI_Info_delete(i, 'key  ', ierror)
  call MPI_Info_get_nkeys(i, n, ierror)
  call expect(n, 1, 'info_delete')
  call MPI_Info_free(i, ierror)
  call expect(i == MPI_INFO_NULL, 'info_free')
  call check_end()

contains

  ! Tests empty strings, and strings that consist only of blanks.
  subroutine nothing()
    character(len=0) :: none
    integer :: length
    logical :: flag
    call MPI_Comm_dup(MPI_COMM_WORLD, c, ierror)
    call MPI_Comm_set_name(c, none, ierror)
    call expect(ierror, MPI_SUCCESS, 'an empty name')
    call MPI_Comm_get_name(c, name, length, ierror)
    call expect(length, 0, 'an empty name: length')
    call expect(name, ' ', 'an empty name')
    call MPI_Comm_set_name(c, 'some', ierror)
    call MPI_Comm_set_name(c, '     ', ierror)
    call MPI_Comm_get_name(c, name, length, ierror)
    call expect(length, 0, 'a name of blanks: length')
    call MPI_Comm_set_name(c, repeat('m', 400) // '  ', ierror) ! too long: the library truncates it
    call MPI_Comm_get_name(c, name, length, ierror)
    call expect(length, MPI_MAX_OBJECT_NAME, 'a name that is too long')
    call expect(name, repeat('m', MPI_MAX_OBJECT_NAME), 'a name that is too long')
    call MPI_Comm_free(c, ierror)
#ifndef USE_F08
    call MPI_Comm_get_name(MPI_COMM_WORLD, none, length, ierror)
    call expect(ierror, MPI_SUCCESS, 'no room for a name')
#endif
    call MPI_Info_set(i, 'blank', '   ', ierror)
    call MPI_Info_get_valuelen(i, 'blank', length, flag, ierror)
    call expect(flag .and. length == 0, 'a value of blanks')
    value = 'xxxxxxxxxxxx'
    call MPI_Info_get(i, 'blank', len(value), value, flag, ierror)
    call expect(flag .and. value == ' ', 'a value of blanks comes out')
    call MPI_Info_delete(i, 'blank', ierror)
    value = 'xxxxxxxxxxxx'
    call MPI_Info_get(i, 'key', len(value), value(3:2), flag, ierror)
    call expect(flag, 'no room for a value')
    call expect(value, 'xxxxxxxxxxxx', 'no room for a value: nothing is written')
  end subroutine

  subroutine keys()
    character(len=MPI_MAX_INFO_KEY) :: key
    integer :: k, found
    found = 0
    do k = 0, 1
      call MPI_Info_get_nthkey(i, k, key, ierror)
      if (key == 'key') found = found + 1
      if (key == 'empty key') found = found + 10
    end do
    call expect(found, 11, 'info_get_nthkey')
  end subroutine
end program
