! clean: Rank 0 puts before it broadcasts, and rank 1 puts after it has received the broadcast (MPI-5.0 6.4).
! race: Rank 0 puts, then rank 1 broadcasts and puts: the root of a broadcast waits for no member (MPI-5.0 6.4).
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
   integer :: word = 0

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Win_create(mem, 32_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
   call MPI_Win_set_name(win, 'q')
   call MPI_Win_lock_all(0, win)
   if (rank == 0) then
      call MPI_Put(value, 1, MPI_INTEGER, 2, 0_aint, 1, MPI_INTEGER, win) ! @first
      call MPI_Win_flush(2, win)
   end if
#ifdef WRONG
   call MPI_Bcast(word, 1, MPI_INTEGER, 1, MPI_COMM_WORLD)
#else
   call MPI_Bcast(word, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
#endif
   if (rank == 1) call MPI_Put(value, 1, MPI_INTEGER, 2, 0_aint, 1, MPI_INTEGER, win) ! @second
   call MPI_Win_unlock_all(win)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program main
