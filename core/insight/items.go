package insight

import (
	"slices"
	"strings"

	"gompirma/core/abi"
)

// Form is the way in which a parameter is recorded.
type Form int

// The forms of parameters.
const (
	Word     Form = iota // one word
	List                 // a word with length and State, then one word for each element
	Statuses             // like List, with elements of StatusWords words
	Members              // members of a new communicator or a group: a List of indices of parts, -1 if unknown
	Remote               // like Members, for the remote group of an intercommunicator
	Text                 // like List, with the bytes of a text
)

// Item is a parameter in the records of a function.
type Item struct {
	Param    *abi.Param
	Form     Form
	IsInput  bool // recorded among the inputs
	IsOutput bool // recorded among the outputs
}

// RecordItems returns the content of a record of f, in order. It consists of the parameters, and then of the members of
// a communicator that f creates, or of a group with which f starts an epoch. Precondition: IsUnrecorded(f) is false.
func RecordItems(f *abi.Function) []Item {
	var items []Item
	for _, p := range f.CParams() {
		if p.C == "..." {
			continue
		}
		item := Item{Param: p, Form: formOf(f, p), IsInput: true}
		if item.Form != Word {
			item.IsInput, item.IsOutput = p.Dir != abi.Out, p.Dir != abi.In
		}
		items = append(items, item)
	}
	for _, p := range f.CParams() {
		switch kind := p.Kind.Name; {
		case kind == "COMMUNICATOR" && p.Dir == abi.Out && len(p.Length) == 0 && !strings.HasPrefix(f.Name,
			"MPI_Comm_idup"):
			items = append(items, Item{Param: p, Form: Members, IsOutput: true}, Item{Param: p,
				Form:     Remote,
				IsOutput: true})
		case kind == "GROUP" && p.Dir == abi.In && (f.Name == "MPI_Win_start" || f.Name == "MPI_Win_post"):
			items = append(items, Item{Param: p, Form: Members, IsInput: true})
		}
	}
	return items
}

// addressKinds lists the kinds of parameters of which only the address is recorded: memory of the application, and
// arrays of unknown length.
var addressKinds = []string{"BUFFER", "C_BUFFER3", "C_BUFFER4", "FUNCTION", "POLYFUNCTION", "EXTRA_STATE",
	"EXTRA_STATE2",
	"ATTRIBUTE_VAL", "ATTRIBUTE_VAL_10", "LOGICAL_VOID", "TOOL_MPI_OBJ", "ARGUMENT_LIST", "STRING_ARRAY",
	"STRING_2DARRAY", "EVENT_CB_FUNCTION", "EVENT_FREE_CB_FUNCTION", "EVENT_DROP_CB_FUNCTION"}

func formOf(f *abi.Function, p *abi.Param) Form {
	const tools = 15
	switch kind := p.Kind.Name; {
	case slices.Contains(addressKinds, kind), kind == "C_BUFFER" && f.Chapter == tools,
		p.Name == "array_of_errcodes":
		return Word
	case kind == "STATUS":
		return Statuses
	case kind == "STRING" && p.Dir == abi.In:
		return Text
	case kind == "STRING":
		// These texts are zero-terminated after every call, so they can be recorded. Of other output strings
		// only the address is recorded, because the buffer may be too short or absent.
		ends := len(p.Length) == 1 && strings.HasPrefix(p.Length[0], "MPI_MAX_") || f.Chapter != tools &&
			(p.Name == "datarep" || p.Name == "key")
		if ends {
			return Text
		}
		return Word
	case len(p.Length) == 1 && slices.ContainsFunc(f.Params, func(q *abi.Param) bool {
		return q.Name == p.Length[0] && q.Pointer()
	}):
		return Word // only the address, since the length after the call is not the capacity of the array
	case p.Pointer():
		return List
	}
	return Word
}

// IsUnrecorded reports whether calls of f are skipped: they are only computations, so they are not recorded or counted.
func IsUnrecorded(f *abi.Function) bool {
	return f.Returns != "int" || strings.HasSuffix(f.Name, "_toint")
}

// IsDroppable reports whether other records keep their meaning if a record of f is lost. This holds for operations on
// windows without a request. If records may be lost, a quarter of the ring is reserved for records of other functions.
func IsDroppable(f *abi.Function) bool {
	use, uses := UseOf(f)
	return uses && !use.MayWait() && !hasParam(f, "request")
}

// IsTest reports whether f tests for an event and returns the result in its parameter flag.
func IsTest(f *abi.Function) bool {
	switch strings.TrimSuffix(f.Name, "_c") {
	case "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Iprobe", "MPI_Improbe", "MPI_Parrived", "MPI_Win_test",
		"MPI_Request_get_status", "MPI_Request_get_status_all", "MPI_Request_get_status_any":
		return true
	}
	return false
}

// waitingNames lists the functions that may wait for other processes, except those that IsCollective reports.
var waitingNames = []string{"MPI_Abort", "MPI_Buffer_detach", "MPI_Buffer_flush", "MPI_Comm_accept", "MPI_Comm_connect",
	"MPI_Comm_disconnect", "MPI_Comm_flush_buffer", "MPI_Comm_detach_buffer", "MPI_Comm_join", "MPI_Finalize",
	"MPI_Init", "MPI_Init_thread", "MPI_Mprobe", "MPI_Mrecv", "MPI_Probe", "MPI_Recv", "MPI_Rsend", "MPI_Send",
	"MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Bsend", "MPI_Session_detach_buffer", "MPI_Session_finalize",
	"MPI_Session_flush_buffer", "MPI_Session_init", "MPI_Ssend", "MPI_Wait", "MPI_Waitall", "MPI_Waitany",
	"MPI_Waitsome", "MPI_Win_complete", "MPI_Win_fence", "MPI_Win_flush", "MPI_Win_flush_all",
	"MPI_Win_flush_local", "MPI_Win_flush_local_all", "MPI_Win_free", "MPI_Win_lock", "MPI_Win_lock_all",
	"MPI_Win_post", "MPI_Win_start", "MPI_Win_unlock", "MPI_Win_unlock_all", "MPI_Win_wait"}

// collectiveNames lists the functions outside the chapter on collectives that all members of an object call together,
// and that may wait for other members.
var collectiveNames = []string{"MPI_Cart_create", "MPI_Cart_sub", "MPI_Comm_create", "MPI_Comm_create_from_group",
	"MPI_Comm_create_group", "MPI_Comm_dup", "MPI_Comm_dup_with_info", "MPI_Comm_free", "MPI_Comm_split",
	"MPI_Comm_split_type", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Dist_graph_create",
	"MPI_Dist_graph_create_adjacent", "MPI_File_close", "MPI_File_open", "MPI_File_preallocate",
	"MPI_File_seek_shared", "MPI_File_set_atomicity", "MPI_File_set_info", "MPI_File_set_size",
	"MPI_File_set_view", "MPI_File_sync", "MPI_Graph_create",
	"MPI_Intercomm_create", "MPI_Intercomm_create_from_groups", "MPI_Intercomm_merge", "MPI_Win_allocate",
	"MPI_Win_allocate_shared", "MPI_Win_create", "MPI_Win_create_dynamic", "MPI_Win_fence", "MPI_Win_free"}

// IsCollective reports whether f is called by all members of a communicator, window, group or file together and may
// wait for them. It returns false for functions that start a nonblocking collective.
func IsCollective(f *abi.Function) bool {
	name := strings.TrimSuffix(f.Name, "_c")
	if slices.Contains(collectiveNames, name) {
		return true
	}
	if strings.HasPrefix(name, "MPI_File_") {
		return !strings.HasPrefix(name, "MPI_File_i") && (strings.HasSuffix(name, "_all") ||
			strings.HasSuffix(name, "_all_end") || strings.Contains(name, "_ordered"))
	}
	if strings.HasPrefix(name, "MPI_I") || strings.HasSuffix(name, "_init") {
		return false
	}
	const collectives = 6
	return strings.HasPrefix(name, "MPI_Neighbor_") || f.Chapter == collectives && hasParam(f, "comm")
}

func hasParam(f *abi.Function, name string) bool {
	return slices.ContainsFunc(f.Params, func(p *abi.Param) bool { return p.Name == name })
}

// MayWait reports whether a call of f may wait for other processes.
func MayWait(f *abi.Function) bool {
	return slices.Contains(waitingNames, strings.TrimSuffix(f.Name, "_c")) || IsCollective(f)
}

// isAccumulate reports whether a function updates another process's memory by an accumulate, whose effect that process
// may poll for.
func isAccumulate(name string) bool {
	return strings.HasSuffix(name, "ccumulate") || name == "MPI_Fetch_and_op" || name == "MPI_Compare_and_swap"
}

// HasEntryRecord reports whether a call of f also has a record of its entry, if the mode asks for such records. This
// holds if f may wait, or if f starts something that another process may notice before the call returns.
func HasEntryRecord(f *abi.Function) bool {
	name := strings.TrimSuffix(f.Name, "_c")
	return MayWait(f) || isAccumulate(name) || strings.HasPrefix(name, "MPI_I") && hasParam(f, "comm") &&
		hasParam(f,
			"request") ||
		strings.HasPrefix(name, "MPI_Start") || strings.HasPrefix(name, "MPI_Pready") ||
		strings.HasPrefix(name, "MPI_File_") && (strings.HasSuffix(name, "_all") ||
			strings.HasSuffix(name, "_begin"))
}
