! Procedures for the tests of this directory: expect checks a value, and check_end prints PASS or the number of errors.
! This module uses the module mpi, whichever binding the test uses, since one program may mix the bindings.
module check
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64
  use mpi
  implicit none
  private
  public :: check_begin, check_end, expect, expect_class, check_rank, check_size

  integer, protected :: check_rank, check_size
  integer, parameter, public :: integer_bytes = storage_size(0) / 8
  integer :: errors = 0

  interface expect
    module procedure expect_true, expect_integer, expect_long, expect_integers, expect_text
  end interface
contains

  ! check_begin determines rank and size for the messages. It must be called after MPI_Init.
  subroutine check_begin()
    integer :: ierror
    call MPI_Comm_rank(MPI_COMM_WORLD, check_rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, check_size, ierror)
  end subroutine

  subroutine fail(text)
    character(len=*), intent(in) :: text
    errors = errors + 1
    if (errors <= 20) write (error_unit, '(a,i0,2a)') 'rank ', check_rank, ': ', text
  end subroutine

  subroutine expect_true(ok, what)
    logical, intent(in) :: ok
    character(len=*), intent(in) :: what
    if (.not. ok) call fail(what)
  end subroutine

  subroutine expect_integer(got, want, what)
    integer(int32), intent(in) :: got, want
    character(len=*), intent(in) :: what
    character(len=40) :: numbers
    write (numbers, '(a,i0,a,i0)') ' is ', got, ', not ', want
    if (got /= want) call fail(what // trim(numbers))
  end subroutine

  subroutine expect_long(got, want, what)
    integer(int64), intent(in) :: got, want
    character(len=*), intent(in) :: what
    character(len=60) :: numbers
    write (numbers, '(a,i0,a,i0)') ' is ', got, ', not ', want
    if (got /= want) call fail(what // trim(numbers))
  end subroutine

  subroutine expect_integers(got, want, what)
    integer, intent(in) :: got(:), want(:)
    character(len=*), intent(in) :: what
    character(len=80) :: numbers
    integer :: i
    if (size(got) /= size(want)) call fail(what // ': other numbers of elements')
    do i = 1, min(size(got), size(want))
      if (got(i) == want(i)) cycle
      write (numbers, '(a,i0,a,i0,a,i0)') ' (', i, ') is ', got(i), ', not ', want(i)
      call fail(what // trim(numbers))
      return
    end do
  end subroutine

  subroutine expect_text(got, want, what)
    character(len=*), intent(in) :: got, want
    character(len=*), intent(in) :: what
    if (got /= want .or. len(got) < len_trim(want)) call fail(what // ' is "' // got // '", not "' // want // '"')
  end subroutine

  ! expect_class checks that an error code belongs to a class.
  subroutine expect_class(code, want, what)
    integer, intent(in) :: code, want
    character(len=*), intent(in) :: what
    integer :: class, ierror
    call MPI_Error_class(code, class, ierror)
    call expect(class, want, what // ': error class')
  end subroutine

  ! check_end adds up the errors of all ranks, or of the members of `comm`, which must have rank 0.
  subroutine check_end(comm)
    integer, intent(in), optional :: comm
    integer :: all, ierror, members
    members = MPI_COMM_WORLD
    if (present(comm)) members = comm
    call MPI_Allreduce(errors, all, 1, MPI_INTEGER, MPI_SUM, members, ierror)
    call MPI_Finalize(ierror)
    if (check_rank == 0) then
      if (all == 0) then
        print '(a)', 'PASS'
      else
        print '(a,i0,a)', 'FAIL: ', all, ' errors'
      end if
    end if
    if (all /= 0) stop 1
  end subroutine
end module
