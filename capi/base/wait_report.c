// The report of this process' waits to tools (mpix_gompirma.h).
#include "base/abi.h"
#include "base/node.h"
#include "base/state.h"

_Static_assert((int)GOMPI_FOR_CALL == MPIX_GOMPIRMA_FOR_CALL && (int)GOMPI_FOR_MESSAGE == MPIX_GOMPIRMA_FOR_MESSAGE &&
		       (int)GOMPI_FOR_RECEIPT == MPIX_GOMPIRMA_FOR_RECEIPT &&
		       (int)GOMPI_FOR_POST == MPIX_GOMPIRMA_FOR_POST &&
		       (int)GOMPI_FOR_COMPLETE == MPIX_GOMPIRMA_FOR_COMPLETE &&
		       (int)GOMPI_FOR_LOCK == MPIX_GOMPIRMA_FOR_LOCK &&
		       (int)GOMPI_FOR_COLLECTIVE == MPIX_GOMPIRMA_FOR_COLLECTIVE &&
		       (int)GOMPI_FOR_PARTITIONS == MPIX_GOMPIRMA_FOR_PARTITIONS &&
		       (int)GOMPI_FOR_SELF == MPIX_GOMPIRMA_FOR_SELF,
	       "reasons");

static void read_record(struct MPIX_Gompirma_wait *to, struct gompi_wait_record *r) {
	*to = (struct MPIX_Gompirma_wait){.object = gompi_load(&r->object),
					  .thread = gompi_load(&r->thread),
					  .process = gompi_load(&r->peer),
					  .reason = (int)(gompi_load(&r->reason) & (WAIT_RECORD_ALL - 1)),
					  .tag = gompi_load(&r->tag)};
	for (size_t i = 0; i < sizeof r->call - 1; i++)
		to->call[i] = gompi_load(&r->call[i]);
	for (size_t i = 0; i < GOMPI_WAIT_RECORD_NAME_BYTES; i++)
		to->name[i] = gompi_load(&r->name[i]);
}

int MPIX_Gompirma_waits(int max_waits, struct MPIX_Gompirma_wait *waits, int *count) {
	if (count == NULL || (max_waits > 0 && waits == NULL))
		return MPI_ERR_ARG;
	int n = 0;
	if (gompi_load(&gompi_state.running) && gompi_node.control != NULL) {
		struct gompi_cell *me = gompi_my_cell();
		for (int i = 0; i < GOMPI_WAIT_THREADS; i++) {
			struct gompi_wait_record *r = &me->wait_records[i];
			// acquire: pairs with the release in write_record
			if (gompi_load_acquire(&r->state) != RECORD_PUBLISHED)
				continue;
			if (n < max_waits)
				read_record(&waits[n], r);
			n++;
		}
		n += (int)gompi_load(&me->unrecorded_waits);
	}
	*count = n;
	return MPI_SUCCESS;
}
