! A matrix product in the style of coarrays: every process has some columns of A, B and C, and reads the columns of A of
! the other processes. It reads them in two ways: with MPI_Get, which also works across nodes, and through a pointer,
! because the window is shared memory.
!
!     gompifort -O2 matmul_coarray.f90 -o matmul_coarray
!     gompirun -n 4 ./matmul_coarray [N]
!
! C(:, mine) = A * B(:, mine), which needs all columns of A. A program with coarrays would read the columns of process p
! as a(:, :)[p]; here these columns are in p's window.
!
! np: 1 2 4
! timeout: 60
! bindings: f08
program matmul_coarray
  use, intrinsic :: iso_c_binding, only: C_PTR, c_f_pointer
  use, intrinsic :: iso_fortran_env, only: real64, error_unit
  use mpi_f08
  implicit none
  integer :: n = 120 ! rows and columns
  integer :: me, processes, p, width, first, k, unit, failed
  type(MPI_Comm) :: node
  type(MPI_Win) :: win
  type(C_PTR) :: base
  integer(kind=MPI_ADDRESS_KIND) :: bytes
  real(real64), pointer, asynchronous :: a(:, :)
  real(real64), pointer :: theirs(:, :)
  real(real64), allocatable :: b(:, :), c(:, :), c2(:, :)
  real(real64), allocatable, asynchronous :: upper(:, :), lower(:, :)

  call MPI_Init()
  call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node)
  call MPI_Comm_rank(node, me)
  call MPI_Comm_size(node, processes)
  call read_argument()
  call columns(me, first, width)

  bytes = int(n, MPI_ADDRESS_KIND) * width * 8
  call MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, node, base, win)
  call c_f_pointer(base, a, [n, width])
  allocate (b(n, width), c(n, width), c2(n, width))
  do k = 1, width
    a(:, k) = [(element(p, first + k - 1), p = 1, n)]
    b(:, k) = [(element(first + k - 1, p), p = 1, n)]
  end do
  call MPI_Win_fence(MPI_MODE_NOPUT, win)

  ! With MPI_Get: gets the upper and the lower half of each process's columns, into sections of two arrays.
  c = 0
  do p = 0, processes - 1
    call columns(p, first, width)
    allocate (upper(n, width), lower(n, width))
    call get_half(upper, 1, n / 2)
    call get_half(lower, n / 2 + 1, n)
    call MPI_Win_fence(MPI_MODE_NOSTORE + MPI_MODE_NOPUT, win)
    c(1:n / 2, :) = c(1:n / 2, :) + matmul(upper(1:n / 2, :), b(first:first + width - 1, :))
    c(n / 2 + 1:, :) = c(n / 2 + 1:, :) + matmul(lower(n / 2 + 1:, :), b(first:first + width - 1, :))
    deallocate (upper, lower)
  end do

  ! With pointers to the other processes' memory: no copy at all.
  c2 = 0
  do p = 0, processes - 1
    call columns(p, first, width)
    call MPI_Win_shared_query(win, p, bytes, unit, base)
    call c_f_pointer(base, theirs, [n, width])
    c2 = c2 + matmul(theirs, b(first:first + width - 1, :))
  end do
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)

  ! The product is known, because element (i, j) of both A and B is i + j.
  call columns(me, first, width)
  failed = 0
  do k = 1, width
    do p = 1, n
      if (max(abs(c(p, k) - known(p, first + k - 1)), abs(c2(p, k) - known(p, first + k - 1))) > 1d-6) failed = failed + 1
    end do
  end do
  call MPI_Allreduce(MPI_IN_PLACE, failed, 1, MPI_INTEGER, MPI_SUM, node)
  if (me == 0) print '(a,i0,a,i0,a,i0,a)', 'matmul_coarray: ', n, ' x ', n, ' on ', processes, ' processes, by get and by pointers'
  if (me == 0) print '(i0,a)', failed, ' wrong elements'
  call MPI_Win_free(win)
  call MPI_Comm_free(node)
  call MPI_Finalize()
  if (failed /= 0) stop 1

contains

  ! get_half reads rows lo to hi of process p's columns into the same rows of x. One call is enough, although the rows
  ! are contiguous neither in x nor in the window.
  subroutine get_half(x, lo, hi)
    real(real64), intent(inout), asynchronous :: x(:, :)
    integer, intent(in) :: lo, hi
    type(MPI_Datatype) :: rows
    integer(kind=MPI_ADDRESS_KIND) :: from
    if (hi < lo .or. width == 0) return
    call MPI_Type_vector(width, hi - lo + 1, n, MPI_DOUBLE_PRECISION, rows)
    call MPI_Type_commit(rows)
    from = lo - 1
    call MPI_Get(x(lo:hi, :), (hi - lo + 1) * width, MPI_DOUBLE_PRECISION, p, from, 1, rows, win)
    call MPI_Type_free(rows)
  end subroutine

  ! columns returns the first column and the number of columns of process q.
  subroutine columns(q, first, count)
    integer, intent(in) :: q
    integer, intent(out) :: first, count
    count = n / processes + merge(1, 0, q < mod(n, processes))
    first = q * (n / processes) + min(q, mod(n, processes)) + 1
  end subroutine

  pure real(real64) function element(i, j)
    integer, intent(in) :: i, j
    element = i + j
  end function

  ! known returns element (i, j) of C: the sum over k of (i + k)(k + j).
  pure real(real64) function known(i, j)
    integer, intent(in) :: i, j
    real(real64) :: s
    s = real(n, real64)
    known = s * i * j + (i + j) * s * (s + 1) / 2 + s * (s + 1) * (2 * s + 1) / 6
  end function

  subroutine read_argument()
    character(len=20) :: text
    integer :: bad
    if (command_argument_count() == 0) return
    call get_command_argument(1, text)
    read (text, *, iostat=bad) n
    if (bad /= 0 .or. n < 1 .or. n > 5000) then
      write (error_unit, '(3a)') 'matmul_coarray: "', trim(text), '" is no N from 1 to 5000'
      call MPI_Abort(MPI_COMM_WORLD, 2)
    end if
  end subroutine
end program
