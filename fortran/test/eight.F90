! INTEGERs of 8 bytes: numbers of more than 2**31 as data, as counts and as arguments; the datatypes of INTEGER, LOGICAL
! and pairs. If an argument does not fit into an int, the call must return the error class for this argument, and the
! error text must have the value.
!
! np: 1 2 3
! timeout: 60
! bindings: f08 mpi mpif
! integers: 8
! with: check.F90
#include "binding.inc"

module called
  implicit none
  integer :: calls = 0, seen = 0
contains

  ! A user-defined operation, whose arguments len and datatype are INTEGERs.
  subroutine largest(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    MODULE_MPI
    INCLUDE_MPI
    DATATYPE :: datatype
#ifdef USE_F08
    type(C_PTR), value :: invec, inoutvec
    integer :: len
    integer, pointer :: in(:), inout(:)
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    inout = max(in, inout)
#else
    integer :: len, invec(len), inoutvec(len)
    inoutvec = max(invec, inoutvec)
#endif
    calls = calls + 1
    if (datatype == MPI_INTEGER) seen = len
  end subroutine

  ! Copy procedures of attributes: a current one, and a deprecated one, in which extra state and values are INTEGERs of
  ! default size.
  subroutine copies(comm, keyval, extra, in, out, flag, ierror)
    MODULE_MPI
    INCLUDE_MPI
    COMM :: comm
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    out = in + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine copies_old(comm, keyval, extra, in, out, flag, ierror)
    integer :: comm, keyval, extra, in, out, ierror
    logical :: flag
    out = in + extra
    flag = .true.
    ierror = 0
  end subroutine
end module

program eight
  use check
  use called
  use, intrinsic :: iso_c_binding
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  integer, parameter :: big = 2**40
  integer :: ierror, me, n, next, before, i, length
  character(len=MPI_MAX_ERROR_STRING) :: text

  call MPI_Init(ierror)
  call check_begin()
  me = check_rank
  n = check_size
  next = mod(me + 1, n)
  before = mod(me + n - 1, n)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
  call types()
  call reductions()
  call one_sided()
  call statuses()
  call attributes()
  call topologies()
  call by_process()
  call counts()
  call wide()
  call check_end()

contains

  subroutine types()
    integer :: size
    logical :: flag
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=8) :: value
    DATATYPE :: t
    INFO :: info
    call MPI_Type_size(MPI_INTEGER, size, ierror)
    call expect(size, 8, 'the size of MPI_INTEGER')
    call MPI_Type_size(MPI_LOGICAL, size, ierror)
    call expect(size, 8, 'the size of MPI_LOGICAL')
    call MPI_Type_size(MPI_2INTEGER, size, ierror)
    call expect(size, 16, 'the size of MPI_2INTEGER')
    call MPI_Type_size(MPI_INTEGER4, size, ierror)
    call expect(size, 4, 'the size of MPI_INTEGER4')
    call MPI_Type_size(MPI_REAL, size, ierror)
    call expect(size, 4, 'the size of MPI_REAL')
    call MPI_Type_get_name(MPI_INTEGER, name, length, ierror)
    call expect(name, 'MPI_INTEGER8', 'the name of MPI_INTEGER')
    call MPI_Type_get_name(MPI_2INTEGER, name, length, ierror)
    call expect(name, 'MPIX_2INTEGER8', 'the name of MPI_2INTEGER')
    call MPI_Type_get_value_index(MPI_INTEGER, MPI_INTEGER, t, ierror)
    call expect(t == MPI_2INTEGER, 'a value and an index')
    call expect(MPI_INTEGER_KIND == kind(1) .and. kind(1) == 8, 'MPI_INTEGER_KIND')
    call MPI_Abi_get_fortran_info(info, ierror)
    call MPI_Info_get(info, 'mpi_integer_size', 8, value, flag, ierror)
    call expect(flag, 'mpi_integer_size')
    call expect(value, '8', 'mpi_integer_size')
    call MPI_Info_get(info, 'mpi_logical_size', 8, value, flag, ierror)
    call expect(value, '8', 'mpi_logical_size')
    call MPI_Info_get(info, 'mpi_real_size', 8, value, flag, ierror)
    call expect(value, '4', 'mpi_real_size')
    call MPI_Info_free(info, ierror)
  end subroutine

  subroutine reductions()
    integer :: x, y, pair(2), least(2), many(40)
    logical :: all
    OP :: o
    x = big + me
    call MPI_Allreduce(x, y, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call expect(y, n * big + n * (n - 1) / 2, 'a sum beyond 2**40')
    pair = [-big * (me + 1), me]
    call MPI_Allreduce(pair, least, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD, ierror)
    call expect(least, [-big * n, n - 1], 'MINLOC')
    call MPI_Allreduce(pair, least, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, ierror)
    call expect(least, [-big, 0], 'MAXLOC')
    call MPI_Allreduce(me < n, all, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierror)
    call expect(all, 'LAND of .true.')
    call MPI_Allreduce(me == 0 .and. n > 1, all, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierror)
    call expect(.not. all, 'LAND with .false.')
    many = [(big * me + i, i = 1, 40)]
    call MPI_Op_create(largest, .true., o, ierror)
    call MPI_Allreduce(MPI_IN_PLACE, many, 40, MPI_INTEGER, o, MPI_COMM_WORLD, ierror)
    call expect(many, [(big * (n - 1) + i, i = 1, 40)], 'an operation of the program')
    call MPI_Op_free(o, ierror)
    x = big + 7
    y = 1
    call MPI_Op_create(largest, .true., o, ierror)
    call MPI_Reduce_local(x, y, 1, MPI_INTEGER, o, ierror)
    call expect(y, big + 7, 'reduce_local')
    call expect(calls > 0 .and. seen == 1, 'len and datatype of an operation')
    call MPI_Op_free(o, ierror)
  end subroutine

  subroutine one_sided()
    integer, pointer, asynchronous :: memory(:)
    integer, asynchronous :: x, y(3), old
    integer :: unit, flavor_at
    logical :: flag
    integer(kind=MPI_ADDRESS_KIND) :: size, disp, value
#if defined(USE_F08) || defined(USE_MPI)
    type(C_PTR) :: base
#else
    integer(kind=MPI_ADDRESS_KIND) :: base
#endif
    WIN :: w
    REQUEST :: r
    size = 6 * integer_bytes
    call MPI_Win_allocate(size, integer_bytes, MPI_INFO_NULL, MPI_COMM_WORLD, base, w, ierror)
    call expect(ierror, MPI_SUCCESS, 'win_allocate')
#if defined(USE_F08) || defined(USE_MPI)
    call c_f_pointer(base, memory, [6])
#else
    call c_f_pointer(transfer(base, C_NULL_PTR), memory, [6])
#endif
    call MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN, ierror)
    memory = [(me, i = 1, 6)]
    call MPI_Win_fence(0, w, ierror)
    x = big + me
    disp = 1
    call MPI_Put(x, 1, MPI_INTEGER, next, disp, 1, MPI_INTEGER, w, ierror)
    call MPI_Win_fence(0, w, ierror)
    call expect(memory(1:3), [me, big + before, me], 'put')
    call MPI_Get(y, 2, MPI_INTEGER, next, disp, 2, MPI_INTEGER, w, ierror)
    call MPI_Win_fence(0, w, ierror)
    call expect(y(1:2), [big + me, next], 'get')
    disp = 0
    call MPI_Win_fence(0, w, ierror)
    call MPI_Accumulate(big, 1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, MPI_SUM, w, ierror)
    call MPI_Win_fence(0, w, ierror)
    if (me == 0) call expect(memory(1), n * big, 'accumulate')
    call MPI_Win_lock_all(0, w, ierror)
    disp = 5
    call MPI_Fetch_and_op(big, old, MPI_INTEGER, me, disp, MPI_SUM, w, ierror)
    call MPI_Win_flush(me, w, ierror)
    call expect(old, me, 'fetch_and_op: old value')
    call MPI_Compare_and_swap(2 * big, big + me, old, MPI_INTEGER, me, disp, w, ierror)
    call MPI_Win_flush(me, w, ierror)
    call expect(old, big + me, 'compare_and_swap: old value')
    call MPI_Rget(y, 1, MPI_INTEGER, me, disp, 1, MPI_INTEGER, w, r, ierror)
    call MPI_Wait(r, MPI_STATUS_IGNORE, ierror)
    call expect(y(1), 2 * big, 'compare_and_swap: new value')
    call MPI_Get_accumulate(big, 1, MPI_INTEGER, y, 1, MPI_INTEGER, me, disp, 1, MPI_INTEGER, MPI_SUM, w, ierror)
    call MPI_Win_flush(me, w, ierror)
    call expect(y(1), 2 * big, 'get_accumulate')
    ! A pair of INTEGERs: value and index.
    disp = 3
    call MPI_Put([big, me], 1, MPI_2INTEGER, me, disp, 1, MPI_2INTEGER, w, ierror)
    call MPI_Win_flush(me, w, ierror)
    call MPI_Accumulate([big + 1, 99], 1, MPI_2INTEGER, me, disp, 1, MPI_2INTEGER, MPI_MAXLOC, w, ierror)
    call MPI_Win_flush(me, w, ierror)
    call expect(memory(4:5), [big + 1, 99], 'accumulate with MAXLOC')
    ! A rank or a count that does not fit into an int must be an error.
    disp = 0
    call MPI_Put(x, 1, MPI_INTEGER, big, disp, 1, MPI_INTEGER, w, ierror)
    call refused(MPI_ERR_RANK, big, 'put to a wide rank')
    call MPI_Put(x, big, MPI_INTEGER, me, disp, big, MPI_INTEGER, w, ierror)
    call refused(MPI_ERR_RMA_RANGE, big, 'put of a wide count')
    call MPI_Win_unlock_all(w, ierror)
    call MPI_Win_lock(MPI_LOCK_SHARED + big, me, 0, w, ierror)
    call refused(MPI_ERR_LOCKTYPE, MPI_LOCK_SHARED + big, 'a wide kind of lock')
    call MPI_Win_fence(big, w, ierror)
    call refused(MPI_ERR_ASSERT, big, 'a wide assertion')
    call MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, value, flag, ierror)
    call expect(flag .and. value == 8, 'MPI_WIN_DISP_UNIT')
    flavor_at = MPI_WIN_CREATE_FLAVOR + big
    call MPI_Win_get_attr(w, flavor_at, value, flag, ierror)
    call refused(MPI_ERR_KEYVAL, flavor_at, 'a wide key')
    unit = 3
    call MPI_Win_shared_query(w, me, size, unit, base, ierror)
    if (ierror == MPI_SUCCESS) call expect(unit, 8, 'win_shared_query')
    call MPI_Win_free(w, ierror)
  end subroutine

  subroutine statuses()
    integer, asynchronous :: x(3), y(3)
    integer :: count, tag
    REQUEST :: r(4), one
    STATUS(s)
    STATUSES(all, 4)
    integer :: indices(4), done
    logical :: flag
    x = [big + me, 2 * big, 3]
    y = 0
    tag = 31000
    call MPI_Irecv(y, 3, MPI_INTEGER, before, tag, MPI_COMM_WORLD, r(1), ierror)
    call MPI_Isend(x, 3, MPI_INTEGER, next, tag, MPI_COMM_WORLD, r(2), ierror)
    r(3) = MPI_REQUEST_NULL
    call MPI_Isend(x, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, r(4), ierror)
    call MPI_Waitall(4, r, all, ierror)
    call expect(ierror, MPI_SUCCESS, 'waitall')
    call expect(y, [big + before, 2 * big, 3], 'what was received')
#ifdef USE_F08
    call expect([all(1)%MPI_SOURCE, all(1)%MPI_TAG], [before, tag], 'the first of four statuses')
    call MPI_Get_count(all(1), MPI_INTEGER, count, ierror)
    call expect(all(3)%MPI_SOURCE, MPI_ANY_SOURCE, 'an empty status')
#else
    call expect([all(MPI_SOURCE, 1), all(MPI_TAG, 1)], [before, tag], 'the first of four statuses')
    call MPI_Get_count(all(:, 1), MPI_INTEGER, count, ierror)
    call expect(all(MPI_SOURCE, 3), MPI_ANY_SOURCE, 'an empty status')
    call expect(MPI_STATUS_SIZE == size(s), 'MPI_STATUS_SIZE')
#endif
    call expect(count, 3, 'get_count')
    do i = 1, 4
      call expect(r(i) == MPI_REQUEST_NULL, 'a request that is done')
    end do
    call MPI_Irecv(y, 3, MPI_INTEGER, before, MPI_ANY_TAG, MPI_COMM_WORLD, r(1), ierror)
    r(2:) = MPI_REQUEST_NULL
    call MPI_Send(x, 2, MPI_INTEGER, next, 5, MPI_COMM_WORLD, ierror)
    call MPI_Waitsome(4, r, done, indices, MPI_STATUSES_IGNORE, ierror)
    call expect([done, indices(1)], [1, 1], 'waitsome')
    call MPI_Irecv(y, 3, MPI_INTEGER, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, one, ierror)
    call MPI_Send(x, 1, MPI_INTEGER, next, 6, MPI_COMM_WORLD, ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(one, flag, s, ierror)
    end do
    call expect([SOURCE_OF(s), TAG_OF(s)], [before, 6], 'test')
    call MPI_Sendrecv(x, 3, MPI_INTEGER, next, 8, y, 3, MPI_INTEGER, before, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    ! Counts that do not fit into an int are returned unchanged.
    call MPI_Status_set_elements(s, MPI_INTEGER, 5 * 10**9, ierror)
    call MPI_Get_count(s, MPI_INTEGER, count, ierror)
    call expect(count, 5 * 10**9, 'a large count of a status')
  end subroutine

  subroutine attributes()
    integer :: key
    logical :: flag
    integer(kind=MPI_ADDRESS_KIND) :: extra, value
#ifndef USE_F08
    integer :: old
#endif
    COMM :: c
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
    call expect(flag .and. value >= 32767, 'MPI_TAG_UB')
    extra = big
    call MPI_Comm_create_keyval(copies, MPI_COMM_NULL_DELETE_FN, key, extra, ierror)
    value = 5
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, c, ierror)
    call MPI_Comm_get_attr(c, key, value, flag, ierror)
    call expect(flag .and. value == big + 5, 'an attribute that the program copies')
    call MPI_Comm_free(c, ierror)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierror)
    call MPI_Comm_free_keyval(key, ierror)
    call expect(key, MPI_KEYVAL_INVALID, 'a freed key')
#ifndef USE_F08
    call MPI_Keyval_create(copies_old, MPI_NULL_DELETE_FN, key, big, ierror)
    call MPI_Attr_put(MPI_COMM_WORLD, key, 2 * big, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, c, ierror)
    call MPI_Attr_get(c, key, old, flag, ierror)
    call expect(flag .and. old == 3 * big, 'an old attribute')
    call MPI_Comm_free(c, ierror)
    call MPI_Attr_delete(MPI_COMM_WORLD, key, ierror)
    call MPI_Keyval_free(key, ierror)
#endif
  end subroutine

  subroutine topologies()
    integer :: dims(2), coords(2), got(2), rank, list(2 * n), in, out, ins(1), outs(1), weights(1), weights_out(1)
    logical :: periods(2), weighted
    COMM :: grid, ring, row
    GROUP :: all, some
    dims = 0
    call MPI_Dims_create(n, 2, dims, ierror)
    call expect(dims(1) * dims(2), n, 'dims_create')
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., grid, ierror)
    call MPI_Cart_get(grid, 2, got, periods, coords, ierror)
    call expect(got, dims, 'cart_get: dims')
    call expect(periods(1) .and. .not. periods(2), 'cart_get: periods')
    call MPI_Cart_coords(grid, me, 2, got, ierror)
    call expect(got, coords, 'cart_coords')
    call MPI_Cart_rank(grid, coords, rank, ierror)
    call expect(rank, me, 'cart_rank')
    call MPI_Cart_sub(grid, [.false., .true.], row, ierror)
    call MPI_Comm_size(row, rank, ierror)
    call expect(rank, dims(2), 'cart_sub')
    call MPI_Comm_free(row, ierror)
    call MPI_Comm_free(grid, ierror)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [before], [3], 1, [next], [4], MPI_INFO_NULL, .false., ring, ierror)
    call MPI_Dist_graph_neighbors_count(ring, in, out, weighted, ierror)
    call expect([in, out], [1, 1], 'neighbours')
    call MPI_Dist_graph_neighbors(ring, 1, ins, weights, 1, outs, weights_out, ierror)
    call expect([ins, weights, outs, weights_out], [before, 3, next, 4], 'neighbours and weights')
    call MPI_Neighbor_alltoallv([big + me], [1], [0], MPI_INTEGER, got, [1], [1], MPI_INTEGER, ring, ierror)
    call expect(got(2), big + before, 'neighbor_alltoallv')
    call MPI_Comm_free(ring, ierror)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [me], [1], [next], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, ierror)
    call MPI_Dist_graph_neighbors(ring, 1, ins, MPI_UNWEIGHTED, 1, outs, MPI_UNWEIGHTED, ierror)
    call expect([ins, outs], [before, next], 'unweighted neighbours')
    call MPI_Comm_free(ring, ierror)
    call MPI_Graph_create(MPI_COMM_WORLD, n, [(i, i = 1, n)], [(mod(i, n), i = 1, n)], .false., ring, ierror)
    call MPI_Graph_get(ring, n, n, list(1:n), list(n + 1:), ierror)
    call expect(list, [(i, i = 1, n), (mod(i, n), i = 1, n)], 'graph_get')
    call MPI_Comm_free(ring, ierror)
    call MPI_Comm_group(MPI_COMM_WORLD, all, ierror)
    call MPI_Group_range_incl(all, 1, reshape([n - 1, 0, -1], [3, 1]), some, ierror)
    call MPI_Group_translate_ranks(all, n, [(i, i = 0, n - 1)], some, list, ierror)
    call expect(list(1:n), [(i, i = n - 1, 0, -1)], 'group_translate_ranks')
    call MPI_Group_free(some, ierror)
    call MPI_Group_incl(all, 1, [big], some, ierror)
    call refused(MPI_ERR_RANK, big, 'a wide rank of a group')
    call MPI_Group_free(all, ierror)
  end subroutine

  ! Tests calls with arrays of counts, displacements and datatypes. The bindings convert these arrays, and the copies
  ! must live until a nonblocking call is complete.
  subroutine by_process()
    integer, asynchronous :: send(n), receive(n), counts(n), displs(n)
    DATATYPE, asynchronous :: these(n)
    REQUEST :: r
    send = [(big * i + me, i = 1, n)]
    counts = 1
    displs = [(i, i = 0, n - 1)]
    receive = 0
    call MPI_Alltoallv(send, counts, displs, MPI_INTEGER, receive, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call expect(receive, [(big * (me + 1) + i, i = 0, n - 1)], 'alltoallv')
    receive = 0
    call MPI_Iallgatherv(big + me, 1, MPI_INTEGER, receive, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, r, ierror)
    call MPI_Wait(r, MPI_STATUS_IGNORE, ierror)
    call expect(receive, [(big + i, i = 0, n - 1)], 'iallgatherv')
    these = MPI_INTEGER
    displs = displs * integer_bytes
    receive = 0
    call MPI_Ialltoallw(send, counts, displs, these, receive, counts, displs, these, MPI_COMM_WORLD, r, ierror)
    call MPI_Wait(r, MPI_STATUS_IGNORE, ierror)
    call expect(receive, [(big * (me + 1) + i, i = 0, n - 1)], 'ialltoallw')
    call MPI_Reduce_scatter(send, receive, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call expect(receive(1), n * big * (me + 1) + n * (n - 1) / 2, 'reduce_scatter')
  end subroutine

  ! Tests constructors of datatypes. If the counts fit into ints, the binding must call the small-count form, so that
  ! MPI_Type_get_contents returns the arguments with which the program called the constructor. Otherwise it must call
  ! the large-count form.
  subroutine counts()
    integer :: size, position, ints(8), packed(4), back(2), combiner, numbers(3)
    integer(kind=MPI_ADDRESS_KIND) :: lb, extent, addresses(1)
    DATATYPE :: t, u(1)
    call MPI_Type_indexed(3, [1, 2, 3], [0, 10, 20], MPI_INTEGER, t, ierror)
    call MPI_Type_get_envelope(t, numbers(1), numbers(2), numbers(3), combiner, ierror)
    call expect([numbers, combiner], [7, 0, 1, MPI_COMBINER_INDEXED], 'get_envelope')
    ints = -1
    call MPI_Type_get_contents(t, 8, 0, 1, ints, addresses, u, ierror)
    call expect(ints, [3, 1, 2, 3, 0, 10, 20, -1], 'get_contents')
    call expect(u(1) == MPI_INTEGER, 'get_contents: the datatype')
    call MPI_Type_free(t, ierror)
    call MPI_Type_create_subarray(2, [6, 7], [2, 3], [1, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, t, ierror)
    call MPI_Type_size(t, size, ierror)
    call expect(size, 48, 'create_subarray')
    call MPI_Type_free(t, ierror)
    call MPI_Type_contiguous(3 * 10**9, MPI_INTEGER, t, ierror)
    call MPI_Type_size(t, size, ierror)
    call expect(size, 24 * 10**9, 'a size beyond an int')
    call MPI_Type_get_extent(t, lb, extent, ierror)
    call expect(extent == 24 * 10_MPI_ADDRESS_KIND**9, 'an extent beyond an int')
    call MPI_Type_free(t, ierror)
    call MPI_Type_indexed(2, [1, 1], [0, 3 * 10**9], MPI_INTEGER, t, ierror)
    call MPI_Type_get_extent(t, lb, extent, ierror)
    call expect(extent == 24 * 10_MPI_ADDRESS_KIND**9 + 8, 'a displacement beyond an int')
    call MPI_Type_free(t, ierror)
    position = 0
    call MPI_Pack([big, big + 1], 2, MPI_INTEGER, packed, 32, position, MPI_COMM_WORLD, ierror)
    call expect(position, 16, 'pack')
    position = 0
    call MPI_Unpack(packed, 32, position, back, 2, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call expect(back, [big, big + 1], 'unpack')
  end subroutine

  ! Checks that values that do not fit into an int are errors, even if their lower half is a valid value.
  subroutine wide()
    integer :: x, key
    COMM :: c
    x = 1
    call MPI_Send(x, 1, MPI_INTEGER, 2**33, 0, MPI_COMM_WORLD, ierror)
    call refused(MPI_ERR_RANK, 2**33, 'a send to a wide rank')
    call MPI_Send(x, 1, MPI_INTEGER, me, 2**33 + 1, MPI_COMM_WORLD, ierror)
    call refused(MPI_ERR_TAG, 2**33 + 1, 'a send with a wide tag')
    call MPI_Bcast(x, 1, MPI_INTEGER, 2**33, MPI_COMM_WORLD, ierror)
    call refused(MPI_ERR_ROOT, 2**33, 'a bcast from a wide root')
    call MPI_Comm_split(MPI_COMM_WORLD, 2**33, 0, c, ierror)
    call refused(MPI_ERR_ARG, 2**33, 'a wide colour')
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [2**33], [.true.], .false., c, ierror)
    call refused(MPI_ERR_DIMS, 2**33, 'a wide dimension')
    key = 2**33
    call MPI_Comm_free_keyval(key, ierror)
    call refused(MPI_ERR_KEYVAL, 2**33, 'a wide key')
    ! A number whose lower half is a valid handle is not a valid handle.
    c = MPI_COMM_WORLD
    VALUE_OF(c) = VALUE_OF(c) + 2**33
    call MPI_Comm_size(c, x, ierror)
    call expect_class(ierror, MPI_ERR_COMM, 'a wide handle')
    call MPI_Comm_free(c, ierror)
    call expect_class(ierror, MPI_ERR_COMM, 'free of a wide handle')
  end subroutine

  ! refused checks that ierror has the class and that the error text has the number.
  subroutine refused(class, number, what)
    integer, intent(in) :: class, number
    character(len=*), intent(in) :: what
    character(len=24) :: digits
    integer :: rc, code
    code = ierror
    call expect_class(code, class, what)
    call MPI_Error_string(code, text, length, rc)
    write (digits, '(i0)') number
    if (class /= MPI_ERR_RMA_RANGE) call expect(index(text, trim(digits)) > 0, what // ': the text has the number: ' // trim(text))
  end subroutine
end program
