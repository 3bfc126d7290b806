! Datatypes of every constructor, with gaps, applied to sections. The displacements of a datatype apply to the section
! as if it were contiguous. Therefore a send from the section must send the same data as a send from a contiguous copy.
!
! np: 1
! integers: 4
! timeout: 60
! bindings: f08
! with: check.F90
program typemaps
  use check
  use mpi_f08
  implicit none
  integer, parameter :: most = 120
  integer, asynchronous :: a(3, 8, 2, 7), row(most), back(most)
  integer :: i
  type(MPI_Datatype) :: t, u
  integer(kind=MPI_ADDRESS_KIND) :: places(3)

  call MPI_Init()
  call check_begin()
  a = reshape([(i, i = 1, size(a))], shape(a))
  call MPI_Type_vector(3, 2, 4, MPI_INTEGER, t)
  call compare(t, 2, 'vector')
  call MPI_Type_vector(2, 1, -3, MPI_INTEGER, u)
  call MPI_Type_create_resized(u, -12_MPI_ADDRESS_KIND, 40_MPI_ADDRESS_KIND, t)
  call MPI_Type_create_hindexed_block(1, 1, [12_MPI_ADDRESS_KIND], t, u)
  call compare(u, 2, 'hindexed_block of a resized vector with a negative stride')
  call MPI_Type_create_hvector(3, 1, 20_MPI_ADDRESS_KIND, MPI_INTEGER, t)
  call compare(t, 3, 'hvector')
  call MPI_Type_indexed(3, [2, 1, 3], [5, 0, 9], MPI_INTEGER, t)
  call compare(t, 2, 'indexed, not in order')
  places = [8, 60, 32]
  call MPI_Type_create_hindexed(3, [1, 2, 3], places, MPI_INTEGER, t)
  call compare(t, 2, 'hindexed')
  call MPI_Type_create_indexed_block(3, 2, [7, 1, 4], MPI_INTEGER, t)
  call compare(t, 3, 'indexed_block')
  call MPI_Type_create_struct(3, [1, 2, 1], places, [MPI_INTEGER, MPI_REAL, MPI_INTEGER], t)
  call compare(t, 2, 'struct')
  call MPI_Type_vector(2, 1, 2, MPI_INTEGER, u)
  call MPI_Type_contiguous(3, u, t)
  call MPI_Type_dup(t, u)
  call compare(t, 2, 'contiguous of vectors')
  call compare(u, 3, 'dup')
  call MPI_Type_create_subarray(3, [4, 3, 5], [2, 2, 3], [1, 0, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, t)
  call compare(t, 1, 'subarray in Fortran''s order')
  call MPI_Type_create_subarray(3, [4, 3, 5], [2, 2, 3], [1, 0, 1], MPI_ORDER_C, MPI_INTEGER, t)
  call compare(t, 2, 'subarray in C''s order')
  do i = 0, 5
    call MPI_Type_create_darray(6, i, 2, [7, 8], [MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK], &
                                [2, MPI_DISTRIBUTE_DFLT_DARG], [2, 3], MPI_ORDER_FORTRAN, MPI_INTEGER, t)
    call compare(t, 1, 'darray in Fortran''s order')
    call MPI_Type_create_darray(6, i, 3, [7, 2, 3], [MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC], &
                                [4, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG], [2, 1, 3], MPI_ORDER_C, MPI_INTEGER, t)
    call compare(t, 1, 'darray in C''s order')
  end do
  call large()
  call MPI_Type_contiguous(5, MPI_INTEGER, t)
  call compare(t, 4, 'contiguous')
  call MPI_Type_contiguous(24, MPI_BYTE, t)
  call compare(t, 4, 'bytes')
  call refused()
  call check_end()

contains

  ! compare sends `count` elements of a datatype from sections and from their contiguous copies, and receives into both.
  subroutine compare(type, count, what)
    type(MPI_Datatype), intent(inout) :: type
    integer, intent(in) :: count
    character(len=*), intent(in) :: what
    integer, asynchronous :: b(3, 8, 2, 7)
    integer :: n
    call MPI_Type_commit(type)
    call out_of(a(2, :, :, :), reshape(a(2, :, :, :), [112]), type, count, what)
    call out_of(a(:, 8:1:-1, 2:1:-1, 7:1:-1), reshape(a(:, 8:1:-1, 2:1:-1, 7:1:-1), [336]), type, count, what // ', backwards')
    call out_of(a(1:3:2, 8:2:-2, :, :), reshape(a(1:3:2, 8:2:-2, :, :), [112]), type, count, what // ', all dimensions')
    ! Receiving into a section must store the same data as receiving into a copy, and must change no element outside of
    ! the section.
    call MPI_Type_size(type, n)
    n = n / 4 * count
    row = [(1000 + i, i = 1, most)]
    b = -1
    call MPI_Sendrecv(row, n, MPI_INTEGER, 0, 0, b(2, :, :, :), count, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call expect(all(b(1, :, :, :) == -1) .and. all(b(3, :, :, :) == -1), what // ': the elements between')
    back = -1
    call MPI_Sendrecv(row, n, MPI_INTEGER, 0, 0, back, count, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call expect(reshape(b(2, :, :, :), [112]), back(1:112), what // ': received')
    call MPI_Type_free(type)
  end subroutine

  subroutine out_of(section, flat, type, count, what)
    integer, intent(in), asynchronous :: section(..)
    integer, intent(in) :: flat(:), count
    type(MPI_Datatype), intent(in) :: type
    character(len=*), intent(in) :: what
    integer, asynchronous :: got(most), want(most)
    got = -1
    want = -1
    call MPI_Sendrecv(section, count, type, 0, 0, got, most, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(flat, count, type, 0, 0, want, most, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call expect(got, want, what // ': sent')
    call expect(got(2) /= -1, what // ': nothing was sent')
  end subroutine

  ! Tests datatypes of large-count constructors, for which MPI_Type_get_contents_c returns other arrays than for
  ! small-count constructors.
  subroutine large()
    integer(kind=MPI_COUNT_KIND), parameter :: one = 1, two = 2, three = 3, four = 4
    call MPI_Type_vector(three, two, four, MPI_INTEGER, t)
    call compare(t, 2, 'large vector')
    call MPI_Type_indexed(two, [two, one], [four, one], MPI_INTEGER, t)
    call compare(t, 2, 'large indexed')
    call MPI_Type_create_hindexed(two, [two, one], [4 * four, four], MPI_INTEGER, t)
    call compare(t, 2, 'large hindexed')
    call MPI_Type_create_hvector(two, one, 3 * four, MPI_INTEGER, t)
    call compare(t, 2, 'large hvector')
    call MPI_Type_create_struct(two, [two, one], [4 * four, four], [MPI_INTEGER, MPI_REAL], t)
    call compare(t, 2, 'large struct')
    call MPI_Type_create_indexed_block(two, two, [four, one], MPI_INTEGER, t)
    call compare(t, 2, 'large indexed_block')
    call MPI_Type_create_subarray(2, [four, three], [two, two], [one, one], MPI_ORDER_FORTRAN, MPI_INTEGER, t)
    call compare(t, 2, 'large subarray')
    call MPI_Type_create_darray(4, 3, 2, [three, 2 * four], [MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK], &
                                [MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG], [2, 2], MPI_ORDER_C, MPI_INTEGER, t)
    call compare(t, 1, 'large darray')
    call MPI_Type_vector(two, one, three, MPI_INTEGER, u)
    call MPI_Type_create_resized_c(u, 0 * one, 5 * four, t)
    call compare(t, 2, 'large resized')
  end subroutine

  ! Checks a send from a section that no datatype can describe: the call returns an error, and sends nothing.
  subroutine refused()
    integer :: ierror, got(10)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Send(a(1:3:2, 1, 1, 1), 3, MPI_INTEGER, 0, 5, MPI_COMM_SELF, ierror)
    call expect_class(ierror, MPI_ERR_COUNT, 'more elements than the section has')
    call MPI_Send(a(1, 1:7:2, 1, 1), 1, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_SELF, ierror)
    call expect_class(ierror, MPI_ERR_TYPE, 'a number torn apart')
    call MPI_Buffer_attach(a(1, :, :, :), 400, ierror)
    call expect_class(ierror, MPI_ERR_BUFFER, 'memory with gaps for messages')
    got = 0
    call MPI_Sendrecv(a(1, 1:7:2, 1, 1), 0, MPI_DOUBLE_PRECISION, 0, 0, got, 10, MPI_INTEGER, 0, 0, MPI_COMM_SELF, &
                      MPI_STATUS_IGNORE, ierror)
    call expect(ierror, MPI_SUCCESS, 'nothing out of a section')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
  end subroutine
end program
