! Files: views, all kinds of file pointers, blocking, nonblocking and split collective accesses, offsets beyond 2 GiB.
! With mpi_f08, sections are written and read.
!
! np: 1 2
! timeout: 60
! bindings: f08 mpi mpif
! with: check.F90
#include "binding.inc"

program files
  use check
  use, intrinsic :: iso_fortran_env, only: int64
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  character(len=200) :: path
  character(len=40) :: representation, value
  integer :: ierror, me, n, i, count, class, code, amode, length
  integer, asynchronous :: a(12), b(12)
#ifdef USE_F08
  integer, asynchronous :: c(4, 3)
#endif
  integer(MPI_OFFSET_KIND) :: offset, bytes, displacement
  integer(MPI_ADDRESS_KIND) :: extent
  integer(MPI_OFFSET_KIND), parameter :: zero = 0, far = 3_int64 * 2_int64**30
  logical :: flag
  MPI_FILE :: f
  DATATYPE :: filetype, etype
  ERRHANDLER :: handler
  GROUP :: group
  INFO :: hints
  REQUEST :: r
  STATUS(s)

  call MPI_Init(ierror)
  call check_begin()
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)
  call get_environment_variable('TMPDIR', path, length)
  if (length == 0) path = '/tmp'
  if (me == 0) then
    call system_clock(offset)
    write (value, '(i0)') offset
    path = trim(path) // '/gompirma_files_' // trim(value)
  end if
  call MPI_Bcast(path, len(path), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierror)

  ! The errors of MPI_File_open are returned by default.
  call MPI_File_get_errhandler(MPI_FILE_NULL, handler, ierror)
  call expect(handler == MPI_ERRORS_RETURN, 'default error handler of files')
  call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_RDONLY, MPI_INFO_NULL, f, code)
  call MPI_Error_class(code, class, ierror)
  call expect(class, MPI_ERR_NO_SUCH_FILE, 'open: class')

  ! Trailing blanks of the name are ignored.
  call MPI_Info_create(hints, ierror)
  call MPI_Info_set(hints, 'cb_buffer_size', '65536', ierror)
  call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, hints, f, ierror)
  call expect(ierror, MPI_SUCCESS, 'open')
  call MPI_Info_free(hints, ierror)
  call MPI_File_get_info(f, hints, ierror)
  length = len(value)
  call MPI_Info_get_string(hints, 'cb_buffer_size', length, value, flag, ierror)
  call expect(flag .and. value == '65536', 'cb_buffer_size')
  call MPI_Info_free(hints, ierror)
  call MPI_File_get_amode(f, amode, ierror)
  call expect(amode, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, 'amode')
  call MPI_File_get_group(f, group, ierror)
  call MPI_Group_size(group, count, ierror)
  call expect(count, n, 'size of the group')
  call MPI_Group_free(group, ierror)

  ! A view that shows every n-th integer to each process.
  extent = n * integer_bytes
  call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, extent, filetype, ierror)
  call MPI_Type_commit(filetype, ierror)
  displacement = me * integer_bytes
  call MPI_File_set_view(f, displacement, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, ierror)
  call expect(ierror, MPI_SUCCESS, 'set_view')
  call MPI_Type_free(filetype, ierror)
  call MPI_File_get_view(f, offset, etype, filetype, representation, ierror)
  call expect(offset, displacement, 'get_view: displacement')
  call expect(representation, 'native', 'get_view: representation')
  call expect(etype == MPI_INTEGER, 'get_view: etype')
  call MPI_Type_free(filetype, ierror)
  a = [(100 * me + i, i = 1, 12)]
  call MPI_File_write_all(f, a, 12, MPI_INTEGER, s, ierror)
  call MPI_Get_count(s, MPI_INTEGER, count, ierror)
  call expect(count, 12, 'write_all: count')
  call MPI_File_get_position(f, offset, ierror)
  call expect(offset, 12_int64, 'get_position')
  call MPI_File_get_byte_offset(f, offset, bytes, ierror)
  call expect(bytes, int(12 * n * integer_bytes + me * integer_bytes, int64), 'get_byte_offset')
  call MPI_File_seek(f, zero, MPI_SEEK_SET, ierror)
  b = 0
  call MPI_File_read(f, b, 12, MPI_INTEGER, s, ierror)
  call expect(b, [(100 * me + i, i = 1, 12)], 'read')
  b = 0
  call MPI_File_iread_at(f, 6_MPI_OFFSET_KIND, b, 6, MPI_INTEGER, r, ierror)
  call MPI_Wait(r, s, ierror)
  call MPI_F_sync_reg(b)
  call expect(b(1:6), [(100 * me + i, i = 7, 12)], 'iread_at')
  call MPI_File_read_at_all_begin(f, zero, b, 12, MPI_INTEGER, ierror)
  call MPI_File_read_at_all_end(f, b, s, ierror)
  call MPI_F_sync_reg(b)
  call expect(b, [(100 * me + i, i = 1, 12)], 'read_at_all_begin')

  ! All processes see the same data without that view.
  call MPI_File_set_view(f, zero, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
  b = 0
  call MPI_File_read_at_all(f, zero, b, n, MPI_INTEGER, s, ierror)
  call expect(b(1:n), [(100 * i + 1, i = 0, n - 1)], 'the order of the elements')
  call MPI_File_get_size(f, offset, ierror)
  call expect(offset, int(12 * n * integer_bytes, int64), 'get_size')
  call MPI_File_get_type_extent(f, MPI_INTEGER, extent, ierror)
  call expect(int(extent, int64), int(integer_bytes, int64), 'get_type_extent')

  ! The shared file pointer.
  call MPI_File_seek_shared(f, 100_MPI_OFFSET_KIND, MPI_SEEK_SET, ierror)
  call MPI_File_write_ordered(f, a, 2, MPI_INTEGER, s, ierror)
  call MPI_File_get_position_shared(f, offset, ierror)
  call expect(offset, int(100 + 2 * n, int64), 'get_position_shared')
  b = 0
  call MPI_File_read_at_all(f, int(100 + 2 * me, MPI_OFFSET_KIND), b, 2, MPI_INTEGER, s, ierror)
  call expect(b(1:2), a(1:2), 'write_ordered')

  ! Offsets and sizes beyond 2 GiB.
  call MPI_File_write_at(f, far + 12 * me, a, 12, MPI_INTEGER, s, ierror)
  call expect(ierror, MPI_SUCCESS, 'write_at beyond 2 GiB')
  call MPI_File_sync(f, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_File_sync(f, ierror)
  call MPI_File_get_size(f, offset, ierror)
  call expect(offset, (far + 12 * n) * integer_bytes, 'size beyond 2 GiB')
  b = 0
  call MPI_File_read_at(f, far + 12 * (n - 1), b, 12, MPI_INTEGER, s, ierror)
  call expect(b, [(100 * (n - 1) + i, i = 1, 12)], 'read_at beyond 2 GiB')

#ifdef USE_F08
  ! Sections: each second row of an array.
  c = reshape([(1000 * me + i, i = 1, 12)], [4, 3])
  call MPI_File_write_at(f, int(10 * me, MPI_OFFSET_KIND), c(1:4:2, :), 6, MPI_INTEGER, s, ierror)
  call MPI_File_iwrite_at(f, int(10 * me + 6, MPI_OFFSET_KIND), c(2:4:2, 1), 2, MPI_INTEGER, r, ierror)
  call MPI_Wait(r, s, ierror)
  b = 0
  call MPI_File_read_at(f, int(10 * me, MPI_OFFSET_KIND), b, 8, MPI_INTEGER, s, ierror)
  call expect(b(1:8), 1000 * me + [1, 3, 5, 7, 9, 11, 2, 4], 'sections written')
  c = 0
  call MPI_File_iread_at(f, int(10 * me, MPI_OFFSET_KIND), c(4:1:-2, :), 6, MPI_INTEGER, r, ierror)
  call MPI_Wait(r, s, ierror)
  call MPI_F_sync_reg(c)
  call expect(reshape(c(4:1:-2, :), [6]), 1000 * me + [1, 3, 5, 7, 9, 11], 'a section read')
  call expect(all(c(1:4:2, :) == 0), 'the elements between those of a section')
#endif

  call MPI_File_set_atomicity(f, .true., ierror)
  call MPI_File_get_atomicity(f, flag, ierror)
  call expect(flag, 'get_atomicity')
  call MPI_File_close(f, ierror)
  call expect(f == MPI_FILE_NULL, 'close')
  inquire (file=path, exist=flag)
  call expect(.not. flag, 'MPI_MODE_DELETE_ON_CLOSE')
  call check_end()
end program
