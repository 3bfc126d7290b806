// Packing and unpacking (MPI-5.0 5.2): the bytes of the data, one after another. Wholly in C; nothing blocks or communicates.
#include "comm_slot.h"
#include "datatype.h"
#include "refuse.h"
#include "z_entry.h"

#include <limits.h>
#include <stdio.h>

static int refuse(int class, const char *call, MPI_Comm comm, const char *what, int64_t a, int64_t b, int64_t c)
{
    char text[200];
    snprintf(text, sizeof text, what, (long long)a, (long long)b, (long long)c);
    return gompi_refuse(class, call, text, gompi_comm_get(comm) ? GOMPI_ON_COMM : GOMPI_ON_NONE, (uintptr_t)comm);
}

// type_of finds the type and the bytes that count copies of it have. NULL: refused, with the class in *rc.
static const struct gompi_type *type_of(const char *call, int64_t count, MPI_Datatype datatype, MPI_Comm comm, int64_t *bytes, int *rc)
{
    int64_t lo, hi;
    const struct gompi_type *t = gompi_type_get(datatype);
    *rc = MPI_SUCCESS;
    if (!gompi_comm_get(comm))
        *rc = refuse(MPI_ERR_COMM, call, comm, "%#llx is no communicator, or one that was freed", (int64_t)(uintptr_t)comm, 0, 0);
    else if (!t)
        *rc = refuse(MPI_ERR_TYPE, call, comm, "%#llx is not a datatype, or one that is not committed or was freed", (int64_t)(uintptr_t)datatype, 0, 0);
    else if (count < 0)
        *rc = refuse(MPI_ERR_COUNT, call, comm, "count is %lld, it must not be negative", count, 0, 0);
    else if (!gompi_type_bytes(t, count, bytes) || !gompi_type_bounds(t, count, &lo, &hi))
        *rc = refuse(MPI_ERR_COUNT, call, comm, "%lld copies of %lld bytes, %lld apart, do not fit 64 bits", count, t->size, t->extent);
    else
        return t;
    return NULL;
}

// room checks that n bytes from position on lie in a buffer of size bytes.
static int room(const char *call, MPI_Comm comm, int64_t position, int64_t n, int64_t size)
{
    if (size < 0)
        return refuse(MPI_ERR_ARG, call, comm, "the packed buffer has %lld bytes", size, 0, 0);
    if (position < 0 || position > size)
        return refuse(MPI_ERR_ARG, call, comm, "position %lld is not in the packed buffer of %lld bytes", position, size, 0);
    if (n > size - position)
        return refuse(MPI_ERR_TRUNCATE, call, comm, "%lld bytes from position %lld on are not in the packed buffer of %lld bytes", n, position, size);
    return MPI_SUCCESS;
}

static int pack(const char *call, const void *inbuf, int64_t count, MPI_Datatype datatype, void *outbuf, int64_t size, int64_t *position, MPI_Comm comm)
{
    int64_t n;
    int rc;
    const struct gompi_type *t = type_of(call, count, datatype, comm, &n, &rc);
    if (!t || (rc = room(call, comm, *position, n, size)))
        return rc;
    if (n && !outbuf)
        return refuse(MPI_ERR_BUFFER, call, comm, "the packed buffer is a null pointer, %lld bytes are to be stored in it", n, 0, 0);
    gompi_typed_pack((char *)outbuf + *position, n, inbuf, count, t, 0);
    *position += n;
    return MPI_SUCCESS;
}

static int unpack(const char *call, const void *inbuf, int64_t size, int64_t *position, void *outbuf, int64_t count, MPI_Datatype datatype, MPI_Comm comm)
{
    int64_t n;
    int rc;
    const struct gompi_type *t = type_of(call, count, datatype, comm, &n, &rc);
    if (!t || (rc = room(call, comm, *position, n, size)))
        return rc;
    if (n && !inbuf)
        return refuse(MPI_ERR_BUFFER, call, comm, "the packed buffer is a null pointer, %lld bytes are to be read from it", n, 0, 0);
    gompi_typed_unpack(outbuf, count, t, 0, (const char *)inbuf + *position, n);
    *position += n;
    return MPI_SUCCESS;
}

static int no_position(const char *call, MPI_Comm comm)
{
    return refuse(MPI_ERR_ARG, call, comm, "the address of a result is a null pointer", 0, 0, 0);
}

int gompi_pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize, MPI_Count *position, MPI_Comm comm)
{
    if (!position)
        return no_position("MPI_Pack_c", comm);
    return pack("MPI_Pack_c", inbuf, incount, datatype, outbuf, outsize, position, comm);
}

int gompi_pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position, MPI_Comm comm)
{
    if (!position)
        return no_position("MPI_Pack", comm);
    int64_t at = *position;
    int rc = pack("MPI_Pack", inbuf, incount, datatype, outbuf, outsize, &at, comm);
    *position = (int)at; // at most outsize
    return rc;
}

int gompi_unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    if (!position)
        return no_position("MPI_Unpack_c", comm);
    return unpack("MPI_Unpack_c", inbuf, insize, position, outbuf, outcount, datatype, comm);
}

int gompi_unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    if (!position)
        return no_position("MPI_Unpack", comm);
    int64_t at = *position;
    int rc = unpack("MPI_Unpack", inbuf, insize, &at, outbuf, outcount, datatype, comm);
    *position = (int)at;
    return rc;
}

int gompi_pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size)
{
    int64_t n;
    int rc;
    if (!size)
        return no_position("MPI_Pack_size_c", comm);
    if (type_of("MPI_Pack_size_c", incount, datatype, comm, &n, &rc))
        *size = n;
    return rc;
}

int gompi_pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    int64_t n;
    int rc;
    if (!size)
        return no_position("MPI_Pack_size", comm);
    if (type_of("MPI_Pack_size", incount, datatype, comm, &n, &rc))
        *size = n > INT_MAX ? MPI_UNDEFINED : (int)n;
    return rc;
}
