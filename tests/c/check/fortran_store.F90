! clean: Rank 1 assigns to its window memory after the fence that completes the put.
! race: Rank 1 assigns to its window memory while rank 0 puts to it (MPI-5.0 12.7).
!
! np: 2
! ref: mpich
! find: race window=q target=1 lines=first,second needs=accesses
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
   if (rank == 0) call MPI_Put(value, 1, MPI_INTEGER, 1, 0_aint, 1, MPI_INTEGER, win) ! @first
#ifndef WRONG
   call MPI_Win_fence(0, win)
#endif
   if (rank == 1) mem(1) = 3 ! @second
   call MPI_Win_fence(0, win)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program main
