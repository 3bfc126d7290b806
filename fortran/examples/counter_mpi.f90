! Work distribution by a shared counter, with the module mpi. A process fetches its next range with MPI_Fetch_and_op.
! MPI_Compare_and_swap updates the best result of all processes. No process waits for another one.
!
!     gompifort -O2 counter_mpi.f90 -o counter_mpi
!     gompirun -n 4 ./counter_mpi [LIMIT]
!
! The task: how many primes are below LIMIT, and which of them is followed by the largest gap?
!
! np: 1 3
! timeout: 60
! bindings: mpi
program counter_mpi
  use, intrinsic :: iso_fortran_env, only: int64, error_unit
  use mpi
  implicit none
  integer, parameter :: piece = 1000
  integer :: ierror, me, n, win, pieces, begin, i, last, done
  integer :: limit = 200000
  integer(kind=MPI_ADDRESS_KIND) :: bytes
  integer(kind=MPI_ADDRESS_KIND), parameter :: counter = 0, best = 1, total = 2 ! displacements in the window
  integer(int64), asynchronous :: memory(0:2), taken, one, found, seen, mine, now
  integer(int64) :: want_found, want_best

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)
  call read_argument()
  memory = 0
  bytes = merge(24, 0, me == 0)
  call MPI_Win_create(memory, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  pieces = (limit + piece - 1) / piece
  done = 0
  found = 0
  one = 1

  call MPI_Win_lock_all(MPI_MODE_NOCHECK, win, ierror)
  do
    call MPI_Fetch_and_op(one, taken, MPI_INTEGER8, 0, counter, MPI_SUM, win, ierror)
    call MPI_Win_flush(0, win, ierror)
    if (taken >= pieces) exit
    done = done + 1
    begin = int(taken) * piece
    last = 0
    do i = begin, min(begin + piece, limit) - 1
      if (.not. is_prime(i)) cycle
      found = found + 1
      last = i
      call offer(gap(last))
    end do
  end do
  ! All processes add up their results.
  call MPI_Accumulate(found, 1, MPI_INTEGER8, 0, total, 1, MPI_INTEGER8, MPI_SUM, win, ierror)
  call MPI_Win_unlock_all(win, ierror)
  print '(a,i0,a,i0,a,i0)', 'process ', me, ': ', done, ' pieces, primes: ', found
  call MPI_Barrier(MPI_COMM_WORLD, ierror)

  if (me == 0) then
    ! A lock makes the updates of the other processes visible to loads of this process.
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierror)
    want_found = 0
    want_best = 0
    do i = 0, limit - 1
      if (.not. is_prime(i)) cycle
      want_found = want_found + 1
      want_best = max(want_best, gap(i))
    end do
    print '(a,i0,a,i0)', 'primes below ', limit, ': ', memory(total)
    print '(a,i0,a,i0)', 'largest gap: ', memory(best) / 2_int64**32, ', after ', 2_int64**32 - mod(memory(best), 2_int64**32)
    ierror = merge(0, 1, memory(total) == want_found .and. memory(best) == want_best)
    print '(a)', merge('as counted serially    ', 'NOT as counted serially', ierror == 0)
    i = ierror
    call MPI_Win_unlock(0, win, ierror)
  end if
  call MPI_Bcast(i, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  call MPI_Win_free(win, ierror)
  call MPI_Finalize(ierror)
  if (i /= 0) stop 1

contains

  ! gap returns a value for the gap after the prime p, which is larger for a better result. Its upper half is the
  ! distance from p to the next prime. Its lower half is larger for a smaller p.
  integer(int64) function gap(p)
    integer, intent(in) :: p
    integer :: q
    q = p + 1
    do while (.not. is_prime(q))
      q = q + 1
    end do
    gap = int(q - p, int64) * 2_int64**32 + (2_int64**32 - p)
  end function

  ! offer replaces the best result by `value` if `value` is better. If another process has replaced the best result in
  ! the meantime, offer compares again.
  subroutine offer(value)
    integer(int64), intent(in) :: value
    if (value <= mine) return ! the best result that this process has seen is at least as good
    now = value
    seen = mine
    do
      call MPI_Compare_and_swap(now, seen, mine, MPI_INTEGER8, 0, best, win, ierror)
      call MPI_Win_flush(0, win, ierror)
      if (mine == seen) then
        mine = now
        return
      end if
      if (mine >= now) return
      seen = mine
    end do
  end subroutine

  pure logical function is_prime(k)
    integer, intent(in) :: k
    integer :: d
    is_prime = k > 1
    d = 2
    do while (d * d <= k)
      if (mod(k, d) == 0) then
        is_prime = .false.
        return
      end if
      d = d + 1
    end do
  end function

  subroutine read_argument()
    character(len=20) :: text
    integer :: bad
    mine = 0
    if (command_argument_count() == 0) return
    call get_command_argument(1, text)
    read (text, *, iostat=bad) limit
    if (bad /= 0 .or. limit < 1 .or. limit > 100000000) then
      write (error_unit, '(3a)') 'counter_mpi: "', trim(text), '" is no LIMIT from 1 to 100000000'
      call MPI_Abort(MPI_COMM_WORLD, 2, ierror)
    end if
  end subroutine
end program
