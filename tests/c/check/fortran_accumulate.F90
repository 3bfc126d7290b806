! clean: Two origins accumulate with MPI_SUM at one integer (MPI-5.0 12.7.1).
! race: Two origins accumulate at one integer, one with MPI_SUM, the other with MPI_MAX. By default concurrent
! accumulates at one location must use the same operation (MPI-5.0 12.2.1).
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
   call MPI_Win_lock_all(0, win)
   if (rank == 0) call MPI_Accumulate(value, 1, MPI_INTEGER, 2, 0_aint, 1, MPI_INTEGER, MPI_SUM, win) ! @first
#ifdef WRONG
   if (rank == 1) call MPI_Accumulate(value, 1, MPI_INTEGER, 2, 0_aint, 1, MPI_INTEGER, MPI_MAX, win) ! @second
#else
   if (rank == 1) call MPI_Accumulate(value, 1, MPI_INTEGER, 2, 0_aint, 1, MPI_INTEGER, MPI_SUM, win)
#endif
   call MPI_Win_unlock_all(win)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program main
