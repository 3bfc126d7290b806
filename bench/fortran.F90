! Measures puts from Fortran for bench/fortran.sh, which compiles it with USE_F08, USE_MPI or USE_MPIF. Runs on two
! ranks.
!
!     fortran count put8|flush|row        loops of 100 and 200 operations between signals, for bench/icount
!     fortran time put8|put8_flush|row    prints the nanoseconds of one operation
!
! row is a put of the array section a(1, :) and a flush. The section has 1024 numbers of 8 bytes with a stride of 16
! bytes. At the target the numbers are contiguous.
#if defined(USE_F08)
#define WIN type(MPI_Win)
#else
#define WIN integer
#endif
program puts
#if defined(USE_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if defined(USE_MPIF)
  include 'mpif.h'
#endif
  interface
    integer(4) function raise(signal) bind(C)
      integer(4), value :: signal
    end function
  end interface
  integer, parameter :: SIGUSR2 = 12, loops = 100
  integer :: ierror, me, n, k, times
  integer(kind=MPI_ADDRESS_KIND) :: size, disp
  integer(8), asynchronous :: value
#if defined(USE_F08)
  real(8), asynchronous :: a(2, 1024)
#else
  real(8) :: a(2, 1024) ! not ASYNCHRONOUS: the compiler would refuse to pass a copy of an ASYNCHRONOUS section
#endif
  character(len=16) :: mode, operation
  double precision :: start, best
  WIN :: w

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call get_command_argument(1, mode)
  call get_command_argument(2, operation)
  size = 8192
  disp = 0
  value = 1
  a = 1
  call window()
  if (me == 0) then
    call MPI_Win_lock_all(0, w, ierror)
    if (mode == 'count') then
      call body(loops)
      call MPI_Win_flush(1, w, ierror)
      n = raise(SIGUSR2)
      call body(loops)
      n = raise(SIGUSR2)
      call MPI_Win_flush(1, w, ierror)
      n = raise(SIGUSR2)
      call body(2 * loops)
      n = raise(SIGUSR2)
    else
      times = 20000
      if (operation == 'row') times = 2000
      best = huge(best)
      do k = 1, 20
        start = MPI_Wtime()
        call body(times)
        best = min(best, (MPI_Wtime() - start) / times)
      end do
      print '(f0.1)', 1d9 * best
    end if
    call MPI_Win_unlock_all(w, ierror)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Win_free(w, ierror)
  call MPI_Finalize(ierror)

contains

  ! Creates the window w with MPI_Win_allocate. The address of its memory is not needed.
  subroutine window()
#if defined(USE_F08)
    block
      use, intrinsic :: iso_c_binding
      type(C_PTR) :: base
      call MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, base, w, ierror)
    end block
#else
    integer(kind=MPI_ADDRESS_KIND) :: base
    call MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, base, w, ierror)
#endif
  end subroutine

  subroutine body(n)
    integer, intent(in) :: n
    integer :: i
    select case (operation)
    case ('put8')
      do i = 1, n
        call MPI_Put(value, 1, MPI_INTEGER8, 1, disp, 1, MPI_INTEGER8, w, ierror)
      end do
    case ('flush')
      do i = 1, n
        call MPI_Win_flush(1, w, ierror)
      end do
    case ('put8_flush')
      do i = 1, n
        call MPI_Put(value, 1, MPI_INTEGER8, 1, disp, 1, MPI_INTEGER8, w, ierror)
        call MPI_Win_flush(1, w, ierror)
      end do
    case ('row')
      do i = 1, n
        call MPI_Put(a(1, :), 1024, MPI_REAL8, 1, disp, 1024, MPI_REAL8, w, ierror)
        call MPI_Win_flush(1, w, ierror)
      end do
    case default
      call MPI_Abort(MPI_COMM_WORLD, 2, ierror)
    end select
  end subroutine
end program
