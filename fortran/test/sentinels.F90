! Tests the constants that MPI recognizes by their addresses: MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE,
! MPI_STATUSES_IGNORE, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY.
!
! np: 1 3
! timeout: 60
! bindings: f08 mpi mpif
! with: check.F90
#include "binding.inc"

program sentinels
  use check
  MODULE_MPI
  implicit none
  INCLUDE_MPI
  integer :: ierror, me, n, next, before, value, i
  integer, asynchronous :: a(4), b(4)
  integer(kind=MPI_ADDRESS_KIND) :: place(1), size, disp
  DATATYPE :: t
  REQUEST :: r(2)
  COMM :: ring
  WIN :: w
  logical :: weighted
  integer :: into, out_of, sources(4), weights(4), to(4), to_weights(4)

  call MPI_Init(ierror)
  call check_begin()
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)
  next = mod(me + 1, n)
  before = mod(me + n - 1, n)

  ! MPI_BOTTOM with a datatype of absolute addresses, in both directions, in messages and in window calls.
  a = [me, me + 1, me + 2, me + 3]
  b = -1
  call MPI_Get_address(a(2), place(1), ierror)
  call MPI_Type_create_hindexed(1, [2], place, MPI_INTEGER, t, ierror)
  call MPI_Type_commit(t, ierror)
  call MPI_Sendrecv(MPI_BOTTOM, 1, t, next, 0, b, 4, MPI_INTEGER, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call expect(b, [before + 1, before + 2, -1, -1], 'sendrecv from MPI_BOTTOM')
  size = 4 * integer_bytes
  disp = 0
  b = -1
  call MPI_Win_create(b, size, integer_bytes, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierror)
  call MPI_Win_fence(0, w, ierror)
  call MPI_Put(MPI_BOTTOM, 1, t, next, disp, 2, MPI_INTEGER, w, ierror)
  call MPI_Win_fence(0, w, ierror)
  call expect(b, [before + 1, before + 2, -1, -1], 'put from MPI_BOTTOM')
  b = [70, 71, 72, 73]
  call MPI_Win_fence(0, w, ierror)
  disp = 1
  call MPI_Get(MPI_BOTTOM, 1, t, next, disp, 2, MPI_INTEGER, w, ierror)
  call MPI_Win_fence(0, w, ierror)
  call expect(a, [me, 71, 72, me + 3], 'get into MPI_BOTTOM')
  call MPI_Win_free(w, ierror)
  call MPI_Type_free(t, ierror)
  call MPI_F_sync_reg(a)

  ! MPI_IN_PLACE.
  value = me + 1
  call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call expect(value, n * (n + 1) / 2, 'allreduce in place')
  if (me == 0) then
    value = 5
    call MPI_Reduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
    call expect(value, 5 * n, 'reduce in place')
  else
    value = 5
    call MPI_Reduce(value, MPI_IN_PLACE, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  end if

  ! Ignored statuses.
  call MPI_Isend(me, 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD, r(1), ierror)
  call MPI_Irecv(value, 1, MPI_INTEGER, before, 1, MPI_COMM_WORLD, r(2), ierror)
  call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierror)
  call MPI_F_sync_reg(value)
  call expect(value, before, 'waitall without statuses')
  call MPI_Isend(me, 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD, r(1), ierror)
  call MPI_Recv(value, 1, MPI_INTEGER, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierror)
  call expect(value, before, 'recv without status')

  ! Graphs without weights, with weights, and without edges.
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [before], MPI_UNWEIGHTED, 1, [next], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., &
                                      ring, ierror)
  call MPI_Dist_graph_neighbors_count(ring, into, out_of, weighted, ierror)
  call expect(into == 1 .and. out_of == 1 .and. .not. weighted, 'a graph without weights')
  call MPI_Dist_graph_neighbors(ring, 1, sources, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, ierror)
  call expect(sources(1), before, 'source')
  call expect(to(1), next, 'destination')
  call MPI_Comm_free(ring, ierror)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [before], [me + 10], 1, [next], [next + 10], MPI_INFO_NULL, .false., ring, ierror)
  call MPI_Dist_graph_neighbors_count(ring, into, out_of, weighted, ierror)
  call expect(weighted, 'a graph with weights')
  call MPI_Dist_graph_neighbors(ring, 1, sources, weights, 1, to, to_weights, ierror)
  call expect(weights(1), me + 10, 'weight')
  call expect(to_weights(1), next + 10, 'weight of the destination')
  call MPI_Comm_free(ring, ierror)
  i = 0
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, i, sources, MPI_WEIGHTS_EMPTY, i, to, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., &
                                      ring, ierror)
  call MPI_Dist_graph_neighbors_count(ring, into, out_of, weighted, ierror)
  call expect(into == 0 .and. out_of == 0 .and. weighted, 'a graph with weights but without edges')
  call MPI_Comm_free(ring, ierror)
  call check_end()
end program
