/* Prints the types of events with the elements of their data, and the clocks that give their times. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    enum { MOST = 10 };
    int provided, count;
    MPI_Count ticks;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_event_get_num(&count);
    for (int i = 0; i < count; i++) {
        char name[100];
        int length = sizeof name, elements = MOST, value;
        MPI_Datatype types[MOST];
        MPI_Aint displacements[MOST];
        MPI_T_enum names;
        MPI_T_event_get_info(i, name, &length, NULL, types, displacements,
            &elements, &names, NULL, NULL, NULL, NULL);
        printf("%s:", name);
        for (int k = 0; names != MPI_T_ENUM_NULL && k < elements; k++) {
            length = sizeof name;
            MPI_T_enum_get_item(names, k, &value, name, &length);
            printf(" %s", name);
        }
        printf("\n");
    }
    MPI_T_source_get_num(&count);
    for (int i = 0; i < count; i++) {
        char name[100];
        int length = sizeof name;
        MPI_T_source_get_info(
            i, name, &length, NULL, NULL, NULL, &ticks, NULL, NULL);
        printf("%s: %lld ticks per second\n", name, (long long)ticks);
    }
    MPI_T_finalize();
    return 0;
}
