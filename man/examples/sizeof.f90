! Sums real numbers of any kind. MPI_Type_match_size returns the MPI datatype for the size of the variable.
program kinds
    use mpi_f08
    implicit none
    integer, parameter :: wp = selected_real_kind(12)
    real(wp) :: mine, total
    integer :: bytes, rank
    type(MPI_Datatype) :: real_type
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Sizeof(mine, bytes)
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, bytes, real_type)
    mine = 0.5
    call MPI_Allreduce(mine, total, 1, real_type, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) print '(i0, a, f4.1)', bytes, ' bytes, sum ', total
    call MPI_Finalize()
end program
