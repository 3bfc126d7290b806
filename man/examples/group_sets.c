/* Compares the ranks that are even with those that are multiples of 3. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int size, mine, members, result;
    MPI_Group world, even, threes, either;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, (int[1][3]){{0, size - 1, 2}}, &even);
    MPI_Group_range_incl(world, 1, (int[1][3]){{0, size - 1, 3}}, &threes);
    MPI_Group_union(even, threes, &either);
    MPI_Group_size(either, &members);
    MPI_Group_rank(either, &mine);
    MPI_Group_compare(either, even, &result);
    if (mine != MPI_UNDEFINED)
        printf("member %d of %d: the union %s the even ranks\n", mine,
            members, result == MPI_IDENT ? "equals" : "has more than");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    if (result == MPI_CONGRUENT && mine == 0)
        printf("a duplicate has the same ranks\n");
    MPI_Comm_free(&comm);
    MPI_Group_free(&either);
    MPI_Group_free(&threes);
    MPI_Group_free(&even);
    MPI_Group_free(&world);
    MPI_Finalize();
    return 0;
}
