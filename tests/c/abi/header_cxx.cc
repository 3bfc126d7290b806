// Proves: mpi.h is valid C++. Overloads and templates get the right types: constants have the standard's types, and
// each kind of handle is a distinct type.
#include <mpi.h>
#include <cstddef>
#include <cstdio>

namespace {

int kind(MPI_Comm) { return 1; }
int kind(MPI_Win) { return 2; }
int kind(MPI_Datatype) { return 3; }
int kind(MPI_Op) { return 4; }
int kind(MPI_Request) { return 5; }
int kind(int) { return 6; }

template <typename T> struct type_of;
template <> struct type_of<double> { static constexpr MPI_Datatype get() { return MPI_DOUBLE; } };
constexpr MPI_Datatype integer(std::size_t size)
{
    return size == 4 ? MPI_INT32_T : size == 8 ? MPI_INT64_T : MPI_DATATYPE_NULL;
}

void errors(MPI_Comm *, int *, ...) {}
int copy(MPI_Win, int, void *, void *, void *, int *flag) { *flag = 0; return MPI_SUCCESS; }
void event(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety safety, void *)
{
    (void)(safety == MPI_T_CB_REQUIRE_NONE);
}

} // namespace

int main()
{
    MPI_Comm_errhandler_function *handler = errors;
    MPI_Win_copy_attr_function *copier = copy;
    MPI_T_event_cb_function *callback = event;
    int wrong = 0;

    wrong += kind(MPI_COMM_WORLD) != 1 || kind(MPI_WIN_NULL) != 2 || kind(MPI_INT) != 3;
    wrong += kind(MPI_SUM) != 4 || kind(MPI_REQUEST_NULL) != 5;
    wrong += kind(MPI_ANY_SOURCE) != 6 || kind(MPI_MODE_NOCHECK | MPI_MODE_NOPUT) != 6;
    wrong += type_of<double>::get() != MPI_DOUBLE || MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE)) != MPI_DOUBLE;
    wrong += integer(4) != MPI_INT32_T || integer(8) != MPI_INT64_T || integer(5) != MPI_DATATYPE_NULL;
    wrong += handler == nullptr || copier == MPI_WIN_DUP_FN || callback == nullptr;
    std::printf("%d wrong\n", wrong);
    return wrong != 0;
}
