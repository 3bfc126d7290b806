package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gompirma/core/abi"
	"gompirma/core/abi/genfile"
	"gompirma/core/insight"
)

// insightFiles returns the wrappers of libgompirma-insight.so: for every function of the ABI under both of its names,
// MPI_X and PMPI_X. Each wrapper records its arguments as insight.RecordItems specifies.
func insightFiles() genfile.Files {
	files := genfile.Files{
		"capi/insight/generated/layout.h": insightLayout(),
		"capi/insight/generated/names.c":  insightNames(),
	}
	for _, e := range entryFiles {
		var b bytes.Buffer
		fmt.Fprintf(&b, "// %s\n//\n// Wrappers of functions of the ABI, which record what passes. "+
			"Chapters of MPI 5.0:\n", notice)
		for _, c := range e.chapters {
			fmt.Fprintf(&b, "//   %d %s\n", c, abi.Chapters()[c])
		}
		b.WriteString("\n#include \"insight/count.h\"\n")
		for i, f := range abi.Functions() {
			if slices.Contains(e.chapters, f.Chapter) {
				writeWrapper(&b, i, f)
			}
		}
		files["capi/insight/generated/"+e.name+".c"] = b.Bytes()
	}
	return files
}

// insightLayout returns a C header with the constants of core/insight.
func insightLayout() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n//\n// The layout of the memory that is shared with gompirun: "+
		"core/insight/layout.go.\n"+
		"#ifndef GOMPI_Z_INSIGHT_LAYOUT_H\n#define GOMPI_Z_INSIGHT_LAYOUT_H\n\n", notice)
	for _, c := range insight.Constants {
		fmt.Fprintf(&b, "#define GOMPI_INSIGHT_%s %#x\n", c.Name, c.Value)
	}
	fmt.Fprintf(&b, "#define GOMPI_INSIGHT_FUNCTIONS %d\n", len(abi.Functions()))
	fmt.Fprintf(&b, "#define GOMPI_INSIGHT_ENV_FD %q\n#define GOMPI_INSIGHT_ENV_RANK %q\n"+
		"#define GOMPI_INSIGHT_ENV_ALONE %q\n\n#endif\n", insight.EnvFd, insight.EnvRank, insight.EnvAlone)
	return b.Bytes()
}

func insightNames() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n//\n// The names of all functions, in the order of the table.\n\n"+
		"#include \"insight/record.h\"\n\nconst char *const gompi_insight_function_names[] = {\n", notice)
	for _, f := range abi.Functions() {
		fmt.Fprintf(&b, "    \"%s\",\n", f.Name)
	}
	b.WriteString("};\n")
	return b.Bytes()
}

// writeWrapper writes the two wrappers of a function. The compiler inlines one body into both, so the return address
// and the frame in the body are those of the wrapper. A function without a record has a wrapper for MPI_X only.
func writeWrapper(b *bytes.Buffer, number int, f *abi.Function) {
	list := strings.Join(arguments(f, false), ", ")
	if insight.IsUnrecorded(f) {
		fmt.Fprintf(b, "\n%s\n{\n    return GOMPI_NEXT(%d, false, %s)(%s);\n}\n", prototype(f, ""), number,
			f.Name, list)
		return
	}
	call := fmt.Sprintf("GOMPI_NEXT(%d, profiling, %s)(%s)", number, f.Name, list)
	fmt.Fprintf(b, "\n%s\n{\n", bodyPrototype(f))
	writeBody(b, number, f, call)
	b.WriteString("}\n")
	for _, profiling := range []bool{false, true} {
		prefix := ""
		if profiling {
			prefix = "P"
		}
		all := strings.TrimSuffix(fmt.Sprintf("%v, %s", profiling, list), ", ")
		fmt.Fprintf(b, "\n%s\n{\n    return %s_body(%s);\n}\n", prototype(f, prefix), f.Name, all)
	}
}

// bodyPrototype returns the prototype of the function that both wrappers of f call. It has an additional argument:
// whether the application has called PMPI_X.
func bodyPrototype(f *abi.Function) string {
	list := []string{"bool profiling"}
	for _, p := range f.CParams() {
		if p.C != "..." {
			list = append(list, declaration(p))
		}
	}
	return wrap("GOMPI_INSIGHT_BODY "+f.Name+"_body(", list, ")")
}

func writeBody(b *bytes.Buffer, number int, f *abi.Function, call string) {
	fmt.Fprintf(b, "    struct gompi_insight_thread *t = gompi_insight_begin();\n"+
		"    if (t == NULL || (profiling && gompi_insight_end_if_binding(t, %d)))\n        return %s;\n",
		number, call)
	plan := insight.RecordItems(f)
	for _, i := range plan {
		if i.Form == insight.Members && i.IsOutput {
			// After an error that the program's error handler has handled, the call may return MPI_SUCCESS
			// without having created a communicator. So the wrapper stores the handle before the call and
			// compares it afterwards.
			fmt.Fprintf(b, "    MPI_Comm was_%[1]s = %[1]s != NULL ? *%[1]s : MPI_COMM_NULL;\n",
				i.Param.CName)
		}
	}
	fmt.Fprintf(b, "    if (gompi_insight_is_recording(t)) {\n"+
		"        gompi_insight_begin_record(t, %d,\n"+
		"            profiling ? gompi_insight_call_site(%[1]d, t->return_address) : t->return_address);\n",
		number)
	if on := insight.ErrorParam(f); on != nil {
		fmt.Fprintf(b, "        t->error_object = (uintptr_t)%s;\n", on.CName)
	}
	for _, i := range plan {
		if i.IsInput {
			writeItem(b, f, i, true)
		}
	}
	if insight.HasEntryRecord(f) {
		b.WriteString("        gompi_insight_write_entry(t);\n")
	} else if insight.ChangesWindow(number) {
		b.WriteString("        gompi_insight_write_op_entry(t);\n")
	}
	b.WriteString("    }\n")
	writeCounting(b, number, f, call)
	b.WriteString("    if (gompi_insight_is_recording(t)")
	if insight.IsTest(f) {
		b.WriteString(" && gompi_insight_must_record(t, rc, flag)")
	}
	b.WriteString(") {\n        gompi_insight_set_result(t, rc);\n")
	for _, i := range plan {
		if i.IsOutput {
			writeItem(b, f, i, false)
		}
	}
	write := "write"
	if insight.IsDroppable(f) {
		write = "write_may_drop"
	}
	fmt.Fprintf(b, "        gompi_insight_%s(t);\n", write)
	if on := insight.ErrorParam(f); on != nil {
		kind := map[string]string{"WINDOW": "win", "COMMUNICATOR": "comm"}[on.Kind.Name]
		fmt.Fprintf(b, "        if (gompi_insight_awaits_check(t))\n"+
			"            rc = gompi_insight_raise_%s(t, rc);\n", kind)
	}
	b.WriteString("    }\n    gompi_insight_end(t);\n    return rc;\n")
}

// atWindow has, for each MPI function that concerns a window's counters, two C statements: one that the wrapper runs
// before the call, and one that it runs after the call.
var atWindow = map[string][2]string{
	"MPI_Win_create":          {"", "gompi_insight_window_created(*win, comm);"},
	"MPI_Win_create_dynamic":  {"", "gompi_insight_window_created(*win, comm);"},
	"MPI_Win_allocate":        {"", "gompi_insight_window_created(*win, comm);"},
	"MPI_Win_allocate_shared": {"", "gompi_insight_window_created(*win, comm);"},
	"MPI_Win_set_name":        {"", "gompi_insight_window_named(win, win_name);"},
	"MPI_Win_free":            {"if (win != NULL)\n        gompi_insight_window_freed(*win);", ""},
	"MPI_Type_free":           {"gompi_add_seq_cst(&gompi_insight_generation, 1);", ""},
	"MPI_Finalize":            {"gompi_insight_print_stats();", "gompi_insight_finalized();"},
}

// writeCounting writes a call and the code that counts it. That code counts bytes and uses of windows for successful
// calls only: their arguments are valid, so querying their sizes causes no further error.
func writeCounting(b *bytes.Buffer, number int, f *abi.Function, call string) {
	told := atWindow[strings.TrimSuffix(f.Name, "_c")]
	use, uses := insight.UseOf(f)
	b.WriteString("    uint64_t began = 0;\n")
	if insight.MayWait(f) {
		b.WriteString("    uint32_t tick = 0;\n")
	}
	if told[0] != "" {
		fmt.Fprintf(b, "    %s\n", told[0])
	}
	b.WriteString("    if (gompi_insight_is_counting(t)) {\n")
	fmt.Fprintf(b, "        began = gompi_insight_count(t, %d);\n", number)
	if insight.MayWait(f) {
		b.WriteString("        tick = gompi_insight_reader_ms();\n")
	}
	fmt.Fprintf(b, "    }\n    int rc = %s;\n", call)
	if bytes := allBytes(f); bytes != "" || uses || told[1] != "" {
		if uses && use.MayWait() {
			b.WriteString("    struct gompi_insight_use *use = NULL;\n")
		}
		b.WriteString("    if (gompi_insight_is_counting(t) && rc == MPI_SUCCESS) {\n")
		if bytes != "" {
			fmt.Fprintf(b,
				"        int64_t bytes = %s;\n        gompi_insight_count_bytes(t, %d, bytes);\n",
				bytes, number)
		}
		if uses && use.MayWait() {
			fmt.Fprintf(b, "        use = gompi_insight_use(t, win, %d, 0);\n", use)
		} else if uses {
			fmt.Fprintf(b, "        gompi_insight_use(t, win, %d, bytes);\n", use)
		}
		if told[1] != "" {
			fmt.Fprintf(b, "        %s\n", told[1])
		}
		b.WriteString("    }\n")
	}
	at := "NULL" // the object that the call waits for
	if uses && use.MayWait() {
		at = "use"
	}
	if insight.MayWait(f) {
		fmt.Fprintf(b,
			"    if (gompi_insight_is_counting(t) && (began != 0 || tick != gompi_insight_reader_ms()))\n"+
				"        gompi_insight_end_waiting(t, %d, began, tick, %s);\n", number, at)
	} else {
		fmt.Fprintf(b, "    if (__builtin_expect(began != 0, 0))\n"+
			"        gompi_insight_end_measured(t, %d, began);\n", number)
	}
}

// allBytes returns the C expression of bytesOf, and makes it 0 if the parameter root is MPI_ROOT or MPI_PROC_NULL,
// because the other arguments may then be undefined.
func allBytes(f *abi.Function) string {
	bytes := bytesOf(f)
	switch {
	case bytes == "" || !hasParam(f, "root"):
		return bytes
	case strings.Contains(f.Name, "atter") || strings.Contains(f.Name, "ather"):
		return "root < 0 ? 0 : " + bytes // MPI_ROOT or MPI_PROC_NULL
	}
	return "root == MPI_PROC_NULL ? 0 : " + bytes // no other argument is significant then
}

// bytesOf returns the C expression of the bytes that a call moves for the calling rank, "" if it moves none.
func bytesOf(f *abi.Function) string {
	name := strings.TrimSuffix(f.Name, "_c")
	if !slices.Contains([]int{3, 6, 8, 12, 14}, f.Chapter) || strings.HasSuffix(name, "_init") {
		return ""
	}
	if _, operation := insight.UseOf(f); operation && hasParam(f, "target_count") {
		return "gompi_insight_data_bytes(t, target_count, target_datatype)"
	} else if operation && hasParam(f, "datatype") {
		return "gompi_insight_data_bytes(t, 1, datatype)"
	}
	base := strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(name, "MPI_"), "I"))
	neighbors := strings.HasPrefix(base, "neighbor")
	list := "gompi_insight_ints_bytes"
	if f.Large {
		list = "gompi_insight_counts_bytes"
	}
	one := func(counts, datatype string) string {
		return fmt.Sprintf("gompi_insight_data_bytes(t, %s, %s)", counts, datatype)
	}
	unless := func(buffer, expression, otherwise string) string {
		return fmt.Sprintf("%s == MPI_IN_PLACE ? %s : %s", buffer, otherwise, expression)
	}
	switch base {
	case "alltoall":
		return fmt.Sprintf("gompi_insight_peer_count(comm) * (%s)", unless("sendbuf", one("sendcount",
			"sendtype"),
			one("recvcount", "recvtype")))
	case "neighbor_alltoall":
		return "gompi_insight_neighbor_count(comm, true) * " + one("sendcount", "sendtype")
	case "alltoallv", "neighbor_alltoallv":
		return unless("sendbuf", fmt.Sprintf("%s(t, sendcounts, comm, sendtype, NULL, %v)", list, neighbors),
			"0")
	case "alltoallw", "neighbor_alltoallw":
		return unless("sendbuf", fmt.Sprintf("%s(t, sendcounts, comm, MPI_DATATYPE_NULL, sendtypes, %v)", list,
			neighbors), "0")
	case "reduce_scatter":
		return list + "(t, recvcounts, comm, datatype, NULL, false)"
	case "reduce_scatter_block":
		return "gompi_insight_local_size(comm) * " + one("recvcount", "datatype")
	case "scatter":
		return unless("recvbuf", one("recvcount", "recvtype"), one("sendcount", "sendtype"))
	case "scatterv":
		return unless("recvbuf", one("recvcount", "recvtype"), "0")
	case "gather", "allgather":
		return unless("sendbuf", one("sendcount", "sendtype"), one("recvcount", "recvtype"))
	case "gatherv", "allgatherv":
		return unless("sendbuf", one("sendcount", "sendtype"), "0")
	}
	params := f.CParams()
	for i, p := range params[:max(len(params)-1, 0)] {
		next := params[i+1]
		if strings.Contains(p.Kind.Name, "NUM_ELEM") && !p.Pointer() && next.Kind.Name == "DATATYPE" &&
			!next.Pointer() {
			return one(p.CName, next.CName)
		}
	}
	return ""
}

func hasParam(f *abi.Function, name string) bool {
	return slices.ContainsFunc(f.CParams(), func(p *abi.Param) bool { return p.Name == name })
}

// writeItem writes the code that records an item: an input if `before` is true, else an output, which is recorded after
// the call.
func writeItem(b *bytes.Buffer, f *abi.Function, i insight.Item, before bool) {
	p := i.Param
	switch i.Form {
	case insight.Word:
		cast := "(uint64_t)(int64_t)"
		if is, _ := p.Handle(); is || p.Pointer() || isPointerType(p) || strings.HasSuffix(p.CType(), "*") ||
			strings.HasSuffix(p.CType(), "_function") {
			cast = "(uintptr_t)"
		}
		fmt.Fprintf(b, "        gompi_insight_add_word(t, %s%s);\n", cast, p.CName)
		return
	case insight.Text:
		if before {
			fmt.Fprintf(b, "        gompi_insight_add_text(t, %s);\n", p.CName)
		} else {
			fmt.Fprintf(b, "        gompi_insight_add_text(t,\n"+
				"            gompi_insight_has_outputs(rc) ? %s : GOMPI_ABSENT);\n", p.CName)
		}
		return
	}
	if i.Form == insight.Members || i.Form == insight.Remote {
		what := "comm_members"
		if i.Form == insight.Remote {
			what = "comm_remote"
		}
		if before {
			fmt.Fprintf(b, "        gompi_insight_group_members(t, %s);\n", p.CName)
		} else {
			fmt.Fprintf(b,
				"        gompi_insight_%[1]s(t, gompi_insight_has_outputs(rc) && %[2]s != NULL && "+
					"*%[2]s != was_%[2]s ? *%[2]s : MPI_COMM_NULL);\n", what, p.CName)
		}
		return
	}
	length := listLength(f, p)
	if !before && p.Dir == abi.Out {
		length = "gompi_insight_has_outputs(rc) ? (int64_t)(" + length + ") : -1"
	}
	if p.Kind.Name == "REQUEST" && p.Dir == abi.Out {
		fmt.Fprintf(b, "        if (gompi_insight_has_outputs(rc))\n"+
			"            gompi_insight_make_distinct(t, %s);\n", p.CName)
	}
	size := "sizeof *" + p.CName
	if i.Form == insight.Statuses {
		size = "sizeof(MPI_Status)"
	} else if p.Kind.Name == "C_BUFFER" || p.Kind.Name == "C_BUFFER2" {
		size = "sizeof(void *)"
	} else if len(p.Length) > 1 {
		size = "sizeof **" + p.CName
	}
	fmt.Fprintf(b, "        gompi_insight_add_list(t, %s, %s, %s);\n", p.CName, length, size)
}

// listLength returns the C expression of the number of elements in a list parameter. The value is negative if the call
// does not use the list.
func listLength(f *abi.Function, p *abi.Param) string {
	name := strings.TrimSuffix(f.Name, "_c")
	some := strings.HasSuffix(name, "some")
	switch {
	case len(p.Length) == 0:
		return "1"
	case p.Length[0] != "*":
		return strings.Join(p.Length, " * ")
	case some && (p.Name == "array_of_statuses" || p.Name == "array_of_indices"):
		return "outcount != NULL && *outcount > 0 ? *outcount : 0"
	case p.Name == "array_of_statuses":
		return "count"
	case p.Name == "coords" || p.Name == "remain_dims":
		return "gompi_insight_dim_count(comm)"
	case p.Name == "edges":
		return "gompi_insight_last_int(indx, nnodes)"
	case name == "MPI_Dist_graph_create":
		return "gompi_insight_sum_ints(degrees, n)"
	case name == "MPI_Dist_graph_create_adjacent" && p.Name == "sourceweights":
		return "indegree"
	case name == "MPI_Dist_graph_create_adjacent" && p.Name == "destweights":
		return "outdegree"
	case name == "MPI_Dist_graph_neighbors" && p.Name == "sourceweights":
		return "maxindegree"
	case name == "MPI_Dist_graph_neighbors" && p.Name == "destweights":
		return "maxoutdegree"
	}
	base := strings.TrimSuffix(strings.TrimPrefix(name, "MPI_"), "_init")
	base = strings.ToLower(strings.TrimPrefix(base, "I"))
	sends := strings.HasPrefix(p.Name, "s")
	switch {
	case strings.HasPrefix(base, "neighbor") && sends:
		return "gompi_insight_neighbor_count(comm, true)"
	case strings.HasPrefix(base, "neighbor"):
		return "gompi_insight_neighbor_count(comm, false)"
	case base == "gatherv" || base == "scatterv":
		return "gompi_insight_peers_at_root(comm, root)"
	case base == "reduce_scatter":
		return "gompi_insight_local_size(comm)"
	case base == "allgatherv":
		return "gompi_insight_peer_count(comm)"
	case (base == "alltoallv" || base == "alltoallw") && sends:
		return "sendbuf == MPI_IN_PLACE ? -1 : gompi_insight_peer_count(comm)"
	case base == "alltoallv" || base == "alltoallw":
		return "gompi_insight_peer_count(comm)"
	}
	panic("gen: " + f.Name + ": nothing says how long " + p.Name + " is")
}
