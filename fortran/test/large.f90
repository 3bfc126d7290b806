! Large counts in mpi_f08: the generic names accept counts of kind MPI_COUNT_KIND, also those that need more than 32
! bits.
!
! np: 2
! integers: 4
! timeout: 60
! bindings: f08
! with: check.F90
program large
  use check
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  integer, parameter :: k = MPI_COUNT_KIND
  integer, asynchronous :: a(10), b(10), c(6)
  integer(kind=k) :: n, huge_size, lb, extent, counts(2)
  integer(kind=MPI_ADDRESS_KIND) :: disp, bytes, displs(2), unit
  type(MPI_Comm) :: node
  type(MPI_Win) :: w
  type(MPI_Request) :: r
  type(MPI_Status) :: s
  type(MPI_Datatype) :: t, t2
  type(C_PTR) :: base
  integer, pointer :: p(:)
  integer :: me, other, i, small
  type(MPI_Op) :: o

  call MPI_Init()
  call check_begin()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  other = 1 - me
  n = 10
  bytes = 40
  disp = 0
  unit = 4
  a = [(100 * me + i, i = 1, 10)]
  b = -1
  call MPI_Win_create(b, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, w)
  call MPI_Win_fence(0, w)
  call MPI_Put(a, n, MPI_INTEGER, other, disp, n, MPI_INTEGER, w)
  call MPI_Win_fence(0, w)
  call expect(b, [(100 * other + i, i = 1, 10)], 'put')
  call MPI_Win_fence(0, w)
  call MPI_Accumulate(a(10:1:-1), n, MPI_INTEGER, other, disp, n, MPI_INTEGER, MPI_SUM, w)
  call MPI_Win_fence(0, w)
  call expect(b, [(200 * other + 11, i = 1, 10)], 'accumulate of a section')
  call MPI_Win_fence(0, w)
  call MPI_Get(c(6:1:-2), 3_k, MPI_INTEGER, other, disp, 3_k, MPI_INTEGER, w)
  call MPI_Win_fence(0, w)
  call expect(c(2::2), [(200 * me + 11, i = 1, 3)], 'get into a section')
  call MPI_Win_lock_all(0, w)
  call MPI_Rput(a, n, MPI_INTEGER, other, disp, n, MPI_INTEGER, w, r)
  call MPI_Wait(r, MPI_STATUS_IGNORE)
  call MPI_Win_flush(other, w)
  call MPI_Rget(c, 6_k, MPI_INTEGER, other, disp, 6_k, MPI_INTEGER, w, r)
  call MPI_Wait(r, MPI_STATUS_IGNORE)
  call expect(c, a(1:6), 'rput and rget')
  call MPI_Raccumulate(a, n, MPI_INTEGER, other, disp, n, MPI_INTEGER, MPI_SUM, w, r)
  call MPI_Wait(r, MPI_STATUS_IGNORE)
  call MPI_Win_flush(other, w)
  call MPI_Get_accumulate(a, 6_k, MPI_INTEGER, c, 6_k, MPI_INTEGER, other, disp, 6_k, MPI_INTEGER, MPI_NO_OP, w)
  call MPI_Win_flush(other, w)
  call expect(c, 2 * a(1:6), 'raccumulate and get_accumulate')
  call MPI_Rget_accumulate(a, 6_k, MPI_INTEGER, c, 6_k, MPI_INTEGER, other, disp, 6_k, MPI_INTEGER, MPI_REPLACE, w, r)
  call MPI_Wait(r, MPI_STATUS_IGNORE)
  call expect(c, 2 * a(1:6), 'rget_accumulate')
  call MPI_Win_unlock_all(w)
  call MPI_Win_free(w)
  call MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, base, w)
  call c_f_pointer(base, p, [10])
  p = me
  call MPI_Win_free(w)
  call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node)
  call MPI_Comm_size(node, small)
  call MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, node, base, w)
  unit = 0
  call MPI_Win_shared_query(w, merge(other, 0, small == 2), bytes, unit, base)
  call expect(unit == 4 .and. bytes == 40, 'win_shared_query')
  call MPI_Win_free(w)
  call MPI_Comm_free(node)

  call far()

  ! Sizes of datatypes that need 64 bits. No memory is accessed.
  call MPI_Type_contiguous(3000000000_k, MPI_INTEGER, t)
  call MPI_Type_size(t, huge_size)
  call expect(huge_size == 12000000000_k, 'type_size')
  call MPI_Type_size(t, small)
  call expect(small, MPI_UNDEFINED, 'type_size that does not fit')
  call MPI_Type_get_extent(t, lb, extent)
  call expect(lb == 0 .and. extent == 12000000000_k, 'type_get_extent')
  call MPI_Type_get_extent_c(t, lb, extent)
  call expect(extent == 12000000000_k, 'type_get_extent_c')
  call MPI_Type_size_x(t, huge_size)
  call expect(huge_size == 12000000000_k, 'type_size_x')
  call MPI_Type_create_resized_c(MPI_INTEGER, -4_k, 5000000000_k, t2)
  call MPI_Type_get_extent_c(t2, lb, extent)
  call expect(lb == -4 .and. extent == 5000000000_k, 'type_create_resized_c')
  call MPI_Type_free(t2)
  call MPI_Type_create_hvector(2_k, 1_k, 7000000000_k, MPI_INTEGER, t2)
  call MPI_Type_get_extent(t2, lb, extent)
  call expect(extent == 7000000004_k, 'type_create_hvector')
  call MPI_Type_free(t2)
  call MPI_Status_set_elements(s, MPI_INTEGER, 5000000000_k)
  call MPI_Get_count(s, MPI_INTEGER, n)
  call expect(n == 5000000000_k, 'get_count')
  call MPI_Get_count(s, MPI_INTEGER, small)
  call expect(small, MPI_UNDEFINED, 'get_count that does not fit')
  call MPI_Get_elements(s, MPI_INTEGER, n)
  call expect(n == 5000000000_k, 'get_elements')
  call contents()
  call MPI_Type_free(t)

  ! Messages and collective operations.
  call MPI_Sendrecv(a, 10_k, MPI_INTEGER, other, 0, b, 10_k, MPI_INTEGER, other, 0, MPI_COMM_WORLD, s)
  call MPI_Get_count(s, MPI_INTEGER, n)
  call expect(n == 10 .and. b(10) == 100 * other + 10, 'sendrecv')
  call MPI_Allreduce(a, b, 10_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call expect(b(1), 102, 'allreduce')
  counts = [1, 2]
  displs = [0, 1]
  call MPI_Allgatherv(a, counts(me + 1), MPI_INTEGER, b, counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
  call expect(b(1:3), [1, 101, 102], 'allgatherv')
  call MPI_Op_create_c(add, .true., o)
  call MPI_Allreduce(a, b, 10_k, MPI_INTEGER, o, MPI_COMM_WORLD)
  call expect(b(10), 120, 'allreduce with a user''s operation')
  call MPI_Op_free(o)
  call check_end()

contains

  subroutine add(in, inout, length, datatype)
    type(C_PTR), value :: in, inout
    integer(kind=MPI_COUNT_KIND) :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: x(:), y(:)
    call c_f_pointer(in, x, [length])
    call c_f_pointer(inout, y, [length])
    y = x + y
  end subroutine

  ! Tests counts, displacements and strides of more than 2**31. The calls access only a few bytes of the large memory.
  subroutine far()
    integer(C_INT8_T), allocatable, target, asynchronous :: memory(:)
    integer(C_INT8_T), asynchronous :: x(6), back(3)
    integer(kind=k), parameter :: two31 = 2_k**31
    integer(kind=MPI_ADDRESS_KIND) :: room
    character(len=MPI_MAX_ERROR_STRING) :: text
    type(MPI_Win) :: w
    type(MPI_Datatype) :: spread
    integer :: ierror, length
    room = two31 + 100
    allocate (memory(0:room - 1))
    x = [11_C_INT8_T, 0_C_INT8_T, 22_C_INT8_T, 0_C_INT8_T, 33_C_INT8_T, 0_C_INT8_T]
    memory(two31 + 49:two31 + 53) = 1
    memory(5) = 1
    memory(5 + two31 / 2) = 1
    memory(5 + two31) = 1
    memory(49:53) = 1
    call MPI_Win_create(memory, room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, w)
    call MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN)
    call MPI_Win_fence(0, w)
    call MPI_Put(x(1:5:2), 3, MPI_INTEGER1, other, two31 + 50, 3, MPI_INTEGER1, w)
    call MPI_Win_fence(0, w)
    call expect(int(memory(two31 + 49:two31 + 53)), [1, 11, 22, 33, 1], 'put at a displacement beyond 2**31')
    call expect(int(memory(49:53)), [1, 1, 1, 1, 1], 'the same displacement cut to 32 bits')
    call MPI_Type_create_hvector(3, 1, two31 / 2, MPI_INTEGER1, spread)
    call MPI_Type_commit(spread)
    call MPI_Put(x(5:1:-2), 3_k, MPI_INTEGER1, other, 5_MPI_ADDRESS_KIND, 1_k, spread, w)
    call MPI_Win_fence(0, w)
    call expect(int([memory(5), memory(5 + two31 / 2), memory(5 + two31)]), [33, 22, 11], 'a datatype that spans 2**31 bytes')
    call MPI_Get(back, 3, MPI_INTEGER1, other, 5_MPI_ADDRESS_KIND, 1, spread, w)
    call MPI_Win_fence(0, w)
    call expect(int(back), [33, 22, 11], 'get of it')
    call MPI_Get(back, 3, MPI_INTEGER1, me, 5_MPI_ADDRESS_KIND, 1, spread, w)
    call MPI_Win_fence(0, w)
    call expect(int(back), [33, 22, 11], 'get of it, own memory')
    ! A count of 2**32 + 4 elements must not become 4.
    call MPI_Put(memory, 2_k**32 + 4, MPI_INTEGER1, other, 0_MPI_ADDRESS_KIND, 2_k**32 + 4, MPI_INTEGER1, w, ierror)
    call expect_class(ierror, MPI_ERR_RMA_RANGE, 'a count beyond 2**32')
    call MPI_Error_string(ierror, text, length)
    call expect(index(text, '4294967300') > 0, 'a count beyond 2**32: ' // text(:length))
    call MPI_Win_fence(0, w)
    call MPI_Type_free(spread)
    call MPI_Win_free(w)
  end subroutine

  subroutine contents()
    integer(kind=k) :: integers, addresses, large_counts, types, numbers(1)
    integer :: combiner, none(1)
    integer(kind=MPI_ADDRESS_KIND) :: no_addresses(1)
    type(MPI_Datatype) :: old(1)
    call MPI_Type_get_envelope(t, integers, addresses, large_counts, types, combiner)
    call expect(combiner, MPI_COMBINER_CONTIGUOUS, 'combiner')
    call expect(large_counts == 1 .and. types == 1, 'type_get_envelope')
    call MPI_Type_get_contents(t, 0_k, 0_k, 1_k, 1_k, none, no_addresses, numbers, old)
    call expect(numbers(1) == 3000000000_k, 'type_get_contents: count')
    call expect(old(1) == MPI_INTEGER, 'type_get_contents: type')
  end subroutine
end program
