! clean: One thread of rank 0 puts from an integer and flushes. Another thread stores to the integer after a barrier
! (MPI-5.0 12.3).
! race: One thread of rank 0 puts from an integer and flushes. Another thread stores to the integer without a barrier
! (MPI-5.0 12.3).
!
! np: 2
! ref: mpich
! find: buffer rank=0 lines=first,second needs=accesses
program main
   use mpi_f08
   use omp_lib
   implicit none
   integer, parameter :: aint = MPI_ADDRESS_KIND
   integer :: rank, provided
   integer, save, asynchronous :: mem(8) = 0, value = 0
   type(MPI_Win) :: win
   call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
   if (provided < MPI_THREAD_MULTIPLE) call MPI_Abort(MPI_COMM_WORLD, 1)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Win_create(mem, 32_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
   call MPI_Win_set_name(win, 'q')
   call MPI_Win_lock_all(0, win)
   if (rank == 0) then
!$omp parallel num_threads(2)
      if (omp_get_thread_num() == 0) then
         call MPI_Put(value, 1, MPI_INTEGER, 1, 0_aint, 1, MPI_INTEGER, win) ! @first
         call MPI_Win_flush(1, win)
      end if
#ifndef WRONG
!$omp barrier
#endif
      if (omp_get_thread_num() == 1) value = 3 ! @second
!$omp end parallel
   end if
   call MPI_Win_unlock_all(win)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program
