! Tests every function of the one-sided chapter (MPI-5.0 12), through each binding.
!
! np: 2 4
! timeout: 60
! bindings: f08 mpi mpif
! with: check.F90
#include "binding.inc"

module handler
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  integer :: handled
contains
  subroutine on_error(w, code)
    WIN :: w
    integer :: code
    if (w /= MPI_WIN_NULL .and. code == MPI_ERR_OTHER) handled = handled + 1
  end subroutine
end module

program rma
  use check
  use handler
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: ierror, me, n, next, before, i
  COMM :: comm
  integer, parameter :: unit = integer_bytes

  call MPI_Init(ierror)
  call check_begin()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Comm_rank(comm, me, ierror)
  call MPI_Comm_size(comm, n, ierror)
  next = mod(me + 1, n)
  before = mod(me + n - 1, n)
  call created()
  call allocated()
  call shared()
  call dynamic()
  call pscw()
  call passive()
  call requests()
  call MPI_Comm_free(comm, ierror)
  call check_end()

contains

  ! Tests put and get between fences, on a window over the program's memory.
  subroutine created()
    integer, asynchronous :: memory(0:9), three(3), got(3), one
    integer(kind=MPI_ADDRESS_KIND) :: size, disp
    WIN :: w
    GROUP :: all, g
    integer :: result
    memory = -1
    three = [10 * me, 10 * me + 1, 10 * me + 2]
    got = -1
    one = 1
    size = 10 * unit
    call MPI_Win_create(memory, size, unit, MPI_INFO_NULL, comm, w, ierror)
    call expect(ierror, MPI_SUCCESS, 'win_create')
    call expect(w /= MPI_WIN_NULL, 'win_create gives a window')
    call MPI_Win_get_group(w, g, ierror)
    call MPI_Comm_group(comm, all, ierror)
    call MPI_Group_compare(all, g, result, ierror)
    call expect(result, MPI_IDENT, 'win_get_group')
    call informed(w)
    call MPI_Group_free(g, ierror)
    call MPI_Group_free(all, ierror)
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, w, ierror)
    disp = 2
    call MPI_Put(three, 3, MPI_INTEGER, next, disp, 3, MPI_INTEGER, w, ierror)
    call MPI_Win_fence(0, w, ierror)
    call expect(memory, [-1, -1, 10 * before, 10 * before + 1, 10 * before + 2, -1, -1, -1, -1, -1], 'put')
    call MPI_Get(got, 3, MPI_INTEGER, next, disp, 3, MPI_INTEGER, w, ierror)
    call MPI_Win_fence(0, w, ierror)
    call expect(got, [10 * me, 10 * me + 1, 10 * me + 2], 'get')
    disp = 9
    call MPI_Accumulate(one, 1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, MPI_SUM, w, ierror)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, w, ierror)
    if (me == 0) call expect(memory(9), n - 1, 'accumulate')
    call MPI_Win_free(w, ierror)
    call expect(w == MPI_WIN_NULL, 'win_free')
  end subroutine

  ! Tests hints, attributes, names and error handlers of a window. The predefined attributes must have the values with
  ! which the window was created.
  subroutine informed(w)
    WIN, intent(in) :: w
    INFO :: given, used
    ERRHANDLER :: h, before_h
    integer :: key, length
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    logical :: flag
    character(len=8) :: text
    character(len=MPI_MAX_OBJECT_NAME) :: name
    call MPI_Info_create(given, ierror)
    call MPI_Info_set(given, 'no_locks', 'false', ierror)
    call MPI_Win_set_info(w, given, ierror)
    call expect(ierror, MPI_SUCCESS, 'win_set_info')
    call MPI_Win_get_info(w, used, ierror)
    call MPI_Info_get(used, 'no_locks', len(text), text, flag, ierror)
    call expect(flag, 'win_get_info')
    call expect(text, 'false', 'win_get_info: value')
    call MPI_Info_free(given, ierror)
    call MPI_Info_free(used, ierror)
    extra = 0
    call MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, key, extra, ierror)
    value = 2_MPI_ADDRESS_KIND**40
    call MPI_Win_set_attr(w, key, value, ierror)
    value = 0
    call MPI_Win_get_attr(w, key, value, flag, ierror)
    call expect(flag .and. value == 2_MPI_ADDRESS_KIND**40, 'win_get_attr')
    call MPI_Win_delete_attr(w, key, ierror)
    call MPI_Win_get_attr(w, key, value, flag, ierror)
    call expect(.not. flag, 'win_delete_attr')
    call MPI_Win_free_keyval(key, ierror)
    call expect(key, MPI_KEYVAL_INVALID, 'win_free_keyval')
    call MPI_Win_get_attr(w, MPI_WIN_SIZE, value, flag, ierror)
    call expect(flag .and. value == 10 * unit, 'MPI_WIN_SIZE')
    call MPI_Win_set_name(w, 'tested', ierror)
    call MPI_Win_get_name(w, name, length, ierror)
    call expect(name(:length), 'tested', 'win_get_name')
    call MPI_Win_get_errhandler(w, before_h, ierror)
    call MPI_Win_create_errhandler(on_error, h, ierror)
    call MPI_Win_set_errhandler(w, h, ierror)
    handled = 0
    call MPI_Win_call_errhandler(w, MPI_ERR_OTHER, ierror)
    call expect(handled, 1, 'win_call_errhandler')
    call MPI_Win_set_errhandler(w, before_h, ierror)
    call MPI_Errhandler_free(h, ierror)
  end subroutine

  ! Tests memory that MPI allocates. The address is a TYPE(C_PTR) if the binding has interfaces, else an INTEGER.
  subroutine allocated()
    integer, pointer :: memory(:)
    integer(kind=MPI_ADDRESS_KIND) :: size, disp
#ifndef USE_MPIF
    type(C_PTR) :: base
#endif
#ifndef USE_F08
    integer(kind=MPI_ADDRESS_KIND) :: address
#endif
    integer, asynchronous :: value, old, compare, swapped
    WIN :: w
    size = 2 * unit
    disp = 0
#ifdef USE_MPIF
    call MPI_Win_allocate(size, unit, MPI_INFO_NULL, comm, address, w, ierror)
    call c_f_pointer(transfer(address, C_NULL_PTR), memory, [2])
#else
    call MPI_Win_allocate(size, unit, MPI_INFO_NULL, comm, base, w, ierror)
    call c_f_pointer(base, memory, [2])
#endif
    memory = [0, 7]
    call MPI_Win_lock_all(MPI_MODE_NOCHECK, w, ierror)
    call MPI_Barrier(comm, ierror)
    value = 1
    call MPI_Fetch_and_op(value, old, MPI_INTEGER, 0, disp, MPI_SUM, w, ierror)
    call MPI_Win_flush(0, w, ierror)
    call expect(old >= 0 .and. old < n, 'fetch_and_op gives a number in range')
    disp = 1
    value = 100 + me
    compare = 7
    call MPI_Compare_and_swap(value, compare, swapped, MPI_INTEGER, next, disp, w, ierror)
    call MPI_Win_flush_local(next, w, ierror)
    call expect(swapped, 7, 'compare_and_swap')
    call MPI_Win_flush_all(w, ierror)
    call MPI_Win_flush_local_all(w, ierror)
    call MPI_Win_sync(w, ierror)
    call MPI_Barrier(comm, ierror)
    call MPI_Win_sync(w, ierror)
    call expect(memory(2), 100 + before, 'compare_and_swap at the target')
    if (me == 0) call expect(memory(1), n, 'fetch_and_op at the target')
    call MPI_Win_unlock_all(w, ierror)
    call MPI_Win_free(w, ierror)
#ifdef USE_MPI
    ! In the module mpi, the generic has a second specific procedure, which returns an INTEGER.
    call MPI_Win_allocate(size, unit, MPI_INFO_NULL, comm, address, w, ierror)
    call expect(address /= 0, 'win_allocate with an address')
    call MPI_Win_free(w, ierror)
    call MPI_Alloc_mem(size, MPI_INFO_NULL, base, ierror)
    call c_f_pointer(base, memory, [2])
    memory = 1
    call MPI_Free_mem(memory, ierror)
#endif
#ifdef USE_F08
    call MPI_Alloc_mem(size, MPI_INFO_NULL, base, ierror)
    call c_f_pointer(base, memory, [2])
    memory = 1
    call MPI_Free_mem(memory, ierror)
#else
    call MPI_Alloc_mem(size, MPI_INFO_NULL, address, ierror)
    call c_f_pointer(transfer(address, C_NULL_PTR), memory, [2])
    memory = 1
    call MPI_Free_mem(memory, ierror)
#endif
    call expect(ierror, MPI_SUCCESS, 'alloc_mem and free_mem')
  end subroutine

  ! Tests loads and stores in the window memory of other processes on the node.
  subroutine shared()
    integer, pointer :: mine(:), other(:)
    integer(kind=MPI_ADDRESS_KIND) :: size, got_size
    integer :: got_unit, here, right
    COMM :: node
#ifdef USE_F08
    type(C_PTR) :: base
#else
    integer(kind=MPI_ADDRESS_KIND) :: base
#endif
#ifdef USE_MPI
    type(C_PTR) :: pointer, queried
#endif
    WIN :: w
    size = 4 * unit
    call MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, node, ierror)
    call expect(ierror, MPI_SUCCESS, 'comm_split_type')
    call MPI_Comm_rank(node, here, ierror)
    call MPI_Comm_size(node, right, ierror)
    right = mod(here + 1, right)
    call MPI_Win_allocate_shared(size, unit, MPI_INFO_NULL, node, base, w, ierror)
    call expect(ierror, MPI_SUCCESS, 'win_allocate_shared')
#ifdef USE_F08
    call c_f_pointer(base, mine, [4])
#else
    call c_f_pointer(transfer(base, C_NULL_PTR), mine, [4])
#endif
    call MPI_Win_lock_all(0, w, ierror)
    mine = here
    call MPI_Win_sync(w, ierror)
    call MPI_Barrier(node, ierror)
    call MPI_Win_sync(w, ierror)
    call MPI_Win_shared_query(w, right, got_size, got_unit, base, ierror)
    call expect(int(got_size), 4 * unit, 'win_shared_query: size')
    call expect(got_unit, unit, 'win_shared_query: unit')
#ifdef USE_F08
    call c_f_pointer(base, other, [4])
#else
    call c_f_pointer(transfer(base, C_NULL_PTR), other, [4])
#endif
    call expect(other, [right, right, right, right], 'memory of another process')
    call MPI_Barrier(node, ierror)
    call MPI_Win_unlock_all(w, ierror)
    call MPI_Win_free(w, ierror)
#ifdef USE_MPI
    ! In the module mpi, each of these generics has a second specific procedure, which returns a TYPE(C_PTR).
    call MPI_Win_allocate_shared(size, unit, MPI_INFO_NULL, node, pointer, w, ierror)
    call MPI_Win_shared_query(w, here, got_size, got_unit, queried, ierror)
    call expect(got_size == size .and. got_unit == unit, 'win_shared_query with a C_PTR')
    call expect(c_associated(pointer, queried), 'the pointers of win_allocate_shared and win_shared_query')
    call MPI_Win_free(w, ierror)
#endif
    call MPI_Comm_free(node, ierror)
  end subroutine

  ! Tests a dynamic window, to which memory is attached. Displacements are addresses.
  subroutine dynamic()
    integer, target, asynchronous :: memory(4), a, b
    integer(kind=MPI_ADDRESS_KIND) :: size, here, there
    WIN :: w
    memory = me
    a = 100 + me
    b = 200 + me
    size = 4 * unit
    call MPI_Win_create_dynamic(MPI_INFO_NULL, comm, w, ierror)
    call MPI_Win_attach(w, memory, size, ierror)
    call expect(ierror, MPI_SUCCESS, 'win_attach')
    call MPI_Get_address(memory(3), here, ierror)
    call MPI_Sendrecv(here, 1, MPI_AINT, before, 0, there, 1, MPI_AINT, next, 0, comm, MPI_STATUS_IGNORE, ierror)
    call MPI_Win_fence(0, w, ierror)
    call MPI_Put(a, 1, MPI_INTEGER, next, there, 1, MPI_INTEGER, w, ierror)
    call MPI_Put(b, 1, MPI_INTEGER, next, MPI_Aint_add(there, int(unit, MPI_ADDRESS_KIND)), 1, MPI_INTEGER, w, ierror)
    call MPI_Win_fence(0, w, ierror)
    call expect(memory, [me, me, 100 + before, 200 + before], 'put into a dynamic window')
    call MPI_Barrier(comm, ierror)
    call MPI_Win_detach(w, memory, ierror)
    call expect(ierror, MPI_SUCCESS, 'win_detach')
    call MPI_Win_free(w, ierror)
  end subroutine

  ! Tests post, start, complete, wait and test.
  subroutine pscw()
    integer, asynchronous :: memory(2), value
    integer(kind=MPI_ADDRESS_KIND) :: size, disp
    WIN :: w
    GROUP :: all, to, from
    logical :: flag
    memory = -1
    size = 2 * unit
    call MPI_Win_create(memory, size, unit, MPI_INFO_NULL, comm, w, ierror)
    call MPI_Comm_group(comm, all, ierror)
    call MPI_Group_incl(all, 1, [next], to, ierror)
    call MPI_Group_incl(all, 1, [before], from, ierror)
    do i = 1, 2
      call MPI_Win_post(from, 0, w, ierror)
      call MPI_Win_start(to, 0, w, ierror)
      disp = i - 1
      value = me + i
      call MPI_Put(value, 1, MPI_INTEGER, next, disp, 1, MPI_INTEGER, w, ierror)
      call MPI_Win_complete(w, ierror)
      if (i == 1) then
        call MPI_Win_wait(w, ierror)
      else
        flag = .false.
        do while (.not. flag)
          call MPI_Win_test(w, flag, ierror)
        end do
      end if
      call expect(memory(i), before + i, 'put between start and complete')
    end do
    call MPI_Group_free(all, ierror)
    call MPI_Group_free(to, ierror)
    call MPI_Group_free(from, ierror)
    call MPI_Win_free(w, ierror)
  end subroutine

  ! Tests locks, and the accumulate functions that return a value.
  subroutine passive()
    integer, asynchronous :: memory(3), add(3), got(3)
    integer(kind=MPI_ADDRESS_KIND) :: size, disp
    WIN :: w
    memory = [1, 2, 3]
    add = [10, 20, 30]
    got = -1
    size = 3 * unit
    disp = 0
    call MPI_Win_create(memory, size, unit, MPI_INFO_NULL, comm, w, ierror)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, w, ierror)
    call MPI_Get_accumulate(add, 3, MPI_INTEGER, got, 3, MPI_INTEGER, next, disp, 3, MPI_INTEGER, MPI_SUM, w, ierror)
    call MPI_Win_unlock(next, w, ierror)
    call expect(got, [1, 2, 3], 'get_accumulate')
    call MPI_Barrier(comm, ierror)
    call MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w, ierror)
    call expect(memory, [11, 22, 33], 'get_accumulate at the target')
    call MPI_Win_unlock(me, w, ierror)
    call MPI_Win_free(w, ierror)
  end subroutine

  ! Tests the request-based functions.
  subroutine requests()
    integer, asynchronous :: memory(0:3), got(2), old(2), ones(2)
    integer(kind=MPI_ADDRESS_KIND) :: size, disp
    REQUEST :: r(4)
    STATUSES(s, 4)
    STATUS(s1)
    WIN :: w
    integer :: where
    logical :: flag
    memory = 0
    ones = 1
    got = -1
    old = -1
    size = 4 * unit
    call MPI_Win_create(memory, size, unit, MPI_INFO_NULL, comm, w, ierror)
    call MPI_Win_lock_all(0, w, ierror)
    disp = 0
    call MPI_Rput(ones, 2, MPI_INTEGER, next, disp, 2, MPI_INTEGER, w, r(1), ierror)
    call expect(r(1) /= MPI_REQUEST_NULL, 'rput gives a request')
    disp = 2
    call MPI_Raccumulate(ones, 2, MPI_INTEGER, next, disp, 2, MPI_INTEGER, MPI_SUM, w, r(2), ierror)
    call MPI_Waitall(2, r, s, ierror)
    call expect(r(1) == MPI_REQUEST_NULL .and. r(2) == MPI_REQUEST_NULL, 'waitall releases requests')
    call MPI_Win_flush(next, w, ierror)
    call MPI_Rget_accumulate(ones, 2, MPI_INTEGER, old, 2, MPI_INTEGER, next, disp, 2, MPI_INTEGER, MPI_SUM, w, r(1), ierror)
    call MPI_Wait(r(1), s1, ierror)
    call expect(old, [1, 1], 'rget_accumulate')
    call MPI_Win_flush(next, w, ierror)
    call MPI_Rget(got, 2, MPI_INTEGER, next, disp, 2, MPI_INTEGER, w, r(1), ierror)
    r(2) = MPI_REQUEST_NULL
    flag = .false.
    do while (.not. flag)
      call MPI_Testany(2, r, where, flag, s1, ierror)
    end do
    call expect(where, 1, 'testany: index')
    call expect(got, [2, 2], 'rget')
    call MPI_Win_unlock_all(w, ierror)
    call MPI_Barrier(comm, ierror)
    call expect(memory, [1, 1, 2, 2], 'requests at the target')
    call MPI_Win_free(w, ierror)
  end subroutine
end program
