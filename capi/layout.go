package main

/*
#include "base/node.h"
#include "base/objects.h"
#include "base/verdict.h"
#include "comm/comm.h"
#include "message/inbox.h"
#include "message/request.h"
#include "transport/stream.h"
#include "win/attached.h"
#include "win/win_table.h"
*/
import "C"

import (
	"unsafe"

	"gompirma/core/handle"
	"gompirma/core/rma"
	"gompirma/core/shm"
)

// same checks at compile time that C and Go have equal layouts and constants. The index of each use below is their
// difference: 0 if they are equal, and out of range otherwise, which does not compile.
var same [1]struct{}

var (
	_ = same[unsafe.Offsetof(C.struct_gompi_header{}.losses)-shm.HeaderLosses]
	_ = same[unsafe.Offsetof(C.struct_gompi_header{}.losses_more)-shm.HeaderMoreLost]
	_ = same[unsafe.Offsetof(C.struct_gompi_header{}.no_membarrier)-shm.HeaderNoMembarrier]
	_ = same[C.GOMPI_STATE_DEAD-shm.Dead]
	_ = same[C.GOMPI_LOST_ENDED-shm.LostEnded]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.pid)-shm.CellPid]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.state)-shm.CellState]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.wait)-shm.CellWake]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.doorbell)-shm.CellDoorbell]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.thread_sleeps)-shm.CellThread]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.pollers)-shm.CellPollers]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.blocked)-shm.CellBlocked]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.waits_more)-shm.CellWaitMore]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.waits)-shm.CellWaits]
	_ = same[unsafe.Sizeof(C.struct_gompi_wait_record{})-shm.WaitRecord]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.peer)-shm.WaitPeer]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.object)-shm.WaitObject]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.call)-shm.WaitCall]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.number)-shm.WaitNumber]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.wakes)-shm.WaitWakes]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.thread)-shm.WaitThread]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.tag)-shm.WaitTag]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.id)-shm.WaitID]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.reason)-shm.WaitReason]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.members)-shm.WaitMembers]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.stride)-shm.WaitStride]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.member)-shm.WaitMember]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.lacks)-shm.WaitLacks]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.name)-shm.WaitName]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.operation)-shm.WaitOperation]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.missing)-shm.WaitMissing]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.crossing)-shm.WaitCrossing]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.part_of)-shm.WaitPartOf]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.parts)-shm.WaitParts]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.comms)-shm.CellComms]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.comm_world)-shm.CellWorld]
	_ = same[unsafe.Offsetof(C.struct_gompi_table_entries{}.mask)-shm.TableMask]
	_ = same[unsafe.Sizeof(C.struct_gompi_table_entries{})-shm.TableEntries]
	_ = same[unsafe.Offsetof(C.struct_gompi_comm{}.id)-shm.CommID]
	_ = same[unsafe.Offsetof(C.struct_gompi_comm{}.started)-shm.CommStarted]
	_ = same[unsafe.Offsetof(C.struct_gompi_win{}.streams)-shm.WindowStreams]
	_ = same[unsafe.Sizeof(C.struct_gompi_streams{})-shm.StreamsOf]
	_ = same[unsafe.Offsetof(C.struct_gompi_stream{}.holds)-shm.StreamHolds]
	_ = same[C.HOLDS_EXCLUSIVE-shm.HoldsExclusive]
	_ = same[C.GOMPI_TOLD_MEMBERS-shm.ToldMembers]
	_ = same[C.GOMPI_TOLD_MISSING-shm.ToldMissing]
	_ = same[C.GOMPI_TOLD_NAME-shm.ToldName]
	_ = same[C.TOLD_ALL-shm.ToldAll]
	_ = same[C.TOLD_FOREIGN-shm.ToldForeign]
	_ = same[C.GOMPI_FOR_SELF-C.int(shm.ForSelf)]
	_ = same[C.GOMPI_OWN_THREADS-shm.OwnThreads]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.code)-shm.CellCode]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.windows)-shm.CellWindows]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.own_threads)-shm.CellOwn]
	_ = same[unsafe.Offsetof(C.struct_gompi_win_table{}.slot)-shm.WindowSlots]
	_ = same[C.GOMPI_WIN_INDICES-shm.WindowIndices]
	_ = same[unsafe.Offsetof(C.struct_gompi_win{}.access)-shm.WindowAccess]
	_ = same[unsafe.Offsetof(C.struct_gompi_win{}.n)-shm.WindowN]
	_ = same[unsafe.Offsetof(C.struct_gompi_win{}.targets)-shm.WindowTargets]
	_ = same[unsafe.Sizeof(C.struct_gompi_target{})-shm.TargetSize]
	_ = same[unsafe.Offsetof(C.struct_gompi_target{}.state)-shm.TargetState]
	_ = same[C.TARGET_LOCKED-shm.TargetLocked]
	_ = same[C.TARGET_EXCLUSIVE-shm.TargetExclusive]
	_ = same[C.TARGET_NOCHECK-shm.TargetNoCheck]
	_ = same[C.TARGET_NEAR-shm.TargetNear]
	_ = same[C.ACCESS_LOCK_ALL-shm.AccessLockAll]
	_ = same[unsafe.Offsetof(C.struct_gompi_win{}.lock_all_nocheck)-shm.WindowNoCheck]
	_ = same[C.GOMPI_WAIT_RECORDS-shm.WaitRecords]
	_ = same[C.GOMPI_WAIT_THREADS-shm.WaitThreads]
	_ = same[C.RECORD_TOLD-shm.WaitTold]
	_ = same[C.GOMPI_PEERS_ANY-shm.PeersAny]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.marks)-shm.CellMarks]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.marks_used)-shm.CellMarkUsed]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.promised)-shm.CellPromised]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.out_of_reach)-shm.CellReach]
	_ = same[unsafe.Sizeof(C.struct_gompi_cell{})-shm.CellFixed]
	_ = same[C.GOMPI_MARK_SLOTS-shm.MarkSlots]
	_ = same[C.GOMPI_LANES*C.GOMPI_INBOX_SIZE-shm.MessageRingSize]
	_ = same[C.GOMPI_MOST_PROCESSES-shm.MaxProcesses]
	_ = same[C.GOMPI_KIND_ERRHANDLER-handle.Errhandler]
	_ = same[C.GOMPI_KIND_DATATYPE-handle.Datatype]
	_ = same[C.GOMPI_KIND_REQUEST-1-handle.Datatype] // the kinds that only C uses have larger numbers
	_ = same[C.GOMPI_KIND_OP-C.int(handle.Op)]
	_ = same[C.GOMPI_KIND_GROUP-C.int(handle.Group)]
	_ = same[C.GOMPI_KIND_MESSAGE-C.int(handle.Message)]
	_ = same[C.GOMPI_KIND_INFO-C.int(handle.Info)]
	_ = same[1<<C.GOMPI_KIND_BITS-handle.Numbers]
	_ = same[C.GOMPI_KIND_MOST-handle.MaxLive]
	_ = same[unsafe.Sizeof(C.struct_gompi_win_member{})-rma.MemberSize]
	_ = same[unsafe.Sizeof(C.struct_gompi_told_hints{})-rma.ToldSize]
	_ = same[unsafe.Sizeof(C.struct_gompi_win_remote{})-rma.RowSize]
	_ = same[C.GOMPI_MOST_ATTACHED-rma.MostAttached]
	_ = same[C.PROMISE_SAME_SIZE-rma.SameSize]
	_ = same[C.PROMISE_SAME_DISP_UNIT-rma.SameDispUnit]
	_ = same[C.PROMISE_NONCONTIGUOUS-rma.NonContiguous]
	_ = same[C.GOMPI_LEAST_ALIGNMENT-rma.LeastAlignment]
	_ = same[C.GOMPI_IN_PLACE_REQUIRED-rma.InPlaceRequired]
	_ = same[C.GOMPI_WIN_INDICES-1-handle.MaxWindows]
	_ = same[C.GOMPI_ON_COMM-C.int(handle.Comm)]
	_ = same[C.GOMPI_ON_WIN-C.int(handle.Win)]
	_ = same[C.GOMPI_ON_FILE-C.int(handle.File)]
	_ = same[C.GOMPI_ON_SESSION-C.int(handle.Session)]
)
