/* Prints the categories of control variables, and changes a variable if that is possible. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int provided, count, index;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_T_category_get_num(&count);
    for (int i = 0; i < count; i++) {
        char name[100];
        int length = sizeof name, cvars, pvars, categories;
        MPI_T_category_get_info(
            i, name, &length, NULL, NULL, &cvars, &pvars, &categories);
        printf("%s: %d control variables\n", name, cvars);
    }
    MPI_T_cvar_get_num(&count);
    for (index = 0; index < count; index++) {
        MPI_T_cvar_handle handle;
        MPI_Datatype type;
        int value, scope, elements;
        MPI_T_cvar_get_info(
            index, NULL, NULL, NULL, &type, NULL, NULL, NULL, NULL, &scope);
        if (type != MPI_INT || scope != MPI_T_SCOPE_LOCAL)
            continue;
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &elements);
        MPI_T_cvar_read(handle, &value);
        if (MPI_T_cvar_write(handle, &value) == MPI_SUCCESS)
            printf("variable %d can be changed; it is %d\n", index, value);
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_Finalize();
    MPI_T_finalize();
    return 0;
}
