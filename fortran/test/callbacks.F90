! Procedures of the program that MPI calls: reduction operations, error handlers, copying and deletion of attributes,
! generalized requests. MPI must pass arguments by reference, and handles in the form of the binding.
!
! np: 1 3
! timeout: 60
! bindings: f08 mpi mpif
! with: check.F90
#include "binding.inc"

module procedures
  use, intrinsic :: iso_c_binding
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  integer :: calls, last_code, last_handle, copied, deleted, queried, freed, cancelled
  integer(kind=MPI_ADDRESS_KIND) :: last_value, last_extra
contains

  ! An operation that is not commutative: the product of 2 x 2 matrices, which have a derived datatype.
#ifdef USE_F08
  subroutine multiply(in, inout, length, datatype)
    type(C_PTR), value :: in, inout
    integer :: length
    DATATYPE :: datatype
    integer, pointer :: a(:,:,:), b(:,:,:)
    integer :: i
    call c_f_pointer(in, a, [2, 2, length])
    call c_f_pointer(inout, b, [2, 2, length])
#else
  subroutine multiply(a, b, length, datatype)
    integer :: length
    integer :: a(2, 2, length), b(2, 2, length)
    DATATYPE :: datatype
    integer :: i
#endif
    do i = 1, length
      b(:, :, i) = matmul(a(:, :, i), b(:, :, i))
    end do
    calls = calls + 1
    last_handle = VALUE_OF(datatype)
  end subroutine

  subroutine on_win(w, code)
    WIN :: w
    integer :: code
    last_handle = VALUE_OF(w)
    last_code = code
    calls = calls + 1
  end subroutine

  subroutine on_comm(c, code)
    COMM :: c
    integer :: code
    last_handle = VALUE_OF(c)
    last_code = code
    calls = calls + 1
  end subroutine

  subroutine other_on_comm(c, code)
    COMM :: c
    integer :: code
    last_handle = -VALUE_OF(c)
    last_code = code
    calls = calls + 1
  end subroutine

  ! A copy procedure that sets the copied attribute to the value plus 1.
  subroutine copy_comm(old, keyval, extra, value_in, value_out, flag, ierror)
    COMM :: old
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra, value_in, value_out
    logical :: flag
    copied = copied + 1
    last_handle = VALUE_OF(old)
    last_extra = extra
    value_out = value_in + 1
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine refuse_copy(old, keyval, extra, value_in, value_out, flag, ierror)
    DATATYPE :: old
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra, value_in, value_out
    logical :: flag
    copied = copied + 1
    value_out = 0
    flag = .false.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_comm(c, keyval, value, extra, ierror)
    COMM :: c
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    deleted = deleted + 1
    last_value = value
    last_extra = extra
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_type(t, keyval, value, extra, ierror)
    DATATYPE :: t
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    deleted = deleted + 1
    last_value = value
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_win(w, keyval, value, extra, ierror)
    WIN :: w
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    deleted = deleted + 1
    last_value = value
    last_handle = VALUE_OF(w)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine query(extra, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    STATUS(status)
    integer :: ierror
    queried = queried + 1
    last_extra = extra
    SOURCE_OF(status) = 12
    TAG_OF(status) = 34
    call MPI_Status_set_elements(status, MPI_INTEGER, 7, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine release(extra, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    freed = freed + 1
    extra = extra - 1000
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierror
    cancelled = cancelled + 1
    if (complete) cancelled = cancelled + 100
    ierror = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use check
  use procedures
  implicit none
  integer :: ierror, me, n

  call MPI_Init(ierror)
  call check_begin()
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)
  call operations()
  call handlers()
  call attributes()
  call grequests()
  call check_end()

contains

  subroutine operations()
    OP :: o, o2
    DATATYPE :: matrix
    integer :: mine(2, 2, 2), got(2, 2, 2), want(2, 2), i
    logical :: commutes
    call MPI_Type_contiguous(4, MPI_INTEGER, matrix, ierror)
    call MPI_Type_commit(matrix, ierror)
    call MPI_Op_create(multiply, .false., o, ierror)
    call MPI_Op_create(multiply, .true., o2, ierror)
    call expect(o /= o2, 'two operations of one procedure')
    call MPI_Op_commutative(o, commutes, ierror)
    call expect(.not. commutes, 'op_commutative of one that does not')
    call MPI_Op_commutative(o2, commutes, ierror)
    call expect(commutes, 'op_commutative of one that does')
    mine(:, :, 1) = reshape([1, me, 0, 1], [2, 2])
    mine(:, :, 2) = reshape([1, 1, me, 1], [2, 2])
    got = 0
    calls = 0
    call MPI_Allreduce(mine, got, 2, matrix, o, MPI_COMM_WORLD, ierror)
    want = reshape([1, 0, 0, 1], [2, 2])
    do i = 0, n - 1
      want = matmul(want, reshape([1, 1, i, 1], [2, 2]))
    end do
    call expect(reshape(got(:, :, 2), [4]), reshape(want, [4]), 'allreduce with a user''s operation')
    call expect(got(2, 1, 1), n * (n - 1) / 2, 'allreduce with a user''s operation, first element')
    call MPI_Reduce_local(mine, got, 2, matrix, o, ierror)
    call expect(calls > 0, 'the procedure was called')
    call expect(last_handle, VALUE_OF(matrix), 'the datatype that the procedure gets')
    call MPI_Op_free(o, ierror)
    call MPI_Op_free(o2, ierror)
    call expect(o == MPI_OP_NULL, 'op_free')
    call MPI_Type_free(matrix, ierror)
  end subroutine

  subroutine handlers()
    WIN :: w
    COMM :: c
    ERRHANDLER :: h, h2
    integer, asynchronous :: memory(2)
    integer(kind=MPI_ADDRESS_KIND) :: size, far
    size = 8
    far = 1000
    memory = 0
    calls = 0
    call MPI_Win_create_errhandler(on_win, h, ierror)
    call MPI_Win_create(memory, size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierror)
    call MPI_Win_set_errhandler(w, h, ierror)
    call MPI_Win_get_errhandler(w, h2, ierror)
    call expect(h == h2, 'win_get_errhandler')
    call MPI_Errhandler_free(h2, ierror)
    call MPI_Errhandler_free(h, ierror)
    call MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w, ierror)
    call MPI_Put(memory, 1, MPI_INTEGER, me, far, 1, MPI_INTEGER, w, ierror)
    call expect(calls, 1, 'calls of the window''s error handler')
    call expect(last_handle, VALUE_OF(w), 'the window it gets')
    call expect_class(last_code, MPI_ERR_RMA_RANGE, 'the code it gets')
#ifdef USE_F08
    last_code = MPI_SUCCESS
    call MPI_Put(memory, 1, MPI_INTEGER, me, far, 1, MPI_INTEGER, w)
    call expect(calls, 2, 'calls of the error handler, without ierror')
    call expect_class(last_code, MPI_ERR_RMA_RANGE, 'the code it gets, without ierror')
    call MPI_Put(memory(1:2:1), -3, MPI_INTEGER, me, far, 1, MPI_INTEGER, w)
    call expect(calls, 3, 'calls of the error handler, another call')
    calls = 1
#endif
    call MPI_Win_unlock(me, w, ierror)
    call MPI_Win_call_errhandler(w, MPI_ERR_OTHER, ierror)
    call expect(calls, 2, 'win_call_errhandler')
    call expect(last_code, MPI_ERR_OTHER, 'win_call_errhandler: the code')
    call MPI_Win_free(w, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, c, ierror)
    call MPI_Comm_create_errhandler(on_comm, h, ierror)
    call MPI_Comm_create_errhandler(other_on_comm, h2, ierror)
    call MPI_Comm_set_errhandler(c, h, ierror)
    call MPI_Send(memory, 1, MPI_INTEGER, n + 5, 0, c, ierror)
    call expect(last_handle, VALUE_OF(c), 'the communicator that the handler gets')
    call expect_class(last_code, MPI_ERR_RANK, 'its code')
    call MPI_Comm_set_errhandler(c, h2, ierror)
    call MPI_Send(memory, 1, MPI_INTEGER, n + 5, 0, c, ierror)
    call expect(last_handle, -VALUE_OF(c), 'the other handler')
    call MPI_Comm_free(c, ierror)
    call MPI_Errhandler_free(h, ierror)
    call MPI_Errhandler_free(h2, ierror)
  end subroutine

  subroutine attributes()
    COMM :: c, c2, c3
    DATATYPE :: t, t2
    WIN :: w
    integer :: key, key2, key3
    integer(kind=MPI_ADDRESS_KIND) :: value, extra, size
    integer, asynchronous :: memory(2)
    logical :: flag
    copied = 0
    deleted = 0
    extra = 2_MPI_ADDRESS_KIND**40 + 5
    call MPI_Comm_create_keyval(copy_comm, delete_comm, key, extra, ierror)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key2, extra, ierror)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key3, extra, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, c, ierror)
    call MPI_Comm_get_attr(c, key, value, flag, ierror)
    call expect(.not. flag, 'an attribute that is not set')
    value = -2_MPI_ADDRESS_KIND**50
    call MPI_Comm_set_attr(c, key, value, ierror)
    value = 44
    call MPI_Comm_set_attr(c, key2, value, ierror)
    call MPI_Comm_set_attr(c, key3, value, ierror)
    value = 0
    call MPI_Comm_get_attr(c, key, value, flag, ierror)
    call expect(flag .and. value == -2_MPI_ADDRESS_KIND**50, 'an attribute of the size of an address')
    call MPI_Comm_dup(c, c2, ierror)
    call expect(copied, 1, 'copies')
    call expect(last_extra == extra, 'the extra state of the copy procedure')
    call expect(last_handle, VALUE_OF(c), 'the communicator of the copy procedure')
    call MPI_Comm_get_attr(c2, key, value, flag, ierror)
    call expect(flag .and. value == -2_MPI_ADDRESS_KIND**50 + 1, 'the copied attribute')
    call MPI_Comm_get_attr(c2, key2, value, flag, ierror)
    call expect(flag .and. value == 44, 'the attribute of MPI_COMM_DUP_FN')
    call MPI_Comm_get_attr(c2, key3, value, flag, ierror)
    call expect(.not. flag, 'the attribute of MPI_COMM_NULL_COPY_FN')
    call MPI_Comm_delete_attr(c, key, ierror)
    call expect(deleted, 1, 'delete_attr')
    call expect(last_value == -2_MPI_ADDRESS_KIND**50, 'the value it gets')
    value = 5
    call MPI_Comm_set_attr(c2, key, value, ierror)
    call expect(deleted, 2, 'setting again deletes')
    call MPI_Comm_dup(c2, c3, ierror)
    call MPI_Comm_free(c2, ierror)
    call expect(deleted, 3, 'comm_free deletes')
    call expect(last_value == 5, 'the value of comm_free')
    call MPI_Comm_free(c3, ierror)
    call expect(last_value == 6, 'the copied value')
    call MPI_Comm_free_keyval(key, ierror)
    call expect(key, MPI_KEYVAL_INVALID, 'comm_free_keyval')
    call MPI_Comm_free_keyval(key2, ierror)
    call MPI_Comm_free_keyval(key3, ierror)
    call MPI_Comm_free(c, ierror)
    ! Datatypes.
    copied = 0
    deleted = 0
    call MPI_Type_create_keyval(refuse_copy, delete_type, key, extra, ierror)
    call MPI_Type_contiguous(2, MPI_INTEGER, t, ierror)
    value = 17
    call MPI_Type_set_attr(t, key, value, ierror)
    call MPI_Type_dup(t, t2, ierror)
    call expect(copied, 1, 'copies of a datatype''s attribute')
    call MPI_Type_get_attr(t2, key, value, flag, ierror)
    call expect(.not. flag, 'a copy that was refused')
    call MPI_Type_get_attr(t, key, value, flag, ierror)
    call expect(flag .and. value == 17, 'type_get_attr')
    call MPI_Type_free(t, ierror)
    call MPI_Type_free(t2, ierror)
    call expect(deleted, 1, 'type_free deletes')
    call MPI_Type_free_keyval(key, ierror)
    ! Attributes of windows, including the predefined ones.
    deleted = 0
    size = 8
    memory = 0
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, key, extra, ierror)
    call MPI_Win_create(memory, size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierror)
    value = 2_MPI_ADDRESS_KIND**33
    call MPI_Win_set_attr(w, key, value, ierror)
    value = 0
    call MPI_Win_get_attr(w, key, value, flag, ierror)
    call expect(flag .and. value == 2_MPI_ADDRESS_KIND**33, 'win_get_attr')
    call MPI_Win_get_attr(w, MPI_WIN_SIZE, value, flag, ierror)
    call expect(flag .and. value == 8, 'MPI_WIN_SIZE')
    call MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, value, flag, ierror)
    call expect(flag .and. value == 4, 'MPI_WIN_DISP_UNIT')
    call MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, value, flag, ierror)
    call expect(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'MPI_WIN_CREATE_FLAVOR')
    call MPI_Win_get_attr(w, MPI_WIN_MODEL, value, flag, ierror)
    call expect(flag .and. (value == MPI_WIN_UNIFIED .or. value == MPI_WIN_SEPARATE), 'MPI_WIN_MODEL')
    call MPI_Win_get_attr(w, MPI_WIN_BASE, value, flag, ierror)
    call MPI_Get_address(memory, size, ierror)
    call expect(flag .and. value == size, 'MPI_WIN_BASE')
    last_handle = VALUE_OF(w)
    call MPI_Win_free(w, ierror)
    call expect(deleted, 1, 'win_free deletes')
    call expect(last_value == 2_MPI_ADDRESS_KIND**33, 'the value of win_free')
    call MPI_Win_free_keyval(key, ierror)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
    call expect(flag .and. value >= 32767, 'MPI_TAG_UB')
#ifndef USE_F08
    call old_attributes()
#endif
  end subroutine

#ifndef USE_F08
  ! Tests the deprecated functions, whose attributes are INTEGERs of default size.
  subroutine old_attributes()
    integer :: key, key2, value, c, c2
    logical :: flag
    call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, key, 3, ierror)
    call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, key2, 3, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, c, ierror)
    call MPI_Attr_put(c, key, -8, ierror)
    call MPI_Attr_put(c, key2, 9, ierror)
    call MPI_Comm_dup(c, c2, ierror)
    call MPI_Attr_get(c2, key, value, flag, ierror)
    call expect(flag .and. value == -8, 'attr_get of a copy')
    call MPI_Attr_get(c2, key2, value, flag, ierror)
    call expect(.not. flag, 'attr_get of what is not copied')
    call MPI_Attr_delete(c, key, ierror)
    call MPI_Attr_get(c, key, value, flag, ierror)
    call expect(.not. flag, 'attr_delete')
    call MPI_Comm_free(c, ierror)
    call MPI_Comm_free(c2, ierror)
    call MPI_Keyval_free(key, ierror)
    call MPI_Keyval_free(key2, ierror)
  end subroutine
#endif

  subroutine grequests()
    REQUEST :: r
    STATUS(s)
#ifdef USE_MPIF
    integer(kind=MPI_ADDRESS_KIND), volatile :: extra ! VOLATILE, since the compiler does not know that MPI uses it
#else
    integer(kind=MPI_ADDRESS_KIND) :: extra
#endif
    integer :: count
    logical :: flag
    queried = 0
    freed = 0
    cancelled = 0
    extra = 2_MPI_ADDRESS_KIND**35 + 1
    call MPI_Grequest_start(query, release, cancel, extra, r, ierror)
    call MPI_Test(r, flag, s, ierror)
    call expect(.not. flag, 'a generalized request that is not complete')
    extra = extra + 4 ! the procedures get this variable itself, not a copy
    call MPI_Cancel(r, ierror)
    call expect(cancelled, 1, 'cancel')
    call MPI_Grequest_complete(r, ierror)
    call MPI_Wait(r, s, ierror)
    call expect(queried > 0 .and. freed == 1, 'query and free')
    call expect(last_extra == 2_MPI_ADDRESS_KIND**35 + 5, 'the extra state')
    call expect(extra == 2_MPI_ADDRESS_KIND**35 + 5 - 1000, 'the extra state that a procedure has changed')
    call expect(SOURCE_OF(s), 12, 'source')
    call expect(TAG_OF(s), 34, 'tag')
    call MPI_Get_count(s, MPI_INTEGER, count, ierror)
    call expect(count, 7, 'count')
    ! MPI reads `extra` after the call. The compiler must not remove or move this assignment.
    extra = 7
    call MPI_Grequest_start(query, release, cancel, extra, r, ierror)
    call MPI_Grequest_complete(r, ierror)
    call MPI_Wait(r, s, ierror)
    call expect(last_extra == 7, 'the extra state of another request')
    call expect(extra == 7 - 1000, 'that a procedure has changed')
  end subroutine
end program
