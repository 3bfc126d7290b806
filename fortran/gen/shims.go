package main

import (
	"bytes"
	"fmt"
	"strings"

	"gompirma/core/abi"
	"gompirma/core/abi/genfile"
)

// byHand maps each function that fortran/*.c implements, by its name without MPI_, to the reason why generated
// conversions are not enough.
var byHand = map[string]string{}

func init() {
	for why, names := range map[string]string{
		"completes requests: indices count from 1, and deferred conversions of results are executed": `wait waitall waitany waitsome test testall testany
			testsome request_get_status request_get_status_all request_get_status_any request_get_status_some request_free start startall`,
		"returns its result when the request completes": "comm_idup comm_idup_with_info",
		"has a Fortran procedure as an argument": `op_create op_create_c comm_create_errhandler file_create_errhandler session_create_errhandler
			win_create_errhandler comm_create_keyval type_create_keyval win_create_keyval keyval_create grequest_start
			register_datarep register_datarep_c`,
		"attributes of C and Fortran differ": `comm_get_attr comm_set_attr type_get_attr type_set_attr win_get_attr win_set_attr
			attr_get attr_put`,
		"has an array of strings, or an INOUT length of a string": `comm_spawn comm_spawn_multiple info_get info_get_string
			session_get_nth_pset`,
		"the length of its arrays is another function's result": "cart_sub type_get_contents " +
			"type_get_contents_c",
		"exists only in Fortran": "f_sync_reg sizeof status_f2f08 status_f082f",
	} {
		for _, name := range strings.Fields(names) {
			byHand[name] = why
		}
	}
}

// beforehand maps functions to a statement that precedes the call.
var beforehand = map[string]string{
	"finalize":         "gompi_forget_sections();",
	"session_finalize": "gompi_forget_sections();",
}

// afterwards maps functions to a statement that follows a successful call.
var afterwards = map[string]string{
	"abi_get_fortran_info": "store_sizes(c_info);",
}

// handleNames maps handle types to the names of their conversions in fortran/gompi_f.h: comm for comm_in and comm_out.
var handleNames = map[string]string{
	"MPI_Comm": "comm", "MPI_Datatype": "datatype", "MPI_Errhandler": "errhandler", "MPI_File": "file",
	"MPI_Group": "group", "MPI_Info": "info",
	"MPI_Message": "message", "MPI_Op": "op", "MPI_Request": "request", "MPI_Session": "session", "MPI_Win": "win",
}

// shim collects the parts of one generated C function.
type shim struct {
	f          *abi.Function
	b          binding
	params     []string // parameters of the prototype
	hidden     []string // parameters for the lengths of strings, after all other parameters
	locals     []string // declarations
	checks     []string // expressions that check a number and return an error code; evaluated before `open`
	large      []string // arguments of the call of the large-count form
	wide       []string // conditions under which the code calls the large-count form; EIGHT: INTEGERs have 8 bytes
	open       []string // expressions that prepare an argument and return an error class
	args       []string // arguments of the call
	called     []string // statements after any call
	success    []string // statements after a successful call
	always     []string // statements after the call and after a failed preparation
	request    string   // the Fortran variable that receives a request, if there is one
	kept       bool     // the function has a local variable `struct gompi_kept k`
	keptBuffer int
	keptTypes  int
}

// shims generates the files of C functions. For each chapter, one file has the functions that get buffers by address or
// have no buffers, and one has the functions that get buffers as descriptors.
func shims() genfile.Files {
	chapters := map[string][2]*bytes.Buffer{}
	for _, f := range abi.Functions() {
		if !f.F08 && !f.F90 {
			continue
		}
		name := chapterName(f.Chapter)
		out, ok := chapters[name]
		if !ok {
			out = [2]*bytes.Buffer{{}, {}}
			chapters[name] = out
		}
		if byHand[base(f)] != "" {
			continue
		}
		switch {
		case !hasChoice(f) && sameABI(f):
			b := f90
			if !f90.exists(f) {
				b = f08
			}
			label := base(f)
			if b == f08 {
				label += "_f08"
			}
			writeShim(out[0], f, b, label)
			if b == f90 && f.F08 {
				fmt.Fprintf(out[0], "SAME(%s, %s_f08)\n", base(f), base(f))
			}
		case !hasChoice(f):
			if f90.exists(f) {
				writeShim(out[0], f, f90, base(f))
			}
			writeShim(out[0], f, f08, base(f)+"_f08")
		default:
			if f90.exists(f) {
				writeShim(out[0], f, f90, base(f))
			}
			if f.F08 {
				writeShim(out[1], f, f08, base(f)+"_f08ts")
			}
		}
		if f90.exists(f) && hasPointer(f) {
			fmt.Fprintf(out[0], "SAME(%s, %s_cptr)\n", base(f), base(f))
		}
	}
	files := genfile.Files{}
	for name, out := range chapters {
		for i, what := range []string{"f_", "f08ts_"} {
			if out[i].Len() == 0 {
				continue
			}
			include, says := "gompi_f.h", "by their external names"
			if i == 1 {
				include, says = "section.h", "that mpi_f08 calls with descriptors of buffers"
			}
			head := fmt.Sprintf("/* %s */\n/* The functions of MPI-5.0 chapter %s %s. Compiled twice, "+
				"see NAME. */\n#include \"%s\"\n", notice, chapterTitle(name), says, include)
			files["fortran/generated/"+what+name+".c"] = append([]byte(head), out[i].Bytes()...)
		}
	}
	return files
}

var chapterNames = map[int]string{
	3: "p2p", 4: "partitioned", 5: "datatypes", 6: "collectives", 7: "communicators", 8: "topologies",
	9: "environment", 10: "info", 11: "processes",
	12: "rma", 13: "external", 14: "io", 15: "tools", 16: "deprecated", 19: "fortran", 20: "abi",
}

func chapterName(n int) string {
	name, ok := chapterNames[n]
	if !ok {
		panic(fmt.Sprintf("gen: chapter %d has no name", n))
	}
	return name
}

func chapterTitle(name string) string {
	for n, s := range chapterNames {
		if s == name {
			return fmt.Sprintf("%d (%s)", n, abi.Chapters()[n])
		}
	}
	panic(name)
}

// sameABI reports whether a function without buffers has the same calling sequence in mpi_f08 and in the other two
// bindings.
func sameABI(f *abi.Function) bool {
	for _, p := range f.Params {
		if f08.class(f, p) != f90.class(f, p) && f90.class(f, p) == "choice" {
			return false
		}
	}
	return true
}

func writeShim(out *bytes.Buffer, f *abi.Function, b binding, label string) {
	s := &shim{f: f, b: b}
	shown := map[*abi.Param]bool{}
	for _, p := range b.params(f) {
		shown[p] = true
	}
	for _, p := range f.Params {
		switch {
		case p.Name == "ierror":
			s.params = append(s.params, "integer *ierror")
		case p.Kind.Name == "VARARGS":
		case !shown[p] && p.Kind.Fortran == "none":
			if strings.HasSuffix(p.C, "]") || strings.Contains(p.C, "*") {
				s.arg("NULL")
			} else {
				s.arg("0")
			}
		case shown[p]:
			s.param(p)
		default:
			panic("gen: " + f.Name + ": no value for " + p.Name)
		}
	}
	s.write(out, label)
}

// pointer returns the C type of a parameter that is passed by reference, const if it is not output.
func (s *shim) pointer(p *abi.Param, typ string) string {
	if p.Dir == abi.In {
		return "const " + typ + " *" + p.Name
	}
	return typ + " *" + p.Name
}

// count returns the C expression for an array's number of elements, which the table gives as the name of a parameter.
func (s *shim) count(p *abi.Param) string {
	for _, q := range s.f.Params {
		if len(p.Length) > 0 && q.Name == p.Length[0] {
			return "*" + q.Name
		}
	}
	panic("gen: " + s.f.Name + ": no length of " + p.Name)
}

// arg adds an argument that is the same in the calls of the small-count and the large-count form.
func (s *shim) arg(expression string) { s.args2(expression, expression) }

// args2 adds an argument that differs between the calls of the small-count and the large-count form.
func (s *shim) args2(small, large string) {
	s.args = append(s.args, small)
	s.large = append(s.large, large)
}

// array declares a C array, which the expression `open` prepares and the function `free` releases.
func (s *shim) array(local, open, free string) {
	s.locals = append(s.locals, "struct gompi_array "+local+" = {0};")
	s.open = append(s.open, open)
	s.always = append(s.always, free+"(&"+local+");")
}

func (s *shim) param(p *abi.Param) {
	local := "c_" + p.Name
	switch class := s.b.class(s.f, p); class {
	case "integer":
		s.params = append(s.params, s.pointer(p, "integer"))
		s.integer(p, local)
	case "aint", "count", "offset":
		s.params = append(s.params, s.pointer(p, eightTypes[class]))
		if p.Pointer() {
			s.arg(p.Name)
		} else {
			s.arg("*" + p.Name)
		}
	case "logical_void":
		s.params = append(s.params, "void *"+p.Name)
		s.arg(p.Name)
	case "logical":
		s.params = append(s.params, s.pointer(p, "logical"))
		switch {
		case len(p.Length) > 0 && p.Dir == abi.In:
			s.array(local, "logicals_in(&"+local+", "+s.count(p)+", "+p.Name+")", "gompi_array_free")
			s.arg(local + ".data")
		case len(p.Length) > 0:
			s.array(local, "gompi_array_make(&"+local+", "+s.count(p)+", sizeof(int))", "gompi_array_free")
			s.arg(local + ".data")
			s.success = append(s.success, "logicals_out("+p.Name+", "+s.count(p)+", "+local+".data);")
		case p.Pointer():
			s.locals = append(s.locals, "int "+local+" = 0;")
			s.arg("&" + local)
			s.success = append(s.success, "*"+p.Name+" = logical_out("+local+");")
		default:
			s.arg("logical_in(*" + p.Name + ")")
		}
	case "handle":
		s.handle(p, local)
	case "status":
		if len(p.Length) > 0 {
			panic("gen: " + s.f.Name + ": an array of statuses")
		}
		s.params = append(s.params, s.pointer(p, "f_status"))
		s.locals = append(s.locals, "MPI_Status "+local+";")
		s.arg("status_to(" + p.Name + ", &" + local + ")")
		if p.Dir != abi.In {
			s.called = append(s.called, "status_out("+p.Name+", &"+local+");")
		}
	case "character":
		s.character(p, local)
	case "c_ptr":
		s.params = append(s.params, "void *"+p.Name)
		s.arg(p.Name)
		if p.Kind.Name == "C_BUFFER2" {
			s.success = append(s.success, "pointer_out("+p.Name+");")
		}
	case "choice":
		if s.b == f08 {
			s.descriptor(p)
			return
		}
		s.params = append(s.params, "void *"+p.Name)
		// An input only: the program does not get the address of the buffer back.
		if p.Kind.Name == "C_BUFFER2" {
			s.locals = append(s.locals, "void *"+local+";", "(void)"+p.Name+";")
			s.arg("&" + local)
			return
		}
		s.arg("buffer_in(" + p.Name + ")")
	default:
		panic("gen: " + s.f.Name + ": " + p.Name + " is a " + class)
	}
}

var eightTypes = map[string]string{"aint": "MPI_Aint", "count": "MPI_Count", "offset": "MPI_Offset"}

// largeForm reports whether a function has a large-count form with the same number of arguments.
func largeForm(f *abi.Function) bool {
	return !f.Large && f.OtherForm != nil && len(f.OtherForm.Params) == len(f.Params)
}

// integer converts an INTEGER of default size, or an array of them. If a value does not fit into an int, the generated
// code calls the large-count form; if there is none, the call is an error.
func (s *shim) integer(p *abi.Param, local string) {
	large := ""
	if largeForm(s.f) {
		large = eightTypes[p.Kind.FLarge]
	}
	array := len(p.Length) > 0
	length := ""
	if array {
		length = s.length(p)
	}
	switch {
	case large != "" && (length == "*" || !array && p.Dir != abi.In):
		// C reads the array after the call, or writes the parameter. With INTEGERs of 8 bytes, such a call
		// always uses the large-count form.
		s.args2("("+p.CType()+")"+p.Name, "("+strings.Replace(p.CType(), "int", large, 1)+")"+p.Name)
		s.whenWide("EIGHT")
	case large != "" && array:
		s.array(local, "ints_in(&"+local+", "+length+", "+p.Name+")", "ints_free")
		s.args2(local+".data", "("+strings.Replace(p.CType(), "int", large, 1)+")"+p.Name)
		s.whenWide("any_wide(" + length + ", " + p.Name + ")")
	case large != "":
		s.args2("(int)*"+p.Name, "*"+p.Name)
		s.whenWide("wide(*" + p.Name + ")")
	case array && p.Kind.Name == "WEIGHT":
		way := "weights_in"
		if p.Dir == abi.In {
			s.checks = append(s.checks, "weights_fit("+s.judged(p)+length+", "+p.Name+")")
		} else {
			way = "weights_room"
			s.success = append(s.success, "weights_out("+p.Name+", "+length+", &"+local+");")
		}
		s.array(local, way+"(&"+local+", "+length+", "+p.Name+")", "ints_free")
		s.arg(local + ".data")
	case array:
		way := "ints_in"
		if p.Dir != abi.Out {
			s.checks = append(s.checks, "all_fit("+s.judged(p)+length+", "+p.Name+", "+errorClass(p)+")")
		}
		if p.Dir != abi.In {
			way = "ints_room"
			s.success = append(s.success, "ints_out("+p.Name+", "+length+", &"+local+");")
		}
		s.array(local, way+"(&"+local+", "+length+", "+p.Name+")", "ints_free")
		if strings.Contains(p.CType(), "(*)") {
			s.arg("(" + p.CType() + ")" + local + ".data")
		} else {
			s.arg(local + ".data")
		}
	case p.Pointer():
		if p.Dir == abi.InOut {
			s.checks = append(s.checks, "fits("+s.judged(p)+"*"+p.Name+", "+errorClass(p)+")")
			s.locals = append(s.locals, "int "+local+" = (int)*"+p.Name+";")
		} else {
			s.locals = append(s.locals, "int "+local+" = 0;")
		}
		s.arg("int_to(" + p.Name + ", &" + local + ")")
		s.success = append(s.success, "int_out("+p.Name+", "+local+");")
	default:
		s.checks = append(s.checks, "fits("+s.judged(p)+"*"+p.Name+", "+errorClass(p)+")")
		s.arg("(int)*" + p.Name)
	}
}

// judged returns the first arguments of the C call that checks a parameter: the names of the function and of the
// parameter, as C strings.
func (s *shim) judged(p *abi.Param) string { return `"` + s.f.Name + `", "` + p.Name + `", ` }

// whenWide adds a condition for calling the large-count form.
func (s *shim) whenWide(condition string) {
	for _, c := range s.wide {
		if c == condition {
			return
		}
	}
	s.wide = append(s.wide, condition)
}

// lengths holds the C expressions for the lengths of arrays for which the table names no parameter.
var lengths = map[string]string{
	"MPI_Cart_rank coords":                         "dims_of(*comm)",
	"MPI_Graph_create edges":                       "last_of(*nnodes, index)",
	"MPI_Graph_map edges":                          "last_of(*nnodes, index)",
	"MPI_Dist_graph_create destinations":           "sum_of(*n, degrees)",
	"MPI_Dist_graph_create weights":                "sum_of(*n, degrees)",
	"MPI_Dist_graph_create_adjacent sourceweights": "*indegree",
	"MPI_Dist_graph_create_adjacent destweights":   "*outdegree",
	"MPI_Dist_graph_neighbors sourceweights":       "*maxindegree",
	"MPI_Dist_graph_neighbors destweights":         "*maxoutdegree",
}

// length returns the C expression for an array's number of INTEGERs; "*" if the number depends on the communicator's
// size or topology.
func (s *shim) length(p *abi.Param) string {
	switch {
	case len(p.Length) == 2:
		return p.Length[1] + " * (MPI_Count)" + s.count(p)
	case p.Length[0] != "*":
		return s.count(p)
	case lengths[s.f.Name+" "+p.Name] != "":
		return lengths[s.f.Name+" "+p.Name]
	case largeForm(s.f):
		return "*"
	}
	panic("gen: " + s.f.Name + ": no length of " + p.Name)
}

// errorClass returns the class of the error for an invalid value of a parameter.
func errorClass(p *abi.Param) string {
	if p.Name == "root" {
		return "MPI_ERR_ROOT"
	}
	switch p.Kind.Name {
	case "RANK", "RANK_NNI":
		return "MPI_ERR_RANK"
	case "TAG":
		return "MPI_ERR_TAG"
	case "COORDINATE", "DIMENSION", "NUM_DIMS":
		return "MPI_ERR_DIMS"
	case "KEYVAL":
		return "MPI_ERR_KEYVAL"
	case "ASSERT":
		return "MPI_ERR_ASSERT"
	case "LOCK_TYPE":
		return "MPI_ERR_LOCKTYPE"
	case "ACCESS_MODE":
		return "MPI_ERR_AMODE"
	}
	return "MPI_ERR_ARG"
}

func (s *shim) handle(p *abi.Param, local string) {
	name := handleNames[p.Kind.C]
	s.params = append(s.params, s.pointer(p, "integer"))
	_, pointer := p.Handle()
	switch {
	case len(p.Length) > 0 && p.Length[0] == "*": // MPI_Alltoallw and its variants
		if !s.kept {
			s.kept = true
		}
		array := fmt.Sprintf("k.types[%d]", s.keptTypes)
		s.keptTypes++
		buffer := strings.Replace(strings.Replace(p.Name, "types", "buf", 1), "sdispls", "", 1)
		which := "0"
		if strings.HasPrefix(p.Name, "recv") {
			which = "1"
		}
		neighbor := "false"
		if strings.Contains(strings.ToLower(s.f.Name), "neighbor") {
			neighbor = "true"
		}
		s.open = append(s.open, fmt.Sprintf("gompi_peer_types(&%s, comm_in(*comm), %s, %s, %s, %s)", array,
			neighbor, which, s.ignored(buffer), p.Name))
		s.arg(array + ".data")
	case len(p.Length) > 0:
		s.locals = append(s.locals, "struct gompi_array "+local+" = {0};")
		s.always = append(s.always, "gompi_array_free(&"+local+");")
		s.open = append(s.open, fmt.Sprintf("%ss_in(&%s, %s, %s)", name, local, s.count(p), p.Name))
		s.arg(local + ".data")
		if p.Dir != abi.In {
			panic("gen: " + s.f.Name + ": an array of handles comes out")
		}
	case !pointer:
		s.arg(name + "_in(*" + p.Name + ")")
	case p.Dir == abi.In: // only the argument of MPI_Cancel
		s.locals = append(s.locals, p.Kind.C+" "+local+" = "+name+"_in(*"+p.Name+");")
		s.arg("&" + local)
	case p.Dir == abi.InOut:
		s.locals = append(s.locals, p.Kind.C+" "+local+" = "+name+"_in(*"+p.Name+");")
		s.arg("&" + local)
		s.always = append(s.always, "*"+p.Name+" = "+name+"_out("+local+");")
	default:
		s.locals = append(s.locals, p.Kind.C+" "+local+" = "+nullOf(p.Kind.C)+";")
		s.arg("&" + local)
		s.success = append(s.success, "*"+p.Name+" = "+name+"_out("+local+");")
		if p.Kind.C == "MPI_Request" {
			s.request = p.Name
		}
	}
}

// ignored returns a C expression that is true if a buffer is MPI_IN_PLACE, so that its datatypes are not significant.
func (s *shim) ignored(buffer string) string {
	for _, p := range s.f.Params {
		if p.Name == buffer {
			if s.b == f08 {
				return "in_place(" + buffer + "->base_addr)"
			}
			return "in_place(" + buffer + ")"
		}
	}
	panic("gen: " + s.f.Name + ": no buffer " + buffer)
}

func nullOf(typ string) string { return strings.ToUpper(typ) + "_NULL" }

// stripped selects the strings that lose leading blanks too (MPI-5.0 10); the other strings lose only trailing blanks.
func stripped(f *abi.Function) string {
	if strings.HasPrefix(f.Name, "MPI_Info_") {
		return "STRIP_BOTH"
	}
	return "STRIP_TRAILING"
}

func (s *shim) character(p *abi.Param, local string) {
	text, length := p.Name, p.Name+"_len"
	if s.b == f08 && hasChoice(s.f) { // strings are passed as descriptors too
		s.params = append(s.params, "const CFI_cdesc_t *"+p.Name)
		text, length = p.Name+"->base_addr", p.Name+"->elem_len"
	} else {
		s.hidden = append(s.hidden, "size_t "+length)
		if p.Dir == abi.In {
			s.params = append(s.params, "const char *"+p.Name)
		} else {
			s.params = append(s.params, "char *"+p.Name)
		}
	}
	if p.Dir == abi.In {
		s.locals = append(s.locals, "struct gompi_string "+local+" = {0};")
		s.open = append(s.open, fmt.Sprintf("gompi_string_in(&%s, %s, %s, %s)", local, text, length,
			stripped(s.f)))
		s.arg(local + ".text")
		s.always = append(s.always, "gompi_string_free(&"+local+");")
		return
	}
	size := outSize(s.f, p)
	s.locals = append(s.locals, "char "+local+"["+size+"] = \"\";")
	s.arg(local)
	s.success = append(s.success, fmt.Sprintf("gompi_string_out(%s, %s, %s);", text, length, local))
}

// outSize returns the C expression for the maximum length of an output string.
func outSize(f *abi.Function, p *abi.Param) string {
	if len(p.Length) == 1 && strings.HasPrefix(p.Length[0], "MPI_MAX_") {
		return p.Length[0]
	}
	switch f.Name + " " + p.Name {
	case "MPI_Info_get_nthkey key":
		return "MPI_MAX_INFO_KEY"
	case "MPI_File_get_view datarep":
		return "MPI_MAX_DATAREP_STRING"
	}
	panic("gen: " + f.Name + ": no longest " + p.Name)
}

// role determines what the generated code passes to C for a buffer that is a section with gaps between its elements.
type role int

const (
	typed role = iota // a datatype that describes the section, with count 1
	// A contiguous copy: the buffer holds blocks of several processes or packed data, or one datatype argument also
	// describes another buffer, so it cannot be replaced for this one.
	scratch
	whole      // an error, since MPI uses the buffer as raw memory
	address    // the address of the first element
	single     // as `address`, if one element of the datatype fits into one array element; else an error
	partitions // a datatype that describes one partition, with count 1
)

// roleOf returns the role of a buffer, and the parameters that are its count and datatype.
func roleOf(f *abi.Function, p *abi.Param) (r role, count, datatype *abi.Param) {
	name := strings.ToLower(f.Name)
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(name, part) {
				return true
			}
		}
		return false
	}
	receives := p.Dir != abi.In
	switch {
	case has("win_create", "win_attach", "win_detach", "_attach_buffer", "buffer_attach", "free_mem"):
		return whole, nil, nil
	case has("get_address") || strings.HasPrefix(name, "mpi_file_") && strings.HasSuffix(name, "_end"):
		return address, nil, nil
	case has("fetch_and_op", "compare_and_swap"):
		r = single
	case has("psend_init", "precv_init"):
		r = partitions
	case has("alltoall") || has("gather") && receives || has("scatter") && !receives:
		return scratch, nil, nil
	case f.Chapter == 6 && has("reduce", "scan"):
		return scratch, nil, nil
	case has("pack") && (p.Name == "outbuf" && !has("unpack") || p.Name == "inbuf" && has("unpack")):
		return scratch, nil, nil
	}
	// Finds the count and the datatype that follow the buffer, possibly after other parameters.
	after := false
	for _, q := range f.Params {
		switch {
		case q == p:
			after = true
		case after && count == nil && isCount(q):
			count = q
		case after && q.Kind.Name == "DATATYPE" && len(q.Length) == 0:
			if r != single && count == nil {
				panic("gen: " + f.Name + ": no count for " + p.Name)
			}
			return r, count, q
		}
	}
	panic("gen: " + f.Name + ": no datatype for " + p.Name)
}

func isCount(p *abi.Param) bool {
	switch p.Kind.Name {
	case "POLYXFER_NUM_ELEM_NNI", "POLYXFER_NUM_ELEM", "POLYDTYPE_NUM_ELEM_NNI", "POLYDTYPE_NUM_ELEM",
		"XFER_NUM_ELEM_NNI":
		return len(p.Length) == 0
	}
	return false
}

func (s *shim) descriptor(p *abi.Param) {
	s.params = append(s.params, "const CFI_cdesc_t *"+p.Name)
	r, count, datatype := roleOf(s.f, p)
	local := "s_" + p.Name
	switch r {
	case typed, partitions:
		s.locals = append(s.locals, "struct gompi_section "+local+" = {0};")
		if r == typed {
			s.open = append(s.open, fmt.Sprintf("section_open(&%s, %s, *%s, datatype_in(*%s))", local,
				p.Name, count.Name, datatype.Name))
		} else {
			s.open = append(s.open,
				fmt.Sprintf("gompi_section_partitions(&%s, %s, (int)*partitions, *%s, "+
					"datatype_in(*%s))",
					local, p.Name, count.Name, datatype.Name))
		}
		s.arg(local + ".addr")
		s.always = append(s.always, "section_close(&"+local+");")
		s.described(count, local+".count")
		s.described(datatype, local+".type")
	case scratch:
		s.kept = true
		what := fmt.Sprintf("k.buffer[%d]", s.keptBuffer)
		s.keptBuffer++
		s.open = append(s.open, fmt.Sprintf("scratch_open(&%s, %s, %v)", what, p.Name, p.Dir != abi.In))
		s.arg(what + ".addr")
	case whole:
		s.open = append(s.open, "whole("+p.Name+")")
		s.arg("buffer_in(" + p.Name + "->base_addr)")
	case single:
		s.open = append(s.open, fmt.Sprintf("single(%s, datatype_in(*%s))", p.Name, datatype.Name))
		s.arg("buffer_in(" + p.Name + "->base_addr)")
	case address:
		s.arg("buffer_in(" + p.Name + "->base_addr)")
	}
}

// described notes that the call must pass `value`, the count or datatype of the section, instead of p, which is the
// program's count or datatype. The conversion of p adds an argument to the call as usual, and the method `write`
// replaces that argument later.
func (s *shim) described(p *abi.Param, value string) {
	s.locals = append(s.locals, "\x00"+p.Name+"\x00"+value)
}

// raised returns the C arguments for the object on which an error is raised.
func (s *shim) raised() string {
	for _, p := range s.f.Params {
		if len(p.Length) > 0 {
			continue
		}
		switch p.Kind.Name {
		case "COMMUNICATOR", "WINDOW", "FILE", "SESSION":
			if p.Dir == abi.In {
				return "RAISE_" + strings.ToUpper(handleNames[p.Kind.C]) + ", *" + p.Name
			}
		}
	}
	return "RAISE_SELF, 0"
}

func (s *shim) write(out *bytes.Buffer, label string) {
	// Replaces the counts and datatypes that the method `described` has noted.
	var locals []string
	for _, l := range s.locals {
		if !strings.HasPrefix(l, "\x00") {
			locals = append(locals, l)
			continue
		}
		f := strings.Split(l, "\x00")
		name, value := f[1], f[2]
		replace(s.large, value, "*"+name, "datatype_in(*"+name+")")
		replace(s.wide, "wide("+value+")", "wide(*"+name+")")
		replace(s.args, "(int)"+value, "(int)*"+name)
		replace(s.args, value, "*"+name, "datatype_in(*"+name+")")
	}
	_, name, _ := strings.Cut(s.f.Name, "_")
	out.WriteString("\n")
	params := append(append([]string{}, s.params...), s.hidden...)
	if len(params) == 0 {
		params = []string{"void"}
	}
	call := wrap("CALL("+name+")(", s.args)
	if typ := s.f.Returns; result(s.f) != "" {
		fmt.Fprintf(out, "%s\n{\n    return %s;\n}\n", wrap("ENTRY "+typ+" NAME("+label+")(", params),
			call)
		return
	}
	fmt.Fprintf(out, "%s\n{\n", wrap("ENTRY void NAME("+label+")(", params))
	ierror := false
	for _, p := range s.f.Params {
		ierror = ierror || p.Name == "ierror"
	}
	if s.kept {
		locals = append([]string{"struct gompi_kept k = {0};"}, locals...)
	}
	for _, l := range locals {
		fmt.Fprintf(out, "    %s\n", l)
	}
	if before := beforehand[base(s.f)]; before != "" {
		fmt.Fprintf(out, "    %s\n", before)
	}
	if after := afterwards[base(s.f)]; after != "" {
		s.success = append(s.success, after)
	}
	open := append(append([]string{}, s.checks...), s.open...)
	simple := len(open)+len(s.wide)+len(s.called)+len(s.success)+len(s.always) == 0 && !s.kept
	switch {
	case !ierror:
		fmt.Fprintf(out, "    %s;\n}\n", call)
		return
	case simple:
		fmt.Fprintf(out, "    done(ierror, %s);\n}\n", call)
		return
	case len(open) == 0 && len(s.wide) == 0:
		fmt.Fprintf(out, "    int rc = %s;\n", call)
	case len(open) == 0:
		out.WriteString("    int rc;\n")
	default:
		fmt.Fprintf(out, "    int rc = %s;\n", open[0])
		for _, o := range open[1:] {
			fmt.Fprintf(out, "    if (!rc)\n        rc = %s;\n", o)
		}
		fmt.Fprintf(out, "    if (rc)\n        rc = gompi_raise_pending(%s, rc);\n", s.raised())
		if len(s.wide) == 0 {
			fmt.Fprintf(out, "    else\n        rc = %s;\n", call)
		} else {
			out.WriteString("    else ")
		}
	}
	if len(s.wide) > 0 {
		if len(open) == 0 {
			out.WriteString("    ")
		}
		conditions := s.wide
		for _, c := range s.wide {
			if c == "EIGHT" {
				conditions = []string{c}
			}
		}
		fmt.Fprintf(out, "if (%s)\n        rc = %s;\n    else\n        rc = %s;\n",
			strings.Join(conditions, " ||\n        "), wrap("CALL("+name+"_c)(", s.large), call)
	}
	for _, l := range s.called {
		fmt.Fprintf(out, "    %s\n", l)
	}
	switch {
	case len(s.success) == 1:
		fmt.Fprintf(out, "    if (!rc)\n        %s\n", s.success[0])
	case len(s.success) > 1:
		out.WriteString("    if (!rc) {\n")
		for _, l := range s.success {
			fmt.Fprintf(out, "        %s\n", l)
		}
		out.WriteString("    }\n")
	}
	for _, l := range s.always {
		fmt.Fprintf(out, "    %s\n", l)
	}
	if s.kept {
		if s.request != "" {
			fmt.Fprintf(out, "    gompi_keep(&k, rc ? NULL : %s, %v);\n", s.request,
				strings.Contains(s.f.Name, "_init"))
		} else {
			out.WriteString("    gompi_release(&k, !rc);\n")
		}
	}
	out.WriteString("    done(ierror, rc);\n}\n")
}

// replace replaces each element of `list` that equals one of `items` by `value`.
func replace(list []string, value string, items ...string) {
	for i := range list {
		for _, item := range items {
			if list[i] == item {
				list[i] = value
			}
		}
	}
}

// symbolsTest generates a C program that refers to every symbol to which the modules and mpif.h refer.
func symbolsTest() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* %s */\n/* Every external name of the Fortran bindings is in the library. */\n"+
		"#include <stdio.h>\n\n", notice)
	var names []string
	for _, prefix := range []string{"mpi_", "pmpi_"} {
		for _, f := range abi.Functions() {
			if f90.exists(f) {
				names = append(names, prefix+base(f)+"_")
				if hasPointer(f) {
					names = append(names, prefix+base(f)+"_cptr_")
				}
			}
			if f08.exists(f) {
				names = append(names, prefix+base(f)+suffix(f)+"_")
			}
		}
		for _, f := range abi.Removed() { // mpif.h and mpi have no interfaces for these functions
			names = append(names, prefix+base(f)+"_")
		}
		for _, n := range []string{"sizeof_f08ts_", "f_sync_reg_", "f_sync_reg_f08ts_", "status_f2f08_f08_",
			"status_f082f_f08_"} {
			names = append(names, prefix+n)
		}
	}
	for _, c := range copyFunctions {
		names = append(names, strings.ToLower(c.name)+"_")
	}
	for _, f := range abi.Extensions() {
		names = append(names, base(f)+"_", base(f)+suffix(f)+"_")
	}
	symbols := func(bytes int) []string {
		var list []string
		for _, s := range sentinels() {
			list = append(list, s.symbol(f90, bytes))
			if s.f08 != "" {
				list = append(list, s.symbol(f08, bytes))
			}
		}
		if bytes == 8 {
			for _, f := range abi.Functions() {
				if starts[f.Name] {
					name := started(base(f), f, bytes)
					list = append(list, "mpi_"+name+"_", "pmpi_"+name+"_", "mpi_"+name+"_f08_",
						"pmpi_"+name+"_f08_")
				}
			}
		}
		return list
	}
	each := func(format string) {
		write := func(list []string) {
			for _, n := range list {
				fmt.Fprintf(&b, format, n)
			}
		}
		write(names)
		b.WriteString("#ifdef GOMPI_F_INTEGER_8\n")
		write(symbols(8))
		b.WriteString("#else\n")
		write(symbols(4))
		b.WriteString("#endif\n")
	}
	each("extern char %s[];\n")
	b.WriteString("\nstatic char *const symbols[] = {\n")
	each("    %s,\n")
	b.WriteString(`};

int main(void)
{
    int missing = 0;

    for (unsigned i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        char *const volatile symbol = symbols[i];
        missing += !symbol;
    }
    printf(missing ? "FAIL: %d symbols are null\n" : "PASS\n", missing);
    return missing != 0;
}
`)
	return b.Bytes()
}
