// Command gen generates Go constants from definitions in C: offsets, sizes and values of enumerations. It computes them
// with the C compiler. It also generates capi/z_from_c.c, which compares the constants with the C definitions whenever
// the library is compiled. From docs/VARIABLES.md it generates capi/tool/z_variables.h. Its output is committed.
//
//	go run ./core/gen           write what has changed
//	go run ./core/gen -check    write nothing; list stale files and exit 1 if there are any
package main

//go:generate go run gompirma/core/gen

import (
	"bytes"
	"fmt"
	"go/format"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"gompirma/core/abi/genfile"
)

var generator = genfile.Generator{Package: "core/gen", Generate: generate, Owned: []string{"core/*/z_from_c.go"}}

func main() { generator.Main() }

const includes = `#include <stddef.h>

#include "base/error_status.h"
#include "base/node.h"
#include "base/object_pool.h"
#include "coll/shm_coll.h"
#include "comm/comm.h"
#include "datatype/datatype.h"
#include "datatype/program.h"
#include "message/inbox.h"
#include "message/plan.h"
#include "message/request.h"
#include "transport/stream.h"
#include "win/attached.h"
#include "win/win_table.h"
`

// constants describes Go constants. Field goName is the name of one constant, optionally followed by a type. Field
// expression is its value as an expression in C. If `members` is not empty, it lists words, and there is one constant
// for each word. The word replaces %s in goName and in expression.
type constants struct{ goName, expression, members string }

// packages has the constants of each package of core.
var packages = map[string][]constants{
	"handle": {
		{"%s Kind", "GOMPI_KIND_%s", "OP GROUP MESSAGE INFO ERRHANDLER DATATYPE"},
		{"%s Kind", "GOMPI_ON_%s", "COMM WIN FILE SESSION"},
		{"Request Kind", "GOMPI_KIND_PERSISTENT", ""},
		{"numberBits", "GOMPI_KIND_BITS", ""},
		{"MaxLive", "GOMPI_KIND_MAX_LIVE", ""},
		{"MaxWindows", "GOMPI_WIN_INDICES - 1", ""},
	},
	"datatype": {
		{"Head%s", "offsetof(struct gompi_type, %s) / 8", `
			magic flags elem elem_size elements size lb extent true_lb true_ub depth segments origin root
			elem_origin elem_root block repeat stride`},
		{"HeadWords", "GOMPI_TYPE_HEAD", ""},
		{"HeadProgramWords", "offsetof(struct gompi_type, words) / 8", ""},
		{"Flag%s", "GOMPI_TYPE_%s", "CONTIGUOUS ELEM_CONTIGUOUS STRIDED OVERLAP"},
		{"Node%s", "NODE_%s", "BLOCK LOOP LIST BLOCKS SEQ"},
		{"%s", "GOMPI_TYPE_%s", "MAGIC MAX_DEPTH"},
	},
	"shm": {
		{"%s State", "GOMPI_STATE_%s", "ABSENT OPENING RUNNING FINISHING FINALIZED FAILED"},
		{"header%s", "offsetof(struct gompi_node_header, %s)", `
			magic layout_version process_count slot_count creator_pid core_count segment universe failed_count
			revocation_count
			job_is_ending
			promise_lock memory_events failed_processes failed_overflow`},
		{"Cell%s", "offsetof(struct gompi_cell, %s)", `
			pid state wait.wake_seq wait.has_sleepers doorbell progress_sleeps poller_count blocked_count
			unrecorded_waits reserved_bytes releasing_bytes cached_bytes generation heap_base
			heap_peak code_address windows_address
			progress_threads wait_records comms_address comm_world_address`},
		{"record%s", "offsetof(struct gompi_wait_record, %s)", `
			state peer object call wait_count wakeup_count thread tag id reason member_count stride member
			pending_count name operation missing_bitmap go_caller_frame parent_record event_count`},
		{"record%s", "WAIT_RECORD_%s", "ALL OTHER_JOBS"},
		{"recordPublished", "RECORD_PUBLISHED", ""},
		{"For%s Reason", "GOMPI_FOR_%s", "CALL MESSAGE RECEIPT POST COMPLETE LOCK COLLECTIVE PARTITIONS SELF"},
		{"Peers%s", "GOMPI_PEERS_%s", "ALL ANY SEVERAL"},
		{"%sBytes", "sizeof(struct gompi_%s)", "cell wait_record target"},
		{"%s", "GOMPI_%s", `
			CACHE_LINE WAIT_RECORDS WAIT_THREADS WAIT_RECORD_MEMBERS WAIT_RECORD_NAME_BYTES
			WAIT_MISSING_WORDS PROGRESS_THREADS FAILED_ENTRIES FAILED_ENDED WIN_INDICES`},
		{"MaxProcesses", "GOMPI_MAX_NODE_PROCESSES", ""},
		{"MessageRingSize", "GOMPI_VCI_COUNT * GOMPI_INBOX_SIZE", ""},
		{"WinTable%s", "offsetof(struct gompi_win_table, %s)", "descriptor"},
		{"Win%s", "offsetof(struct gompi_win, %s)", "access n targets streams lock_all_nocheck"},
		{"AccessLockAll", "ACCESS_LOCK_ALL", ""},
		{"TargetState", "offsetof(struct gompi_target, state)", ""},
		{"Target%s", "TARGET_%s", "LOCKED EXCLUSIVE NOCHECK LOCAL"},
		{"Streams%s", "offsetof(struct gompi_streams, %s)", "by_rank"},
		{"StreamLockHeld", "offsetof(struct gompi_stream, lock_held)", ""},
		{"Holds%s", "HOLDS_%s", "SHARED EXCLUSIVE"},
		{"Table%s", "offsetof(struct gompi_table_entries, %s)", "mask entry"},
		{"Comm%s", "offsetof(struct gompi_comm, %s)", "id plan_tag"},
	},
	"p2p": {
		{"Step%s StepKind", "STEP_%s", "SEND FORWARD RECV WAIT COPY REDUCE CALL_GO"},
		{"Plan%s PlanUse", "PLAN_%s", "ONCE ONCE_CACHED PERSISTENT"},
	},
	"rma": {
		{"%sBytes", "sizeof(struct gompi_%s)", "win_member win_remote hints_message attached_entry"},
		{"attachedHead", "offsetof(struct gompi_attached_regions, entry)", ""},
		{"%s", "GOMPI_%s", "MAX_ATTACHED MIN_ALIGNMENT"},
		{"InPlace%s", "GOMPI_IN_PLACE_%s", "OFF ON REQUIRED"},
		{"%s", "PROMISE_%s", "SAME_SIZE SAME_DISP_UNIT NONCONTIGUOUS"},
	},
	"coll": {
		{"Kind%s Kind", "GOMPI_%s", `
			BARRIER BCAST REDUCE ALLREDUCE GATHER GATHERV SCATTER SCATTERV ALLGATHER ALLGATHERV ALLTOALL
			ALLTOALLV ALLTOALLW SCAN EXSCAN REDUCE_SCATTER REDUCE_SCATTER_BLOCK NEIGHBOR_ALLGATHER
			NEIGHBOR_ALLGATHERV NEIGHBOR_ALLTOALL NEIGHBOR_ALLTOALLV NEIGHBOR_ALLTOALLW IDUP`},
	},
}

const notice = "// Code generated by core/gen. DO NOT EDIT.\n"

func generate(root string) (genfile.Files, error) {
	var program, checks strings.Builder
	program.WriteString(includes + "#include <stdio.h>\nint main(void) {\n")
	each(func(_, _, expression string) {
		fmt.Fprintf(&program, "printf(\"%%lld\\n\", (long long)(%s));\n", expression)
	})
	program.WriteString("}\n")
	values, err := run(root, program.String())
	if err != nil {
		return nil, err
	}
	checks.WriteString(notice + "// Compares the values that core/gen has computed with those of the compiler.\n" +
		includes + "\n#define SAME(a, b) _Static_assert((a) == (b), \"run go generate ./core/gen\")\n\n")
	text := map[string]*bytes.Buffer{}
	each(func(name, constant, expression string) {
		if text[name] == nil {
			text[name] = bytes.NewBufferString(notice + "\npackage " + name +
				"\n\n// Constants of the code in C.\nconst (\n")
		}
		fmt.Fprintf(text[name], "%s = %s // %s\n", constant, values[0], expression)
		fmt.Fprintf(&checks, "SAME(%s, %s);\n", expression, values[0])
		values = values[1:]
	})
	table, err := variables()
	if err != nil {
		return nil, err
	}
	files := genfile.Files{"capi/z_from_c.c": []byte(checks.String()), "capi/tool/z_variables.h": table}
	for name, b := range text {
		b.WriteString(")\n")
		if files["core/"+name+"/z_from_c.go"], err = format.Source(b.Bytes()); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// each calls the function `do` for each constant, always in the same order.
func each(do func(name, constant, expression string)) {
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		for _, c := range packages[name] {
			if c.members == "" {
				do(name, c.goName, c.expression)
			}
			for _, member := range strings.Fields(c.members) {
				do(name, strings.Replace(c.goName, "%s", camelCase(member), 1),
					strings.Replace(c.expression, "%s", member, 1))
			}
		}
	}
}

// camelCase converts a name in C to a part of a name in Go: by_rank becomes ByRank. If the name has a dot, it converts
// the part after the last dot.
func camelCase(name string) string {
	words := strings.Split(strings.ToLower(name[strings.LastIndex(name, ".")+1:]), "_")
	for i, word := range words {
		if slices.Contains([]string{"id", "lb", "ub"}, word) {
			words[i] = strings.ToUpper(word)
		} else {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// run compiles and runs a program in C and returns the lines of its output.
func run(root, program string) ([]string, error) {
	dir, err := os.MkdirTemp("", "gen")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	source, binary := filepath.Join(dir, "main.c"), filepath.Join(dir, "main")
	if err := os.WriteFile(source, []byte(program), 0o644); err != nil {
		return nil, err
	}
	cc := exec.Command("gcc", "-std=gnu11", "-Icapi", "-Iinclude", "-o", binary, source)
	cc.Dir, cc.Stderr = root, os.Stderr
	if err := cc.Run(); err != nil {
		return nil, err
	}
	out, err := exec.Command(binary).Output()
	return strings.Fields(string(out)), err
}
