! clean: Two threads of rank 0 put to one integer and flush in an OpenMP critical section (MPI-5.0 12.7).
! race: Two threads of rank 0 put to one integer in an OpenMP critical section, but flush after it (MPI-5.0 12.7).
!
! np: 2
! ref: mpich
! find: race window=q target=1 lines=put,put needs=calls
program main
   use mpi_f08
   use omp_lib
   implicit none
   integer, parameter :: aint = MPI_ADDRESS_KIND
   integer :: rank, provided
   integer, save, asynchronous :: mem(8) = 0, values(2) = [1, 2]
   type(MPI_Win) :: win
   call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
   if (provided < MPI_THREAD_MULTIPLE) call MPI_Abort(MPI_COMM_WORLD, 1)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Win_create(mem, 32_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
   call MPI_Win_set_name(win, 'q')
   call MPI_Win_lock_all(0, win)
   if (rank == 0) then
!$omp parallel num_threads(2)
!$omp critical
      call MPI_Put(values(1 + omp_get_thread_num()), 1, MPI_INTEGER, 1, 0_aint, 1, MPI_INTEGER, win) ! @put
#ifdef WRONG
!$omp end critical
      call MPI_Win_flush(1, win)
#else
      call MPI_Win_flush(1, win)
!$omp end critical
#endif
!$omp end parallel
   end if
   call MPI_Win_unlock_all(win)
   call MPI_Win_free(win)
   call MPI_Finalize()
end program
