! clean: Two origins put under exclusive locks (MPI-5.0 12.5.3).
! race: Two origins put under shared locks, which do not exclude each other (MPI-5.0 12.5.3).
!
! np: 3
! ref: mpich
! find: race window=q target=2 lines=put,put needs=calls
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
   if (rank < 2) then
#ifdef WRONG
      call MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win)
#else
      call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win)
#endif
      call MPI_Put(value, 1, MPI_INTEGER, 2, 0_aint, 1, MPI_INTEGER, win) ! @put
      call MPI_Win_unlock(2, win)
   end if
   call MPI_Win_free(win)
   call MPI_Finalize()
end program main
