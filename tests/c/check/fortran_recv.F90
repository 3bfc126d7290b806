! clean: Rank 2 receives into its window memory after the fence that completes the put.
! race: Rank 2 receives into an integer of its window memory while rank 0 puts to it (MPI-5.0 12.7).
!
! np: 3
! ref: mpich
! find: race window=q target=2 lines=first,second needs=calls
program main
   use mpi_f08
   implicit none
   integer, parameter :: aint = MPI_ADDRESS_KIND
   integer, save, asynchronous :: mem(8) = 0
   type(MPI_Win) :: win
   integer :: rank
   integer, asynchronous :: value = 1

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Win_create(mem, 32_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
   call MPI_Win_set_name(win, 'q')
   call MPI_Win_fence(0, win)
   if (rank == 0) call MPI_Put(value, 1, MPI_INTEGER, 2, 0_aint, 1, MPI_INTEGER, win) ! @first
#ifndef WRONG
   call MPI_Win_fence(0, win)
#endif
   if (rank == 1) call MPI_Send(value, 1, MPI_INTEGER, 2, 0, MPI_COMM_WORLD)
   if (rank == 2) call MPI_Recv(mem, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ! @second
   call MPI_Win_fence(0, win)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program main
