! Messages: buffered, synchronous and ready sends, matched probes, MPI_Sendrecv_replace, cancelled receives, partitioned
! communication. With mpi_f08, messages are also sent from sections and received into sections.
!
! np: 2
! timeout: 60
! bindings: f08 mpi mpif
! with: check.F90
#include "binding.inc"

program messages
  use check
  use, intrinsic :: iso_c_binding
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  integer :: ierror, me, other, count, i
  integer, asynchronous :: a(6), b(6), c(4, 3)
  integer, target, asynchronous :: buffer(2000)
  logical :: flag
  REQUEST :: r, r2
  MESSAGE :: m
  STATUS(s)
#ifdef USE_F08
  type(C_PTR) :: back
#else
  integer :: back
#endif

  call MPI_Init(ierror)
  call check_begin()
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  other = 1 - me
  a = [(10 * me + i, i = 1, 6)]

  ! Buffered sends.
  call MPI_Buffer_attach(buffer, 8000, ierror)
  b = 0
  call MPI_Bsend(a, 6, MPI_INTEGER, other, 1, MPI_COMM_WORLD, ierror)
  call MPI_Recv(b, 6, MPI_INTEGER, other, 1, MPI_COMM_WORLD, s, ierror)
  call expect(b, [(10 * other + i, i = 1, 6)], 'bsend')
  count = -1
#ifdef USE_F08
  call MPI_Buffer_detach(back, count, ierror)
  call expect(c_associated(back, c_loc(buffer)), 'buffer_detach: address')
#else
  back = 99
  call MPI_Buffer_detach(back, count, ierror)
  call expect(back, 99, 'buffer_detach: nothing is written')
#endif
  call expect(count, 8000, 'buffer_detach: size')

  ! Buffered sends with MPI_BUFFER_AUTOMATIC.
  call MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0, ierror)
  call MPI_Bsend(a, 6, MPI_INTEGER, other, 1, MPI_COMM_WORLD, ierror)
  call MPI_Recv(b, 6, MPI_INTEGER, other, 1, MPI_COMM_WORLD, s, ierror)
  call MPI_Buffer_detach(back, count, ierror)
  call expect(count, 0, 'buffer_detach of an automatic one: size')
#ifdef USE_F08
  call expect(c_associated(back, c_loc(MPI_BUFFER_AUTOMATIC)), 'buffer_detach of an automatic one')
#endif

  ! A matched probe.
  call MPI_Isend(a, 3, MPI_INTEGER, other, 2, MPI_COMM_WORLD, r, ierror)
  call MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, m, s, ierror)
  call expect(m /= MPI_MESSAGE_NULL, 'mprobe gives a message')
  call expect(SOURCE_OF(s), other, 'mprobe: source')
  call expect(TAG_OF(s), 2, 'mprobe: tag')
  call MPI_Get_count(s, MPI_INTEGER, count, ierror)
  call expect(count, 3, 'mprobe: count')
  b = 0
  call MPI_Mrecv(b, 3, MPI_INTEGER, m, s, ierror)
  call expect(b, [10 * other + 1, 10 * other + 2, 10 * other + 3, 0, 0, 0], 'mrecv')
  call expect(m == MPI_MESSAGE_NULL, 'mrecv releases the message')
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierror)
  call MPI_Improbe(other, 77, MPI_COMM_WORLD, flag, m, s, ierror)
  call expect(.not. flag, 'improbe of nothing')

  ! Synchronous mode, and MPI_Sendrecv_replace.
  call MPI_Irecv(b, 6, MPI_INTEGER, other, 3, MPI_COMM_WORLD, r, ierror)
  call MPI_Ssend(a, 6, MPI_INTEGER, other, 3, MPI_COMM_WORLD, ierror)
  call MPI_Wait(r, s, ierror)
  call MPI_F_sync_reg(b)
  call expect(b(6), 10 * other + 6, 'ssend')
  b = a
  call MPI_Sendrecv_replace(b, 6, MPI_INTEGER, other, 4, other, 4, MPI_COMM_WORLD, s, ierror)
  call expect(b, [(10 * other + i, i = 1, 6)], 'sendrecv_replace')
  b = 0
  call MPI_Isendrecv(a, 6, MPI_INTEGER, other, 5, b, 6, MPI_INTEGER, other, 5, MPI_COMM_WORLD, r, ierror)
  call MPI_Wait(r, s, ierror)
  call MPI_F_sync_reg(b)
  call expect(b, [(10 * other + i, i = 1, 6)], 'isendrecv')

  ! A cancelled receive.
  call MPI_Irecv(b, 6, MPI_INTEGER, other, 99, MPI_COMM_WORLD, r, ierror)
  call MPI_Cancel(r, ierror)
  call MPI_Wait(r, s, ierror)
  call MPI_Test_cancelled(s, flag, ierror)
  call expect(flag, 'test_cancelled')

  ! Partitioned communication into the columns of an array, or (mpi_f08) into the columns of a section.
  c = 0
  call MPI_Psend_init(a, 3, 2, MPI_INTEGER, other, 6, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierror)
#ifdef USE_F08
  call MPI_Precv_init(c(1:4:2, :), 3, 2, MPI_INTEGER, other, 6, MPI_COMM_WORLD, MPI_INFO_NULL, r2, ierror)
#else
  call MPI_Precv_init(c, 3, 2, MPI_INTEGER, other, 6, MPI_COMM_WORLD, MPI_INFO_NULL, r2, ierror)
#endif
  call MPI_Start(r, ierror)
  call MPI_Start(r2, ierror)
  call MPI_Pready(1, r, ierror)
  call MPI_Pready_list(2, [0, 2], r, ierror)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierror)
  call MPI_Wait(r2, MPI_STATUS_IGNORE, ierror)
  call MPI_F_sync_reg(c)
#ifdef USE_F08
  call expect(reshape(c(1:4:2, :), [6]), [(10 * other + i, i = 1, 6)], 'partitions of a section')
  call expect(all(c(2:4:2, :) == 0), 'partitions: the others')
#else
  call expect(reshape(c, [6]), [(10 * other + i, i = 1, 6)], 'partitions')
#endif
  call MPI_Request_free(r, ierror)
  call MPI_Request_free(r2, ierror)
  call check_end()
end program
