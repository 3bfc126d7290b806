/* The library calls a function when a window has been created. */
#include <mpi.h>
#include <stdio.h>

struct observed {
    unsigned long long bytes;
    int source;
    MPI_Count time;
};

static void on_window(MPI_T_event_instance event,
    MPI_T_event_registration registration, MPI_T_cb_safety safety,
    void *user_data) {
    struct observed *o = user_data;
    (void)registration, (void)safety;
    MPI_T_event_read(event, 1, &o->bytes); /* MPI_T_event_get_info */
    MPI_T_event_get_source(event, &o->source);
    MPI_T_event_get_timestamp(event, &o->time);
}

int main(int argc, char **argv) {
    static struct observed o;
    int provided, index, *memory;
    MPI_T_event_registration registration;
    MPI_Count now, ticks;
    MPI_Win win;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    if (MPI_T_event_get_index("window_created", &index) == MPI_SUCCESS) {
        MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration);
        MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE,
            MPI_INFO_NULL, &o, on_window);
    }
    MPI_Win_allocate(100, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_T_source_get_timestamp(o.source, &now);
    MPI_T_source_get_info(
        o.source, NULL, NULL, NULL, NULL, NULL, &ticks, NULL, NULL);
    printf("a window of %llu bytes, created %d seconds ago\n", o.bytes,
        (int)((now - o.time) / ticks));
    MPI_Win_free(&win);
    MPI_Finalize();
    MPI_T_finalize(); /* frees the registration */
    return 0;
}
