! The functions of ULFM (mpi_ext, mpi_f08_ext, mpif-ext.h): a rank fails, the others agree, revoke and shrink.
!
! np: 3
! env: GOMPIRMA_FT=1
! timeout: 60
! bindings: f08 mpi mpif
! with: check.F90
#include "binding.inc"
#if defined(USE_F08)
#define MODULE_EXT use mpi_f08_ext
#define INCLUDE_EXT
#elif defined(USE_MPI)
#define MODULE_EXT use mpi_ext
#define INCLUDE_EXT
#else
#define MODULE_EXT
#define INCLUDE_EXT include 'mpif-ext.h'
#endif

program failures
  use, intrinsic :: iso_c_binding, only: c_int
  use check
  MODULE_MPI
  MODULE_EXT
  implicit none
  INCLUDE_MPI
  INCLUDE_EXT
  interface
    integer(c_int) function c_raise(signal) bind(C, name='raise')
      import
      integer(c_int), value :: signal
    end function
  end interface
  integer, parameter :: minus_nine = not(8) ! all bits but one
  integer :: ierror, class, rank, n, bits, flag_bits
  integer(kind=MPI_ADDRESS_KIND) :: is_tolerant
  logical :: flag
  COMM :: c, survivors, others
  GROUP :: failed
  REQUEST :: request

  call MPI_Init(ierror)
  call check_begin()
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, c, ierror)
  call MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_rank(c, rank, ierror)
  call MPI_Comm_get_attr(c, MPIX_FT, is_tolerant, flag, ierror)
  call expect(flag .and. is_tolerant == 1, 'the attribute MPIX_FT')

  bits = minus_nine
  if (rank == 1) bits = -2
  call MPIX_Comm_agree(c, bits, ierror)
  call expect(ierror, MPI_SUCCESS, 'agree')
  call expect(bits, iand(minus_nine, -2), 'the flag of agree')
  bits = -1
  if (rank == 2) bits = 6
  call MPIX_Comm_iagree(c, bits, request, ierror)
  call expect(ierror, MPI_SUCCESS, 'iagree')
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call expect(bits, 6, 'the flag of iagree')

  call MPI_Barrier(c, ierror)
  if (rank == 2) n = c_raise(9_c_int)
  do
    call MPI_Barrier(c, ierror)
    if (ierror /= MPI_SUCCESS) exit
  end do
  call MPI_Error_class(ierror, class, n)
  call expect(class == MPIX_ERR_PROC_FAILED, 'a barrier without a member')
  call MPIX_Comm_get_failed(c, failed, ierror)
  call MPI_Group_size(failed, n, ierror)
  call expect(n, 1, 'get_failed')
  call MPI_Group_free(failed, ierror)
  call MPIX_Comm_ack_failed(c, 1, n, ierror)
  call expect(n, 1, 'ack_failed')
  call MPIX_Comm_failure_ack(c, ierror)
  call expect(ierror, MPI_SUCCESS, 'failure_ack')
  call MPIX_Comm_failure_get_acked(c, failed, ierror)
  call MPI_Group_size(failed, n, ierror)
  call expect(n, 1, 'failure_get_acked')
  call MPI_Group_free(failed, ierror)

  call MPIX_Comm_is_revoked(c, flag, ierror)
  call expect(.not. flag, 'not revoked')
  flag_bits = 3
  call MPIX_Comm_agree(c, flag_bits, ierror)
  call MPIX_Comm_revoke(c, ierror)
  call expect(ierror, MPI_SUCCESS, 'revoke')
  call MPIX_Comm_is_revoked(c, flag, ierror)
  call expect(flag, 'revoked')
  call MPI_Barrier(c, ierror)
  call MPI_Error_class(ierror, class, n)
  call expect(class == MPIX_ERR_REVOKED, 'a barrier on a revoked communicator')

  call MPIX_Comm_shrink(c, survivors, ierror)
  call expect(ierror, MPI_SUCCESS, 'shrink')
  call MPI_Comm_size(survivors, n, ierror)
  call expect(n, 2, 'size of the communicator of the survivors')
  call MPIX_Comm_ishrink(c, others, request, ierror)
  call expect(ierror, MPI_SUCCESS, 'ishrink')
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call MPI_Allreduce(1, n, 1, MPI_INTEGER, MPI_SUM, others, ierror)
  call expect(n, 2, 'sum over the communicator of ishrink')
  call MPI_Comm_free(others, ierror)
  call MPI_Comm_free(c, ierror)
  call check_end(VALUE_OF(survivors))
end program
