/* A library keeps the datatype of its caller for later. The caller may free its handle at once. */
#include <mpi.h>
#include <stdio.h>

static MPI_Datatype kept;

static void library_begin(MPI_Datatype type) { MPI_Type_dup(type, &kept); }

static void library_sum_first(const int *data) {
    int column[2], sum, at = 0, bytes;
    char packed[100];
    MPI_Pack_size(1, kept, MPI_COMM_WORLD, &bytes);
    MPI_Pack(data, 1, kept, packed, bytes, &at, MPI_COMM_WORLD);
    at = 0;
    MPI_Unpack(packed, bytes, &at, column, 2, MPI_INT, MPI_COMM_WORLD);
    sum = column[0] + column[1];
    printf("the sum of the column is %d\n", sum);
    MPI_Type_free(&kept);
}

int main(int argc, char **argv) {
    const int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
    MPI_Datatype column;
    MPI_Init(&argc, &argv);
    MPI_Type_vector(2, 1, 3, MPI_INT, &column);
    MPI_Type_commit(&column); /* the copy is also committed */
    library_begin(column);
    MPI_Type_free(&column);
    library_sum_first(&matrix[0][0]);
    MPI_Finalize();
    return 0;
}
