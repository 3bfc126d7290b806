! Heat on a plate, with mpi_f08: each process has a block of the plate and puts its edges into its neighbours' blocks.
!
!     gompifort -O2 heat_f08.f90 -o heat_f08
!     gompirun -n 4 ./heat_f08 [NX NY STEPS]
!
! Two of the four edges are columns, which are contiguous in memory. The other two are rows, whose elements are not
! contiguous. The call is the same: MPI_Put gets the section u(1, 1:ny) as its buffer, and transfers exactly its
! elements without a copy. A datatype describes their positions in the neighbour's block.
!
! np: 1 2 4 6
! timeout: 60
! bindings: f08
program heat_f08
  use, intrinsic :: iso_c_binding, only: C_PTR, c_f_pointer
  use, intrinsic :: iso_fortran_env, only: real64, error_unit
  use mpi_f08
  implicit none

  integer :: nx_all = 60, ny_all = 44, steps = 200 ! points of the whole plate
  integer :: nx, ny                                ! points of this process's block
  integer :: mx, my                                ! maxima of nx and ny, for which every process has memory
  integer :: first_x, first_y                      ! indices of the block's first point in the whole plate, from 1
  integer :: west_nx, south_ny                     ! points of the neighbours' blocks
  integer :: dims(2), coords(2), west, east, south, north, me, n, ignored
  type(MPI_Comm) :: grid
  type(MPI_Win) :: win
  type(MPI_Datatype) :: row
  type(C_PTR) :: base
  real(real64), pointer, asynchronous :: u(:, :, :) ! block with a margin of one point, for the old and the new step
  real(real64), allocatable :: serial(:, :)
  real(real64) :: worst
  integer(kind=MPI_ADDRESS_KIND) :: bytes
  integer :: step, now, next

  call MPI_Init()
  call read_arguments()
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  dims = 0
  call MPI_Dims_create(n, 2, dims)
  if (dims(1) > nx_all .or. dims(2) > ny_all) then
    write (error_unit, '(a,i0,a,i0,a)') 'heat_f08: the plate is too small for ', dims(1), ' x ', dims(2), ' processes'
    call MPI_Abort(MPI_COMM_WORLD, 2)
  end if
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .false., grid)
  call MPI_Comm_rank(grid, me)
  call MPI_Cart_coords(grid, me, 2, coords)
  call MPI_Cart_shift(grid, 0, 1, west, east)   ! MPI_PROC_NULL at the edge of the plate: a put to it does nothing
  call MPI_Cart_shift(grid, 1, 1, south, north)
  call part(nx_all, dims(1), coords(1), first_x, nx)
  call part(ny_all, dims(2), coords(2), first_y, ny)
  call part(nx_all, dims(1), coords(1) - 1, ignored, west_nx)
  call part(ny_all, dims(2), coords(2) - 1, ignored, south_ny)
  mx = (nx_all + dims(1) - 1) / dims(1)
  my = (ny_all + dims(2) - 1) / dims(2)

  ! MPI allocates the block as window memory, which other processes can access fastest.
  bytes = 2 * (mx + 2) * (my + 2) * 8
  call MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, grid, base, win)
  call c_f_pointer(base, u, [mx + 2, my + 2, 2])
  u(0:, 0:, 1:) => u
  call MPI_Type_vector(ny, 1, mx + 2, MPI_REAL8, row) ! ny points of a row of the neighbour's block
  call MPI_Type_commit(row)

  call MPI_Win_fence(MPI_MODE_NOPRECEDE, win)
  call begin(u(0:nx + 1, 0:ny + 1, 1), first_x, first_y)
  u(:, :, 2) = u(:, :, 1)
  now = 1
  do step = 1, steps
    call MPI_Win_fence(0, win) ! the blocks are computed
    call MPI_Put(u(1:nx, 1, now), nx, MPI_REAL8, south, at(1, south_ny + 1), nx, MPI_REAL8, win)
    call MPI_Put(u(1:nx, ny, now), nx, MPI_REAL8, north, at(1, 0), nx, MPI_REAL8, win)
    call MPI_Put(u(1, 1:ny, now), ny, MPI_REAL8, west, at(west_nx + 1, 1), 1, row, win)
    call MPI_Put(u(nx, 1:ny, now), ny, MPI_REAL8, east, at(0, 1), 1, row, win)
    call MPI_Win_fence(0, win) ! the neighbours' edges have arrived
    next = 3 - now
    call relax(u(0:nx + 1, 0:ny + 1, now), u(0:nx + 1, 0:ny + 1, next))
    now = next
  end do
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)

  ! The same computation serially, on every process.
  allocate (serial(0:nx_all + 1, 0:ny_all + 1))
  call solve(serial)
  worst = maxval(abs(u(1:nx, 1:ny, now) - serial(first_x:first_x + nx - 1, first_y:first_y + ny - 1)))
  call MPI_Allreduce(MPI_IN_PLACE, worst, 1, MPI_REAL8, MPI_MAX, grid)
  if (me == 0) then
    print '(a,i0,a,i0,a,i0,a,i0,a,i0,a)', 'heat_f08: ', nx_all, ' x ', ny_all, ' points, ', steps, ' steps, ', &
          dims(1), ' x ', dims(2), ' processes'
    print '(a,f8.4)', 'in the middle: ', serial(nx_all / 2, ny_all / 2)
    print '(a,es9.2)', 'largest difference from the serial solution: ', worst
  end if
  call MPI_Type_free(row)
  call MPI_Win_free(win)
  call MPI_Finalize()
  if (worst > 1e-12_real64) stop 1 ! optimizers may round differently

contains

  ! part returns the index of the first point of part i of p, and the number of points of this part.
  pure subroutine part(all, p, i, first, count)
    integer, intent(in) :: all, p, i
    integer, intent(out) :: first, count
    count = all / p + merge(1, 0, i < mod(all, p))
    first = i * (all / p) + min(i, mod(all, p)) + 1
  end subroutine

  ! at returns the displacement of point (i, j) in a window; it is the same for every process.
  pure integer(kind=MPI_ADDRESS_KIND) function at(i, j)
    integer, intent(in) :: i, j
    at = i + int(mx + 2, MPI_ADDRESS_KIND) * (j + int(my + 2, MPI_ADDRESS_KIND) * (now - 1))
  end function

  ! begin initializes a block of the plate: hot on one side, cold on the other sides. The first puts overwrite the
  ! margins between blocks.
  pure subroutine begin(v, x, y)
    real(real64), intent(out) :: v(0:, 0:)
    integer, intent(in) :: x, y
    integer :: i, j
    do j = 0, ubound(v, 2)
      do i = 0, ubound(v, 1)
        v(i, j) = merge(100, 0, x + i == 1) + sin(0.1d0 * (x + i) * (y + j))
      end do
    end do
  end subroutine

  ! relax makes each point the mean of its neighbours.
  pure subroutine relax(from, to)
    real(real64), intent(in) :: from(0:, 0:)
    real(real64), intent(inout) :: to(0:, 0:)
    integer :: i, j
    do j = 1, ubound(from, 2) - 1
      do i = 1, ubound(from, 1) - 1
        to(i, j) = 0.25d0 * (from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1))
      end do
    end do
  end subroutine

  subroutine solve(v)
    real(real64), intent(out) :: v(0:, 0:)
    real(real64) :: w(0:ubound(v, 1), 0:ubound(v, 2))
    integer :: k
    call begin(v, 1, 1)
    w = v
    do k = 1, steps
      call relax(v, w)
      v = w
    end do
  end subroutine

  subroutine read_arguments()
    character(len=20) :: text
    integer :: i, number, bad
    do i = 1, command_argument_count()
      call get_command_argument(i, text)
      read (text, *, iostat=bad) number
      if (bad /= 0 .or. number < 1 .or. number > 100000 .or. i > 3) then
        write (error_unit, '(3a)') 'heat_f08: "', trim(text), '" is none of: NX NY STEPS, each a number from 1 to 100000'
        call MPI_Abort(MPI_COMM_WORLD, 2)
      end if
      select case (i)
      case (1)
        nx_all = number
      case (2)
        ny_all = number
      case (3)
        steps = number
      end select
    end do
  end subroutine
end program
