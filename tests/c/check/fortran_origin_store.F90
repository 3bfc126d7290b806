! clean: The program assigns to the origin buffer of a put after a local flush.
! race: The program assigns to the origin buffer of a put before the put is completed (MPI-5.0 12.3).
!
! np: 2
! ref: mpich
! find: buffer rank=0 lines=first,second needs=accesses
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
      call MPI_Put(value, 1, MPI_INTEGER, 1, 0_aint, 1, MPI_INTEGER, win) ! @first
#ifndef WRONG
      call MPI_Win_flush_local(1, win)
#endif
      value = 2 ! @second
   end if
   call MPI_Win_unlock_all(win)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program main
