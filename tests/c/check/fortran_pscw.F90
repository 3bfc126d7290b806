! clean: Two origins get one integer in one exposure epoch (MPI-5.0 12.5.2).
! race: One origin puts to an integer and another gets it in one exposure epoch (MPI-5.0 12.5.2).
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
   type(MPI_Group) :: world, origins, target

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Win_create(mem, 32_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
   call MPI_Win_set_name(win, 'q')
   call MPI_Comm_group(MPI_COMM_WORLD, world)
   call MPI_Group_incl(world, 2, [0, 1], origins)
   call MPI_Group_incl(world, 1, [2], target)
   if (rank == 2) then
      call MPI_Win_post(origins, 0, win)
      call MPI_Win_wait(win)
   else
      call MPI_Win_start(target, 0, win)
#ifdef WRONG
      if (rank == 0) call MPI_Put(value, 1, MPI_INTEGER, 2, 0_aint, 1, MPI_INTEGER, win) ! @first
#else
      if (rank == 0) call MPI_Get(value, 1, MPI_INTEGER, 2, 0_aint, 1, MPI_INTEGER, win)
#endif
      if (rank == 1) call MPI_Get(value, 1, MPI_INTEGER, 2, 0_aint, 1, MPI_INTEGER, win) ! @second
      call MPI_Win_complete(win)
   end if
   call MPI_Group_free(target)
   call MPI_Group_free(origins)
   call MPI_Group_free(world)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program main
