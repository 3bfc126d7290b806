// How Go makes and unmakes the slots of windows.
#ifndef GOMPI_WIN_TABLE_H
#define GOMPI_WIN_TABLE_H

#include "win.h"

// Begins the slot of a window of n members whose control memory is at shared; NULL if there is no memory. No call sees
// it before gompi_win_ready. parts: some member's memory is mapped in part.
struct gompi_win *gompi_win_open(uintptr_t handle, int me, int n, void *shared, bool parts);
// Says where rank's memory is: mapped here at base if direct, otherwise only part of it, as if all were at base;
// address is where it lies in rank's own process, whose number on the node is process.
void gompi_win_member_set(struct gompi_win *w, int rank, void *base, uint64_t size, int disp_unit, bool direct,
			  struct gompi_part part, int process, uint64_t address);
// Lets the calls see the slot. false: there is no memory.
bool gompi_win_ready(struct gompi_win *w, uintptr_t handle, void *base, MPI_Aint size, int disp_unit, int flavor,
		     int64_t granularity);
void gompi_win_close(uintptr_t handle);
// Whether MPI_Win_free is possible now: 0; MPI_ERR_RMA_SYNC: an epoch is open; MPI_ERR_WIN.
int gompi_win_may_free(uintptr_t handle);
// The barrier of MPI_Win_free (free) and MPI_Win_set_info. 0; MPI_ERR_WIN; MPI_ERR_PROC_ABORTED.
int gompi_win_meet(uintptr_t handle, bool free);
// The window's mpi_accumulate_granularity from now on.
void gompi_win_set_granularity(uintptr_t handle, int64_t bytes);
// Says in words which epochs are open.
void gompi_win_epochs(uintptr_t handle, char *text, int size);
// MPI_Group_free has been called.
void gompi_groups_changed(void);

#endif
