! The functions that MPI-3.0 removed, called as in old programs, with INTEGERs of default size for addresses and
! extents. The tests put and get a struct of the members of a common block, whose displacements are differences of
! MPI_Address. They also test MPI_Type_hvector and MPI_Type_hindexed with extents, bounds, error handlers, and the PMPI_
! names. If an extent does not fit into an INTEGER, the call fails, the error text has the value, and nothing is stored.
! If an address does not fit, the call stores its lower half, and ierror has an error code.
!
! The flag -no-pie makes the addresses of variables fit into an INTEGER.
!
! np: 1 2 3
! timeout: 60
! bindings: mpi mpif
! flags: -no-pie -fallow-argument-mismatch -w
! with: check.F90
#include "binding.inc"

module handlers
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  integer :: calls = 0, last_comm, last_code
contains
  subroutine on_error(comm, code)
    integer :: comm, code
    calls = calls + 1
    last_comm = comm
    last_code = code
  end subroutine
end module

program removed
  use check
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  integer :: ierror

  call MPI_Init(ierror)
  call check_begin()
  call structs()
  call strides()
  call bounds()
  call errhandlers()
#ifndef GOMPIRMA_FORTRAN_I8
  call too_large()
#endif
  call combiners()
  call profiling()
  call check_end()

contains

  subroutine structs()
    double precision :: x(3), y(3)
    real :: weight, weight2
    integer :: id, id2, spin(2), spin2(2)
    common /mine/ x, id, weight, spin
    common /target/ y, id2, weight2, spin2
    save /mine/, /target/
    integer :: lengths(4), displs(4), displs2(4), types(4), base, mine, theirs, w, before, next, i
    integer(kind=MPI_ADDRESS_KIND) :: size, zero, wide
    next = mod(check_rank + 1, check_size)
    before = mod(check_rank + check_size - 1, check_size)
    lengths = [3, 1, 1, 2]
    types = [MPI_DOUBLE_PRECISION, MPI_INTEGER, MPI_REAL, MPI_INTEGER]
    call MPI_Address(x, displs(1), ierror)
    call MPI_Address(id, displs(2), ierror)
    call MPI_Address(weight, displs(3), ierror)
    call MPI_Address(spin, displs(4), ierror)
    call expect(ierror, MPI_SUCCESS, 'MPI_Address')
    call MPI_Get_address(spin, wide, ierror)
    call expect(displs(4) == wide, 'MPI_Address and MPI_Get_address')
    call MPI_Address(MPI_BOTTOM, base, ierror)
    call expect(base, 0, 'the address of MPI_BOTTOM')
    call MPI_Type_struct(4, lengths, displs, types, mine, ierror) ! the displacements are absolute addresses
    call expect(ierror, MPI_SUCCESS, 'MPI_Type_struct')
    call MPI_Type_commit(mine, ierror)
    call MPI_Address(y, base, ierror)
    displs2(1) = 0
    call MPI_Address(id2, displs2(2), ierror)
    call MPI_Address(weight2, displs2(3), ierror)
    call MPI_Address(spin2, displs2(4), ierror)
    displs2(2:4) = displs2(2:4) - base
    call expect(displs2(1:3), [0, 24, 24 + integer_bytes], 'differences of addresses')
    call MPI_Type_struct(4, lengths, displs2, types, theirs, ierror)
    call MPI_Type_commit(theirs, ierror)

    x = [(check_rank + 0.5d0 * i, i = 1, 3)]
    id = 100 + check_rank
    weight = check_rank / 4.0
    spin = [-check_rank, 9]
    y = 0
    id2 = 0
    weight2 = 0
    spin2 = 0
    size = displs2(4) + 2 * integer_bytes
    zero = 0
    call MPI_Win_create(y, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierror)
    call MPI_Win_fence(0, w, ierror)
    call MPI_Put(MPI_BOTTOM, 1, mine, next, zero, 1, theirs, w, ierror)
    call MPI_Win_fence(0, w, ierror)
    call MPI_F_sync_reg(y)
    call MPI_F_sync_reg(id2)
    call MPI_F_sync_reg(weight2)
    call MPI_F_sync_reg(spin2)
    call expect(all(y == [(before + 0.5d0 * i, i = 1, 3)]) .and. weight2 == before / 4.0, 'put: reals')
    call expect([id2, spin2], [100 + before, -before, 9], 'put: integers')
    x = 0
    id = 0
    weight = 0
    spin = 0
    call MPI_F_sync_reg(x)
    call MPI_F_sync_reg(id)
    call MPI_F_sync_reg(weight)
    call MPI_F_sync_reg(spin)
    call MPI_Win_fence(0, w, ierror)
    call MPI_Get(MPI_BOTTOM, 1, mine, next, zero, 1, theirs, w, ierror)
    call MPI_Win_fence(0, w, ierror)
    call MPI_F_sync_reg(x)
    call MPI_F_sync_reg(id)
    call MPI_F_sync_reg(weight)
    call MPI_F_sync_reg(spin)
    call expect(all(x == [(check_rank + 0.5d0 * i, i = 1, 3)]) .and. weight == check_rank / 4.0, 'get: reals')
    call expect([id, spin], [100 + check_rank, -check_rank, 9], 'get: integers')
    call MPI_Win_free(w, ierror)
    call MPI_Type_free(mine, ierror)
    call MPI_Type_free(theirs, ierror)
  end subroutine

  ! Transposes a matrix with one transfer, and extracts a triangle from it.
  subroutine strides()
    integer, parameter :: n = 5
    integer, save, asynchronous :: matrix(n, n), got(n, n)
    integer :: extent, row, transposed, triangle, lengths(n), displs(n), w, next, before, i, j
    integer(kind=MPI_ADDRESS_KIND) :: size, zero
    next = mod(check_rank + 1, check_size)
    before = mod(check_rank + check_size - 1, check_size)
    matrix = reshape([((1000 * check_rank + 10 * i + j, i = 1, n), j = 1, n)], [n, n])
    call MPI_Type_extent(MPI_INTEGER, extent, ierror)
    call expect(extent, integer_bytes, 'the extent of MPI_INTEGER')
    call MPI_Type_hvector(n, 1, n * extent, MPI_INTEGER, row, ierror)
    call expect(ierror, MPI_SUCCESS, 'MPI_Type_hvector')
    call MPI_Type_hvector(n, 1, extent, row, transposed, ierror)
    call MPI_Type_commit(transposed, ierror)
    do i = 1, n
      lengths(i) = i
      displs(i) = n * (i - 1) * extent
    end do
    call MPI_Type_hindexed(n, lengths, displs, MPI_INTEGER, triangle, ierror)
    call expect(ierror, MPI_SUCCESS, 'MPI_Type_hindexed')
    call MPI_Type_commit(triangle, ierror)
    got = 0
    size = extent * n * n
    zero = 0
    call MPI_Win_create(got, size, extent, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierror)
    call MPI_Win_fence(0, w, ierror)
    call MPI_Put(matrix, n * n, MPI_INTEGER, next, zero, 1, transposed, w, ierror)
    call MPI_Win_fence(0, w, ierror)
    call MPI_F_sync_reg(got)
    call expect(reshape(got, [n * n]), [((1000 * before + 10 * i + j, j = 1, n), i = 1, n)], 'transposed')
    got = 0
    call MPI_F_sync_reg(got)
    call MPI_Win_fence(0, w, ierror)
    call MPI_Put(matrix, 1, triangle, next, zero, 1, triangle, w, ierror)
    call MPI_Win_fence(0, w, ierror)
    call MPI_F_sync_reg(got)
    call expect(reshape(got, [n * n]), [((merge(1000 * before + 10 * i + j, 0, i <= j), i = 1, n), j = 1, n)], 'triangle')
    call MPI_Win_free(w, ierror)
    call MPI_Type_free(row, ierror)
    call MPI_Type_free(transposed, ierror)
    call MPI_Type_free(triangle, ierror)
  end subroutine

  subroutine bounds()
    integer :: t, lb, ub, extent
    call MPI_Type_hindexed(2, [2, 3], [-24, 40], MPI_INTEGER, t, ierror)
    call MPI_Type_lb(t, lb, ierror)
    call MPI_Type_ub(t, ub, ierror)
    call MPI_Type_extent(t, extent, ierror)
    call expect([lb, ub, extent], [-24, 40, 64] + 3 * integer_bytes * [0, 1, 1], 'bounds and extent')
    call MPI_Type_free(t, ierror)
    call MPI_Type_struct(0, [0], [0], [0], t, ierror)
    call expect(ierror, MPI_SUCCESS, 'a struct of nothing')
    call MPI_Type_extent(t, extent, ierror)
    call expect(extent, 0, 'its extent')
    call MPI_Type_free(t, ierror)
  end subroutine

  subroutine errhandlers()
    use handlers
    integer :: c, h, h2
    call MPI_Comm_dup(MPI_COMM_WORLD, c, ierror)
    call MPI_Errhandler_create(on_error, h, ierror)
    call expect(ierror, MPI_SUCCESS, 'MPI_Errhandler_create')
    call MPI_Errhandler_get(c, h2, ierror)
    call expect(h2, MPI_ERRORS_ARE_FATAL, 'the error handler at first')
    call MPI_Errhandler_set(c, h, ierror)
    call MPI_Errhandler_get(c, h2, ierror)
    call expect(h2, h, 'MPI_Errhandler_get')
    call MPI_Errhandler_free(h, ierror)
    call MPI_Errhandler_free(h2, ierror)
    call MPI_Send(h, 1, MPI_INTEGER, check_size + 2, 0, c, ierror)
    call expect(calls, 1, 'calls of the error handler')
    call expect(last_comm, c, 'the communicator it gets')
    call expect_class(last_code, MPI_ERR_RANK, 'the code it gets')
    call MPI_Errhandler_set(c, MPI_ERRORS_RETURN, ierror)
    call MPI_Send(h, -1, MPI_INTEGER, 0, 0, c, ierror)
    call expect_class(ierror, MPI_ERR_COUNT, 'send of -1 elements')
    call expect(calls, 1, 'calls of the replaced error handler')
    call MPI_Comm_free(c, ierror)
  end subroutine

  ! Checks the error of a call whose 8-byte result does not fit into an INTEGER. The error handler of MPI_COMM_SELF must
  ! get the same code as ierror. The error text must have the name of the function and the number.
  subroutine refused(name, number, result)
    use handlers
    character(len=*), intent(in) :: name
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: number
    integer, intent(in) :: result
    character(len=MPI_MAX_ERROR_STRING) :: text
    character(len=30) :: digits
    integer :: length, rc
    write (digits, '(i0)') number
    call expect_class(ierror, MPI_ERR_ARG, name)
    call MPI_Error_string(ierror, text, length, rc)
    call expect(index(text, name) > 0 .and. index(text, trim(digits)) > 0, 'the text has ' // name // ' and ' // trim(digits) // ': ' // trim(text))
    call expect(calls, 1, name // ': calls of the error handler')
    call expect(last_code, ierror, name // ': the code it gets')
    call expect(result, 77, name // ': its result')
    calls = 0
  end subroutine

#ifndef GOMPIRMA_FORTRAN_I8 /* nothing is too large for an INTEGER there */
  subroutine too_large()
    use handlers
    integer(kind=MPI_ADDRESS_KIND), parameter :: most = huge(1), least = -most - 1
    integer(kind=MPI_ADDRESS_KIND) :: address, wide
    integer, allocatable :: memory(:)
    integer :: t, h, value
    calls = 0
    call MPI_Errhandler_create(on_error, h, ierror)
    call MPI_Errhandler_set(MPI_COMM_SELF, h, ierror)
    wide = most
    call MPI_Type_create_resized(MPI_INTEGER, least, wide, t, ierror)
    call MPI_Type_lb(t, value, ierror)
    call expect(value == least, 'the least lower bound')
    call MPI_Type_ub(t, value, ierror)
    call expect(value == -1, 'its upper bound')
    call MPI_Type_extent(t, value, ierror)
    call expect(value == most, 'the largest extent')
    call expect(calls, 0, 'calls of the error handler without an error')
    call MPI_Type_free(t, ierror)
    wide = most + 1
    call MPI_Type_create_resized(MPI_INTEGER, least - 1, wide, t, ierror)
    value = 77
    call MPI_Type_lb(t, value, ierror)
    call refused('MPI_Type_lb', least - 1, value)
    call MPI_Type_extent(t, value, ierror)
    call refused('MPI_Type_extent', wide, value)
    call MPI_Type_free(t, ierror)
    wide = 8000000000_MPI_ADDRESS_KIND
    call MPI_Type_contiguous(1000000000, MPI_DOUBLE_PRECISION, t, ierror)
    call MPI_Type_ub(t, value, ierror)
    call refused('MPI_Type_ub', wide, value)
    call MPI_Type_extent(t, value, ierror)
    call refused('MPI_Type_extent', wide, value)
    call PMPI_Type_extent(t, value, ierror)
    call refused('MPI_Type_extent', wide, value)
    call MPI_Type_free(t, ierror)
    allocate (memory(4000000)) ! the C library maps memory of this size far from the program
    call MPI_Get_address(memory, address, ierror)
    call expect(address > most, 'a far address')
    call MPI_Address(memory, value, ierror)
    call expect_class(ierror, MPI_ERR_ARG, 'a far address')
    call MPI_Address(memory(3000001), t, ierror)
    call expect_class(ierror, MPI_ERR_ARG, 'another far address')
    call expect(t - value, 12000000, 'the difference of far addresses')
    call expect(calls, 0, 'calls of the error handler for addresses')
    value = 77
    ! A removed function calls the function that replaced it. An error of that function is reported with its class.
    call MPI_Type_extent(MPI_DATATYPE_NULL, value, ierror)
    call expect_class(ierror, MPI_ERR_TYPE, 'the extent of MPI_DATATYPE_NULL')
    call MPI_Type_hindexed(-1, [1], [0], MPI_INTEGER, t, ierror)
    call expect_class(ierror, MPI_ERR_COUNT, 'MPI_Type_hindexed of -1 blocks')
    call MPI_Type_struct(1, [1], [0], [MPI_DATATYPE_NULL], t, ierror)
    call expect_class(ierror, MPI_ERR_TYPE, 'MPI_Type_struct of MPI_DATATYPE_NULL')
    call expect(calls, 3, 'calls of the error handler')
    call expect(value, 77, 'the result of a refused call')
    call MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, ierror)
    call MPI_Errhandler_free(h, ierror)
  end subroutine

#endif

  ! Checks that the combiner of a datatype is that of the current constructor, not that of the removed one.
  subroutine combiners()
    integer :: t, ni, na, nt, combiner
    call MPI_Type_hvector(2, 1, 16, MPI_INTEGER, t, ierror)
    call MPI_Type_get_envelope(t, ni, na, nt, combiner, ierror)
    call MPI_Type_free(t, ierror)
    select case (combiner)
    case (MPI_COMBINER_HVECTOR)
    case (MPI_COMBINER_NAMED, MPI_COMBINER_DUP, MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_VECTOR, MPI_COMBINER_INDEXED, MPI_COMBINER_HINDEXED, &
          MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK, MPI_COMBINER_STRUCT, MPI_COMBINER_SUBARRAY, MPI_COMBINER_DARRAY, &
          MPI_COMBINER_F90_REAL, MPI_COMBINER_F90_COMPLEX, MPI_COMBINER_F90_INTEGER, MPI_COMBINER_RESIZED, MPI_COMBINER_VALUE_INDEX, &
          MPI_COMBINER_HVECTOR_INTEGER, MPI_COMBINER_HINDEXED_INTEGER, MPI_COMBINER_STRUCT_INTEGER)
      call expect(combiner, MPI_COMBINER_HVECTOR, 'the combiner')
    case default
      call expect(combiner, MPI_COMBINER_HVECTOR, 'the combiner')
    end select
  end subroutine

  subroutine profiling()
    use handlers
    integer, save :: memory(2)
    integer :: t, a, b, lb, ub, extent, h, h2, c
    call PMPI_Address(memory(1), a, ierror)
    call PMPI_Address(memory(2), b, ierror)
    call expect(b - a, integer_bytes, 'PMPI_Address')
    call PMPI_Type_hvector(2, 1, 3 * integer_bytes, MPI_INTEGER, t, ierror)
    call PMPI_Type_extent(t, extent, ierror)
    call expect(extent, 4 * integer_bytes, 'PMPI_Type_hvector, PMPI_Type_extent')
    call MPI_Type_free(t, ierror)
    call PMPI_Type_hindexed(1, [2], [8], MPI_INTEGER, t, ierror)
    call PMPI_Type_lb(t, lb, ierror)
    call PMPI_Type_ub(t, ub, ierror)
    call expect([lb, ub], [8, 8 + 2 * integer_bytes], 'PMPI_Type_hindexed, PMPI_Type_lb, PMPI_Type_ub')
    call MPI_Type_free(t, ierror)
    call PMPI_Type_struct(2, [1, 1], [-integer_bytes, 0], [MPI_INTEGER, MPI_REAL], t, ierror)
    call PMPI_Type_lb(t, lb, ierror)
    call expect(lb, -integer_bytes, 'PMPI_Type_struct')
    call MPI_Type_free(t, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, c, ierror)
    call PMPI_Errhandler_create(on_error, h, ierror)
    call PMPI_Errhandler_set(c, h, ierror)
    call PMPI_Errhandler_get(c, h2, ierror)
    call expect(h2, h, 'PMPI_Errhandler_create, PMPI_Errhandler_set, PMPI_Errhandler_get')
    call MPI_Errhandler_free(h, ierror)
    call MPI_Errhandler_free(h2, ierror)
    calls = 0
    call MPI_Send(a, 1, MPI_INTEGER, 0, -7, c, ierror)
    call expect(calls, 1, 'calls of the error handler of PMPI_Errhandler_set')
    call MPI_Comm_free(c, ierror)
  end subroutine
end program
