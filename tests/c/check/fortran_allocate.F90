! clean: Rank 1 reads memory from MPI_Win_allocate by a pointer after a barrier that follows the flush.
! race: Rank 1 reads memory from MPI_Win_allocate by a pointer while rank 0 puts to it (MPI-5.0 12.3).
!
! np: 2
! ref: mpich
! find: race window=q target=1 lines=first,second needs=accesses
program main
   use, intrinsic :: iso_c_binding
   use mpi_f08
   implicit none
   integer, parameter :: aint = MPI_ADDRESS_KIND
   integer :: rank
   integer, pointer, asynchronous :: mem(:)
   type(c_ptr) :: base
   type(MPI_Win) :: win
   integer, asynchronous :: value = 3

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Win_allocate(32_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
   call MPI_Win_set_name(win, 'q')
   call c_f_pointer(base, mem, [8])
   call MPI_Win_lock_all(0, win)
   if (rank == 0) then
      call MPI_Put(value, 1, MPI_INTEGER, 1, 0_aint, 1, MPI_INTEGER, win) ! @first
      call MPI_Win_flush(1, win)
   end if
#ifndef WRONG
   call MPI_Barrier(MPI_COMM_WORLD)
#endif
   if (rank == 1) then
      call MPI_Win_sync(win)
      print *, mem(1) == 3 ! @second
   end if
   call MPI_Win_unlock_all(win)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program main
