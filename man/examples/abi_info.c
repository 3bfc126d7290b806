/* Prints the sizes of types in C and Fortran, and which types the Fortran bindings have. */
#include <mpi.h>
#include <stdio.h>

static void print_all(MPI_Info info) {
    int keys;
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys; i++) {
        char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];
        int length = sizeof value, found;
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get_string(info, key, &length, value, &found);
        printf("%s = %s\n", key, value);
    }
}

int main(void) {
    MPI_Info info;
    int is_set, true_value, false_value;
    MPI_Init(NULL, NULL);
    MPI_Abi_get_info(&info);
    print_all(info);
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_info(&info);
    if (info != MPI_INFO_NULL) {
        print_all(info);
        MPI_Info_free(&info);
    }
    MPI_Abi_get_fortran_booleans(4, &true_value, &false_value, &is_set);
    if (is_set)
        printf(".TRUE. is %d, .FALSE. is %d\n", true_value, false_value);
    MPI_Finalize();
    return 0;
}
