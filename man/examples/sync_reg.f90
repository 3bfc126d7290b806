! The compiler cannot see that MPI_Wait changes the buffer of MPI_Irecv, because the buffer is no argument of MPI_Wait.
program receive
    use mpi_f08
    implicit none
    integer :: rank, size, value
    type(MPI_Request) :: request
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    value = -1
    call MPI_Irecv(value, 1, MPI_INTEGER, modulo(rank - 1, size), 0, &
        MPI_COMM_WORLD, request)
    call MPI_Send(rank, 1, MPI_INTEGER, modulo(rank + 1, size), 0, &
        MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(value) ! value is read from memory again
    print '(a, i0, a, i0)', 'rank ', rank, ' has received ', value
    call MPI_Finalize()
end program
