package main

/*
#include "base/node.h"
#include "base/object_pool.h"
#include "base/error_status.h"
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

// same checks at compile time that C and Go have equal layouts and constants. Each index below is the difference of two
// values. An index other than 0 is out of range and does not compile.
var same [1]struct{}

var (
	_ = same[unsafe.Offsetof(C.struct_gompi_node_header{}.failed_processes)-shm.HeaderFailed]
	_ = same[unsafe.Offsetof(C.struct_gompi_node_header{}.failed_overflow)-shm.HeaderFailedOverflow]
	_ = same[unsafe.Offsetof(C.struct_gompi_node_header{}.no_membarrier)-shm.HeaderNoMembarrier]
	_ = same[C.GOMPI_STATE_FAILED-shm.Failed]
	_ = same[C.GOMPI_FAILED_ENDED-shm.FailedEnded]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.pid)-shm.CellPid]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.state)-shm.CellState]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.wait)-shm.CellWake]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.doorbell)-shm.CellDoorbell]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.progress_sleeps)-shm.CellProgressSleeps]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.poller_count)-shm.CellPollers]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.blocked_count)-shm.CellBlocked]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.unrecorded_waits)-shm.CellUnrecordedWaits]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.wait_records)-shm.CellWaits]
	_ = same[unsafe.Sizeof(C.struct_gompi_wait_record{})-shm.WaitRecordBytes]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.peer)-shm.WaitPeer]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.object)-shm.WaitObject]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.call)-shm.WaitCall]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.wait_count)-shm.WaitNumber]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.wakeup_count)-shm.WaitWakes]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.thread)-shm.WaitThread]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.tag)-shm.WaitTag]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.id)-shm.WaitID]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.reason)-shm.WaitReason]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.member_count)-shm.WaitMembers]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.stride)-shm.WaitStride]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.member)-shm.WaitMember]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.pending_count)-shm.WaitPendingCount]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.name)-shm.WaitName]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.operation)-shm.WaitOperation]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.missing_bitmap)-shm.WaitMissing]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.go_caller_frame)-shm.WaitCrossing]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.parent_record)-shm.WaitParent]
	_ = same[unsafe.Offsetof(C.struct_gompi_wait_record{}.event_count)-shm.WaitEventCount]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.comms_address)-shm.CellComms]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.comm_world_address)-shm.CellWorld]
	_ = same[unsafe.Offsetof(C.struct_gompi_table_entries{}.mask)-shm.TableMask]
	_ = same[unsafe.Sizeof(C.struct_gompi_table_entries{})-shm.TableEntries]
	_ = same[unsafe.Offsetof(C.struct_gompi_comm{}.id)-shm.CommID]
	_ = same[unsafe.Offsetof(C.struct_gompi_comm{}.plan_tag)-shm.CommStarted]
	_ = same[unsafe.Offsetof(C.struct_gompi_win{}.streams)-shm.WindowStreams]
	_ = same[unsafe.Sizeof(C.struct_gompi_streams{})-shm.StreamsOf]
	_ = same[unsafe.Offsetof(C.struct_gompi_stream{}.lock_held)-shm.StreamHeldLock]
	_ = same[C.HOLDS_EXCLUSIVE-shm.HeldExclusive]
	_ = same[C.GOMPI_WAIT_RECORD_MEMBERS-shm.MaxWaitMembers]
	_ = same[C.GOMPI_WAIT_MISSING_WORDS-shm.WaitMissingWords]
	_ = same[C.GOMPI_WAIT_RECORD_NAME_BYTES-shm.WaitNameBytes]
	_ = same[C.WAIT_RECORD_ALL-shm.WaitAllMembers]
	_ = same[C.WAIT_RECORD_OTHER_JOBS-shm.WaitOtherJobs]
	_ = same[C.GOMPI_FOR_SELF-C.int(shm.ForSelf)]
	_ = same[C.GOMPI_PROGRESS_THREADS-shm.MaxProgressThreads]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.code_address)-shm.CellCode]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.windows_address)-shm.CellWindows]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.progress_threads)-shm.CellProgressThreads]
	_ = same[unsafe.Offsetof(C.struct_gompi_win_table{}.descriptor)-shm.WindowDescriptors]
	_ = same[C.GOMPI_WIN_INDICES-shm.WindowIndices]
	_ = same[unsafe.Offsetof(C.struct_gompi_win{}.access)-shm.WindowAccess]
	_ = same[unsafe.Offsetof(C.struct_gompi_win{}.n)-shm.WindowN]
	_ = same[unsafe.Offsetof(C.struct_gompi_win{}.targets)-shm.WindowTargets]
	_ = same[unsafe.Sizeof(C.struct_gompi_target{})-shm.TargetSize]
	_ = same[unsafe.Offsetof(C.struct_gompi_target{}.state)-shm.TargetState]
	_ = same[C.TARGET_LOCKED-shm.TargetLocked]
	_ = same[C.TARGET_EXCLUSIVE-shm.TargetExclusive]
	_ = same[C.TARGET_NOCHECK-shm.TargetNoCheck]
	_ = same[C.TARGET_LOCAL-shm.TargetLocal]
	_ = same[C.ACCESS_LOCK_ALL-shm.AccessLockAll]
	_ = same[unsafe.Offsetof(C.struct_gompi_win{}.lock_all_nocheck)-shm.WindowNoCheck]
	_ = same[C.GOMPI_WAIT_RECORDS-shm.WaitRecords]
	_ = same[C.GOMPI_WAIT_THREADS-shm.WaitThreads]
	_ = same[C.RECORD_PUBLISHED-shm.WaitPublished]
	_ = same[C.GOMPI_PEERS_ANY-shm.PeersAny]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.activity)-shm.CellActivityFlags]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.activity_used)-shm.CellActivityUsed]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.reserved_bytes)-shm.CellReservedBytes]
	_ = same[unsafe.Offsetof(C.struct_gompi_cell{}.unreachable)-shm.CellReach]
	_ = same[unsafe.Sizeof(C.struct_gompi_cell{})-shm.CellFixed]
	_ = same[C.GOMPI_ACTIVITY_SLOTS-shm.ActivitySlots]
	_ = same[C.GOMPI_VCI_COUNT*C.GOMPI_INBOX_SIZE-shm.MessageRingSize]
	_ = same[C.GOMPI_MAX_NODE_PROCESSES-shm.MaxProcesses]
	_ = same[C.GOMPI_KIND_ERRHANDLER-handle.Errhandler]
	_ = same[C.GOMPI_KIND_DATATYPE-handle.Datatype]
	_ = same[C.GOMPI_KIND_REQUEST-1-handle.Datatype] // the kinds that only C uses have larger numbers
	_ = same[C.GOMPI_KIND_OP-C.int(handle.Op)]
	_ = same[C.GOMPI_KIND_GROUP-C.int(handle.Group)]
	_ = same[C.GOMPI_KIND_MESSAGE-C.int(handle.Message)]
	_ = same[C.GOMPI_KIND_INFO-C.int(handle.Info)]
	_ = same[1<<C.GOMPI_KIND_BITS-handle.Numbers]
	_ = same[C.GOMPI_KIND_MAX_LIVE-handle.MaxLive]
	_ = same[unsafe.Sizeof(C.struct_gompi_win_member{})-rma.MemberBytes]
	_ = same[unsafe.Sizeof(C.struct_gompi_hints_message{})-rma.WinHintsBytes]
	_ = same[unsafe.Sizeof(C.struct_gompi_win_remote{})-rma.RemoteRowBytes]
	_ = same[C.GOMPI_MAX_ATTACHED-rma.MaxAttached]
	_ = same[C.PROMISE_SAME_SIZE-rma.SameSize]
	_ = same[C.PROMISE_SAME_DISP_UNIT-rma.SameDispUnit]
	_ = same[C.PROMISE_NONCONTIGUOUS-rma.NonContiguous]
	_ = same[C.GOMPI_MIN_ALIGNMENT-rma.MinAlignment]
	_ = same[C.GOMPI_IN_PLACE_REQUIRED-rma.InPlaceRequired]
	_ = same[C.GOMPI_WIN_INDICES-1-handle.MaxWindows]
	_ = same[C.GOMPI_ON_COMM-C.int(handle.Comm)]
	_ = same[C.GOMPI_ON_WIN-C.int(handle.Win)]
	_ = same[C.GOMPI_ON_FILE-C.int(handle.File)]
	_ = same[C.GOMPI_ON_SESSION-C.int(handle.Session)]
)
