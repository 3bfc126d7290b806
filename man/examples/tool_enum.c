/* Prints the control variables whose values have names, and these names. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    int provided, count;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&count);
    for (int i = 0; i < count; i++) {
        char name[100], item[100];
        int name_len = sizeof name, items, value;
        MPI_T_enum names;
        MPI_T_cvar_get_info(
            i, name, &name_len, NULL, NULL, &names, NULL, NULL, NULL, NULL);
        if (names == MPI_T_ENUM_NULL)
            continue;
        MPI_T_enum_get_info(names, &items, NULL, NULL);
        printf("%s:", name);
        for (int k = 0; k < items; k++) {
            int item_len = sizeof item;
            MPI_T_enum_get_item(names, k, &value, item, &item_len);
            printf(" %s (%d)", item, value);
        }
        printf("\n");
    }
    MPI_T_finalize();
    return 0;
}
