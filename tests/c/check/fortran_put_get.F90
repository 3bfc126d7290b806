! clean: One origin puts and flushes, and another gets after a barrier (MPI-5.0 12.5.4).
! race: One origin puts and flushes only locally, which does not complete the put at the target. Another gets after a
! barrier (MPI-5.0 12.5.4).
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
   if (rank == 0) then
      call MPI_Put(value, 1, MPI_INTEGER, 2, 0_aint, 1, MPI_INTEGER, win) ! @first
#ifdef WRONG
      call MPI_Win_flush_local(2, win)
#else
      call MPI_Win_flush(2, win)
#endif
   end if
   call MPI_Barrier(MPI_COMM_WORLD)
   if (rank == 1) call MPI_Get(value, 1, MPI_INTEGER, 2, 0_aint, 1, MPI_INTEGER, win) ! @second
   call MPI_Win_unlock_all(win)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program main
