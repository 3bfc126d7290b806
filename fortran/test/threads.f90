! Threads concurrently put sections, receive into sections and reduce sections. Each thread uses more different sections
! than its cache of datatypes holds.
!
! np: 1 2
! timeout: 60
! bindings: f08
! with: check.F90
! flags: -fopenmp
program threads
  use check
  use mpi_f08
  implicit none
  integer, parameter :: most = 4
  integer, asynchronous :: memory(40, most)
  integer :: provided, thread, me, n, wrong
  integer(kind=MPI_ADDRESS_KIND) :: size
  type(MPI_Comm) :: comm(most)
  type(MPI_Win) :: win
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call check_begin()
  call expect(provided, MPI_THREAD_MULTIPLE, 'provided')
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  size = 4 * 40 * most
  memory = 0
  call MPI_Win_create(memory, size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  do thread = 1, most
    call MPI_Comm_dup(MPI_COMM_WORLD, comm(thread))
  end do
  call MPI_Win_lock_all(0, win)
  wrong = 0
  !$omp parallel do num_threads(most) schedule(static, 1) reduction(+:wrong)
  do thread = 1, most
    call work(thread, wrong)
  end do
  !$omp end parallel do
  call expect(wrong, 0, 'wrong results')
  call MPI_Win_unlock_all(win)
  call MPI_Win_free(win)
  call check_end()
contains
  subroutine work(thread, wrong)
    integer, intent(in) :: thread
    integer, intent(inout) :: wrong
    integer, asynchronous :: a(60), b(60), c(60)
    integer(kind=MPI_ADDRESS_KIND) :: disp
    type(MPI_Request) :: r
    integer :: round, stride, count, i
    do round = 1, 100
      stride = 2 + mod(round, 5)
      count = 3 + mod(round, 7)
      a = [(1000 * thread + i + round, i = 1, 60)]
      b = -1
      ! Puts into this process's own part of the window and gets it back.
      disp = 40 * (thread - 1)
      call MPI_Put(a(1::stride), count, MPI_INTEGER, me, disp, count, MPI_INTEGER, win)
      call MPI_Win_flush(me, win)
      call MPI_Rget(b(60:1:-stride), count, MPI_INTEGER, me, disp, count, MPI_INTEGER, win, r)
      call MPI_Wait(r, MPI_STATUS_IGNORE)
      do i = 0, count - 1
        if (b(60 - i * stride) /= a(1 + i * stride)) wrong = wrong + 1
      end do
      c = -1
      call MPI_Sendrecv(a(2::stride), count, MPI_INTEGER, mod(me + 1, n), thread, c(1::2), count, MPI_INTEGER, mod(me + n - 1, n), thread, &
                        comm(thread), MPI_STATUS_IGNORE)
      if (any(c(1:2 * count:2) /= a(2:1 + count * stride:stride)) .or. any(c(2::2) /= -1)) wrong = wrong + 1
      c = -1
      call MPI_Iallreduce(a(1::stride), c(1::2), count, MPI_INTEGER, MPI_SUM, comm(thread), r)
      call MPI_Wait(r, MPI_STATUS_IGNORE)
      if (any(c(1:2 * count:2) /= n * a(1:1 + (count - 1) * stride:stride)) .or. any(c(2::2) /= -1)) wrong = wrong + 1
    end do
  end subroutine
end program
