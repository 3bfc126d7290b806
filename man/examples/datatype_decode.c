/* Prints how a datatype was constructed, and frees the datatypes that it gets. */
#include <mpi.h>
#include <stdio.h>

static void describe(MPI_Datatype type) {
    enum { MOST = 10 };
    int integers[MOST], ni, na, nd, combiner;
    MPI_Aint addresses[MOST];
    MPI_Datatype types[MOST];
    MPI_Type_get_envelope(type, &ni, &na, &nd, &combiner);
    if (combiner == MPI_COMBINER_NAMED) {
        char name[MPI_MAX_OBJECT_NAME];
        MPI_Type_get_name(type, name, &ni);
        printf("%s\n", name);
        return;
    }
    if (ni > MOST || na > MOST || nd > MOST)
        return;
    MPI_Type_get_contents(
        type, MOST, MOST, MOST, integers, addresses, types);
    if (combiner == MPI_COMBINER_VECTOR)
        printf("%d blocks of %d, each %d after the previous one, of ",
            integers[0], integers[1], integers[2]);
    else
        printf("combiner %d, of ", combiner);
    for (int i = 0; i < nd; i++) {
        describe(types[i]);
        MPI_Type_get_envelope(types[i], &ni, &na, &ni, &combiner);
        if (combiner != MPI_COMBINER_NAMED)
            MPI_Type_free(&types[i]);
    }
}

int main(int argc, char **argv) {
    MPI_Datatype column;
    MPI_Init(&argc, &argv);
    MPI_Type_vector(10, 1, 20, MPI_DOUBLE, &column);
    describe(column);
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}
