! clean: A receive into the origin buffer of a put starts after the put's request is completed (MPI-5.0 12.3.5).
! race: A receive into the origin buffer of a put starts before the put's request is completed (MPI-5.0 12.3.5).
!
! np: 2
! ref: mpich
! find: buffer rank=0 lines=first,second needs=calls
program main
   use mpi_f08
   implicit none
   integer, parameter :: aint = MPI_ADDRESS_KIND
   integer, save, asynchronous :: mem(8) = 0
   type(MPI_Win) :: win
   integer :: rank
   integer, asynchronous :: value = 1
   integer :: other = 2
   type(MPI_Request) :: request

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Win_create(mem, 32_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
   call MPI_Win_set_name(win, 'q')
   call MPI_Win_lock_all(0, win)
   if (rank == 0) then
      call MPI_Rput(value, 1, MPI_INTEGER, 1, 0_aint, 1, MPI_INTEGER, win, request) ! @first
#ifdef WRONG
      call MPI_Recv(value, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ! @second
      call MPI_Wait(request, MPI_STATUS_IGNORE)
#else
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call MPI_Recv(value, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
#endif
   end if
   if (rank == 1) call MPI_Send(other, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD)
   call MPI_Win_unlock_all(win)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program main
