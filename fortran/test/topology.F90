! Tests LOGICALs as scalars and in arrays, ranges of ranks, and indices of requests, which Fortran counts from 1.
!
! np: 1 4
! timeout: 60
! bindings: f08 mpi mpif
! with: check.F90
#include "binding.inc"

program topology
  use check
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  integer :: ierror, me, n, i, done, now, where
  integer, asynchronous :: values(4), got(4)
  integer :: dims(2), coords(2), ranges(3, 2), indices(4)
  logical :: periods(2), flag, remain(2)
  COMM :: grid, line, c
  GROUP :: all, some
  REQUEST :: r(4)
  STATUSES(s, 4)
  STATUS(s1)

  call MPI_Init(ierror)
  call check_begin()
  call MPI_Initialized(flag, ierror)
  call expect(flag, 'initialized')
  call MPI_Finalized(flag, ierror)
  call expect(.not. flag, 'finalized')
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)
  dims = 0
  call MPI_Dims_create(n, 2, dims, ierror)
  call expect(dims(1) * dims(2), n, 'dims_create')
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., grid, ierror)
  periods = .false.
  call MPI_Cart_get(grid, 2, dims, periods, coords, ierror)
  call expect(periods(1) .and. .not. periods(2), 'cart_get: periods')
  remain = [.false., .true.]
  call MPI_Cart_sub(grid, remain, line, ierror)
  call MPI_Comm_size(line, i, ierror)
  call expect(i, dims(2), 'cart_sub')
  call MPI_Comm_test_inter(line, flag, ierror)
  call expect(.not. flag, 'comm_test_inter')
  call MPI_Comm_free(line, ierror)
  call MPI_Comm_free(grid, ierror)

  ! Selects every second rank, and rank 1, with ranges of (first, last, stride).
  call MPI_Comm_group(MPI_COMM_WORLD, all, ierror)
  ranges(:, 1) = [0, n - 1, 2]
  ranges(:, 2) = [min(1, n - 1), min(1, n - 1), 1]
  call MPI_Group_range_incl(all, merge(2, 1, n > 1), ranges, some, ierror)
  call MPI_Group_size(some, i, ierror)
  call expect(i, (n + 1) / 2 + merge(1, 0, n > 1), 'group_range_incl')
  call MPI_Group_translate_ranks(some, 1, [i - 1], all, indices, ierror)
  call expect(indices(1), merge(1, 0, n > 1), 'group_translate_ranks')
  call MPI_Group_free(some, ierror)
  call MPI_Group_free(all, ierror)

  ! Sends four messages from this process to itself, on a communicator of MPI_Comm_idup.
  call MPI_Comm_idup(MPI_COMM_SELF, c, r(1), ierror)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierror)
  call MPI_Comm_size(c, i, ierror)
  call expect(i, 1, 'comm_idup')
  values = [5, 6, 7, 8]
  got = 0
  do i = 1, 4
    call MPI_Irecv(got(i), 1, MPI_INTEGER, 0, i, c, r(i), ierror)
  end do
  call MPI_Testsome(4, r, now, indices, s, ierror)
  call expect(now, 0, 'testsome: nothing is complete')
  call MPI_Send(values(3), 1, MPI_INTEGER, 0, 3, c, ierror)
  call MPI_Waitany(4, r, where, s1, ierror)
  call expect(where, 3, 'waitany: index')
  call expect(TAG_OF(s1), 3, 'waitany: tag')
  call expect(r(3) == MPI_REQUEST_NULL .and. r(2) /= MPI_REQUEST_NULL, 'waitany: requests')
  call MPI_Send(values(1), 1, MPI_INTEGER, 0, 1, c, ierror)
  call MPI_Send(values(4), 1, MPI_INTEGER, 0, 4, c, ierror)
  done = 0
  do while (done < 2)
    call MPI_Waitsome(4, r, now, indices, s, ierror)
    do i = 1, now
      call expect(indices(i) == 1 .or. indices(i) == 4, 'waitsome: index')
#ifdef USE_F08
      call expect(s(i)%MPI_TAG, indices(i), 'waitsome: tag')
#else
      call expect(s(MPI_TAG, i), indices(i), 'waitsome: tag')
#endif
    end do
    done = done + now
  end do
  call MPI_Testall(4, r, flag, s, ierror)
  call expect(.not. flag, 'testall: one is missing')
  call MPI_Testany(4, r, where, flag, s1, ierror)
  call expect(.not. flag .and. where == MPI_UNDEFINED, 'testany: nothing is complete')
  call MPI_Iprobe(0, 2, c, flag, s1, ierror)
  call expect(.not. flag, 'iprobe')
  call MPI_Send(values(2), 1, MPI_INTEGER, 0, 2, c, ierror)
  call MPI_Request_get_status(r(2), flag, s1, ierror)
  call expect(flag .and. r(2) /= MPI_REQUEST_NULL, 'request_get_status')
  call MPI_Waitall(4, r, s, ierror)
  call expect(got, values, 'what was received')
  call MPI_Waitany(4, r, where, s1, ierror)
  call expect(where, MPI_UNDEFINED, 'waitany of no requests')
  ! Persistent requests.
  call MPI_Send_init(values, 4, MPI_INTEGER, 0, 7, c, r(1), ierror)
  call MPI_Recv_init(got, 4, MPI_INTEGER, 0, 7, c, r(2), ierror)
  do i = 1, 2
    got = 0
    call MPI_Startall(2, r, ierror)
    call MPI_Waitall(2, r, s, ierror)
    call MPI_F_sync_reg(got)
    call expect(got, values, 'persistent requests')
  end do
  call MPI_Request_free(r(1), ierror)
  call MPI_Request_free(r(2), ierror)
  call MPI_Comm_free(c, ierror)
  call check_end()
end program
