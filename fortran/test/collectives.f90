! Sections in blocking, nonblocking and persistent collective operations. A call must read and write the same values as
! with contiguous copies of the sections. It must not write elements outside of the sections.
!
! np: 1 3
! timeout: 60
! bindings: f08
! with: check.F90
program collectives
  use check
  use mpi_f08
  implicit none
  integer :: me, n, i, j
  integer, parameter :: gap = -9

  call MPI_Init()
  call check_begin()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  call reductions()
  call gathers()
  call to_all()
  call to_all_types()
  call persistent()
  call several_at_once()
  call check_end()

contains

  ! interleaved returns an array with `values` in every second element, and `gap` in the other elements.
  function interleaved(values) result(a)
    integer, intent(in) :: values(:)
    integer :: a(2 * size(values))
    a = gap
    a(1::2) = values
  end function

  subroutine reductions()
    integer, asynchronous :: a(8), b(8), c(4), d(8)
    type(MPI_Request) :: request
    logical :: flag
    a = interleaved([me, 10 * me, 100, 1])
    b = gap
    call MPI_Allreduce(a(1::2), b(8:1:-2), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(b(8:1:-2), [n * (n - 1) / 2, 5 * n * (n - 1), 100 * n, n], 'allreduce')
    call expect(b(1::2), [gap, gap, gap, gap], 'allreduce: the others')
    b = interleaved([me, me, me, me])
    call MPI_Allreduce(MPI_IN_PLACE, b(1::2), 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call expect(b, interleaved([n - 1, n - 1, n - 1, me]), 'allreduce in place, of three of four')
    c = gap
    call MPI_Reduce(a(1::2), c, 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
    if (me == 0) call expect(c(4), n, 'reduce')
    if (me /= 0) call expect(c(4), gap, 'reduce on another process')
    call MPI_Scan(a(1::2), b(1::2), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(b, interleaved([me * (me + 1) / 2, 5 * me * (me + 1), 100 * (me + 1), me + 1]), 'scan')
    ! A nonblocking call may store its result only at completion, and only at the root: elsewhere the receive buffer is
    ! not significant. So another process may write to its receive buffer before completion, and the call must not
    ! overwrite this value.
    b = gap
    d = gap
    call MPI_Ireduce(a(1::2), b(1::2), 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, request)
    if (me /= 0) b(1) = 77
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    if (me == 0) call expect(b, interleaved([n * (n - 1) / 2, 5 * n * (n - 1), 100 * n, n]), 'ireduce')
    if (me /= 0) call expect(b(1:3), [77, gap, gap], 'ireduce on another process')
    call MPI_Iallreduce(a(1::2), d(2::2), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(request, flag, MPI_STATUS_IGNORE)
    end do
    call expect(d(8), n, 'iallreduce, test')
    call expect(d(1::2), [gap, gap, gap, gap], 'iallreduce: the others')
    if (me == 0) then
      b = interleaved([1, 2, 3, 4])
      call MPI_Reduce_local(a(1::2), b(1::2), 4, MPI_INTEGER, MPI_SUM)
      call expect(b, interleaved([1, 2, 103, 5]), 'reduce_local')
    end if
  end subroutine

  subroutine gathers()
    integer, asynchronous :: mine(6), whole(2, n, 3), back(3, 2), counts(n), displs(n)
    type(MPI_Request) :: request
    mine = interleaved([me, me + 10, me + 20])
    whole = gap
    call MPI_Allgather(mine(1::2), 3, MPI_INTEGER, whole(2, :, :), 3, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(reshape(whole(2, :, :), [3 * n]), [((j + 10 * i, i = 0, 2), j = 0, n - 1)], 'allgather')
    call expect(all(whole(1, :, :) == gap), 'allgather: the others')
    whole = gap
    call MPI_Igather(mine(1::2), 3, MPI_INTEGER, whole(1, :, :), 3, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    if (me == 0) call expect(reshape(whole(1, :, :), [3 * n]), [((j + 10 * i, i = 0, 2), j = 0, n - 1)], 'igather')
    call expect(all(whole(2, :, :) == gap), 'igather: the others')
    back = gap
    call MPI_Scatter(whole(1, :, :), 3, MPI_INTEGER, back(:, 2), 3, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call expect(reshape(back, [6]), [gap, gap, gap, me, me + 10, me + 20], 'scatter into a column')
    back = gap
    call MPI_Scatter(whole(1, :, :), 3, MPI_INTEGER, back(3:1:-1, 1), 3, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call expect(reshape(back, [6]), [me + 20, me + 10, me, gap, gap, gap], 'scatter, backwards')
    ! Process i sends min(i, 3) elements. The blocks are placed in descending order of the processes.
    counts = [(i, i = 0, n - 1)]
    displs = [(3 * (n - 1 - i), i = 0, n - 1)]
    whole = gap
    call MPI_Gatherv(mine(1::2), min(me, 3), MPI_INTEGER, whole(1, :, :), counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (me == 0) then
      block
        integer :: want(3 * n), got(3 * n)
        want = gap
        do i = 1, n - 1
          want(displs(i + 1) + 1:displs(i + 1) + counts(i + 1)) = [(i + 10 * j, j = 0, i - 1)]
        end do
        got = reshape(whole(1, :, :), [3 * n])
        call expect(got, want, 'gatherv')
      end block
    end if
  end subroutine

  subroutine to_all()
    integer, asynchronous :: a(3, n), b(n, 3)
    type(MPI_Request) :: request
    a = gap
    a(1:3:2, :) = reshape([((100 * me + 10 * j + i, i = 1, 2), j = 0, n - 1)], [2, n])
    b = gap
    call MPI_Alltoall(a(1:3:2, :), 2, MPI_INTEGER, b(:, 1:3:2), 2, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(reshape(b(:, 1:3:2), [2 * n]), [((100 * j + 10 * me + i, i = 1, 2), j = 0, n - 1)], 'alltoall')
    call expect(b(:, 2), [(gap, i = 1, n)], 'alltoall: the others')
    b = gap
    call MPI_Ialltoall(a(1:3:2, :), 2, MPI_INTEGER, b(:, 1:3:2), 2, MPI_INTEGER, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(reshape(b(:, 1:3:2), [2 * n]), [((100 * j + 10 * me + i, i = 1, 2), j = 0, n - 1)], 'ialltoall')
  end subroutine

  ! Tests MPI_Alltoallw and MPI_Ialltoallw. The converted arrays of datatypes must live until the call is complete.
  subroutine to_all_types()
    integer, asynchronous :: a(n), b(n), counts(n), displs(n)
    integer(kind=MPI_ADDRESS_KIND), asynchronous :: at(n)
    type(MPI_Datatype), asynchronous :: types(n)
    type(MPI_Request) :: request
    type(MPI_Comm) :: ring
    a = [(10 * me + i, i = 0, n - 1)]
    counts = 1
    displs = [(integer_bytes * i, i = 0, n - 1)]
    types = MPI_INTEGER
    b = gap
    call MPI_Alltoallw(a, counts, displs, types, b, counts, displs, types, MPI_COMM_WORLD)
    call expect(b, [(10 * i + me, i = 0, n - 1)], 'alltoallw')
    b = gap
    call MPI_Ialltoallw(a, counts, displs, types, b, counts, displs, types, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(b, [(10 * i + me, i = 0, n - 1)], 'ialltoallw')
    b = a
    call MPI_Alltoallw(MPI_IN_PLACE, counts, displs, types, b, counts, displs, types, MPI_COMM_WORLD)
    call expect(b, [(10 * i + me, i = 0, n - 1)], 'alltoallw in place')
    if (.false.) then ! the call of the neighborhood variant is only compiled
      at = 0
      call MPI_Cart_create(MPI_COMM_WORLD, 1, [n], [.true.], .false., ring)
      call MPI_Neighbor_alltoallw(a, counts, at, types, b, counts, at, types, ring)
    end if
  end subroutine

  ! Starts the same request three times, with different values in the section.
  subroutine persistent()
    integer, asynchronous :: a(6), b(6)
    type(MPI_Request) :: request
    logical :: done
    a = gap
    b = gap
    call MPI_Allreduce_init(a(1::2), b(2::2), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request)
    do j = 1, 3
      a(1::2) = [j, me, 10 * j]
      call MPI_Start(request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call expect(b, [gap, n * j, gap, n * (n - 1) / 2, gap, 10 * j * n], 'allreduce_init')
    end do
    ! When MPI_Request_get_status has reported completion, the program may use the elements, even before MPI_Wait.
    a(1::2) = 1
    call MPI_Start(request)
    done = .false.
    do while (.not. done)
      call MPI_Request_get_status(request, done, MPI_STATUS_IGNORE)
    end do
    call expect(b(2::2), [n, n, n], 'request_get_status')
    b = 5
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(b, [5, 5, 5, 5, 5, 5], 'wait after request_get_status')
    call MPI_Request_free(request)
    call expect(request == MPI_REQUEST_NULL, 'request_free')
  end subroutine

  subroutine several_at_once()
    integer, asynchronous :: a(8), b(8, 4)
    type(MPI_Request) :: requests(4)
    integer :: where(4), done, now
    a = [(i, i = 1, 8)]
    b = gap
    do i = 1, 4
      call MPI_Iallreduce(a(1::2), b(2::2, i), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(i))
    end do
    done = 0
    do while (done < 4)
      call MPI_Waitsome(4, requests, now, where, MPI_STATUSES_IGNORE)
      do i = 1, now
        call expect(b(2::2, where(i)), n * a(1::2), 'waitsome')
      end do
      done = done + now
    end do
    b = gap
    do i = 1, 4
      call MPI_Iallreduce(a(1::2), b(2::2, i), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(i))
    end do
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    do i = 1, 4
      call expect(b(2::2, i), n * a(1::2), 'waitall')
    end do
  end subroutine
end program
