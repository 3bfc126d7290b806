package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gompirma/core/version"
)

// language holds the properties that differ between the three wrappers.
type language struct {
	name string
	// Environment variables that name the compiler; the first one that is set is used. They include the variables
	// of other MPI libraries, so that build systems need no change.
	variables []string
	compilers []string // names tried in this order if no variable is set
	options   []string // options of the wrapper that name the compiler, such as -cc=clang
}

var (
	langC = language{"C", []string{"GOMPI_CC", "MPICH_CC", "OMPI_CC"}, []string{"gcc", "cc", "clang"},
		[]string{"-cc="}}
	langCXX = language{"C++", []string{"GOMPI_CXX", "MPICH_CXX", "OMPI_CXX"}, []string{"g++", "c++", "clang++"},
		[]string{"-cxx=", "-CC="}}
	langFortran = language{"Fortran", []string{"GOMPI_FC", "MPICH_FC", "OMPI_FC"}, []string{"gfortran", "flang"},
		[]string{"-fc=", "-f90=", "-f77="}}
)

// languageOf returns the language for the name by which the wrapper was called.
func languageOf(argv0 string) language {
	name, _, _ := strings.Cut(filepath.Base(argv0), ".") // Debian calls the wrappers mpicc.gompirma and so on
	switch strings.TrimSuffix(name, abiSuffix) {
	case "gompicxx", "mpicxx", "mpic++", "mpiCC":
		return langCXX
	case "gompifort", "mpifort", "mpif90", "mpif77":
		return langFortran
	}
	return langC
}

// abiSuffix is the suffix of the wrappers that link with the standard ABI's libraries. MPICH and Open MPI use the same
// names.
const abiSuffix = "_abi"

func abiOf(argv0 string) bool { return strings.HasSuffix(argv0, abiSuffix) }

// wrapper holds the language and the installation prefix. Its fields of function type access the system, and tests
// replace them.
type wrapper struct {
	lang     language
	abi      bool // link with libmpi_abi, not with libgompirma
	check    bool // instrument loads and stores for gompirun --check
	integer8 bool // Fortran's INTEGERs have 8 bytes, and bindings for them are installed
	// The compiler is gfortran. The installed file `flags` holds options for it.
	gfortran bool
	prefix   string
	getenv   func(string) string
	exists   func(path string) bool   // whether a file exists
	has      func(name string) bool   // whether a command is in PATH
	read     func(path string) string // content of a file; "" if it does not exist
}

// help returns the description of the wrapper's own options.
func (w wrapper) help() string {
	return "This wrapper runs the " + w.lang.name + " compiler with the options for MPI. Its own options are:\n" +
		"  -showme:command|compile|link|incdirs|libdirs|libs|version|help\n" +
		"                   print this part of the command line, and compile nothing\n" +
		"  -show, -showme   print the whole command line, and compile nothing\n" +
		"  -compile-info    print the command line without the options for linking\n" +
		"  -link-info       print the command line without the options for compiling\n" +
		"  --abi            link with libmpi_abi, the library of the standard ABI\n" +
		"  --check          compile so that gompirun --check also checks loads and stores\n" +
		"  " + strings.Join(w.lang.options, "COMPILER, ") + "COMPILER\n" +
		"                   use this compiler; the environment variable " + w.lang.variables[0] +
		" selects it, too"
}

// action is the result of act: a text to print, or a command to run.
type action struct {
	print bool
	text  string
	argv  []string
}

// act returns the action for the arguments of the wrapper.
func (w wrapper) act(args []string) (action, error) {
	var show string // the text to print, such as "command line"; "" if none
	var rest []string
	compiler := w.compiler()
next:
	for _, arg := range args {
		switch query, what, _ := strings.Cut(arg, ":"); query {
		case "-show", "-showme", "--showme":
			show = what
			if show == "" {
				show = "command line"
			}
			continue
		case "--abi", "-mpi-abi": // MPICH calls the option -mpi-abi
			w.abi = true
			continue
		case "--check":
			w.check = true
			continue
		case "-compile-info", "-compile_info", "-link-info", "-link_info":
			show = strings.ReplaceAll(query[1:], "_", "-")
			continue
		}
		for _, option := range w.lang.options {
			if value, ok := strings.CutPrefix(arg, option); ok {
				compiler = fields(value)
				continue next
			}
		}
		rest = append(rest, arg)
	}
	switch show { // works without a compiler, too
	case "version":
		return action{print: true, text: fmt.Sprintf("gompirma %s (%s)", version.String, w.lang.name)}, nil
	case "help":
		return action{print: true, text: w.help()}, nil
	}
	if len(compiler) == 0 {
		return action{}, fmt.Errorf("no %s compiler: none of %s is in PATH; set %s to the "+
			"compiler", w.lang.name,
			strings.Join(w.lang.compilers, ", "), w.lang.variables[0])
	}

	w.gfortran = isGfortran(compiler)
	w.integer8 = w.lang.name == langFortran.name && isInteger8(compiler, rest) && w.exists(w.integer8Dir())
	if w.integer8 {
		rest = linkInteger8(rest)
	}
	join := func(parts ...[]string) action {
		var all []string
		for _, part := range parts {
			all = append(all, part...)
		}
		return action{print: true, text: quote(all)}
	}
	compile, link := w.compileFlags(), w.linkFlags()
	switch show {
	case "":
		argv := append(append(compiler[:len(compiler):len(compiler)], compile...), rest...)
		if links(rest) {
			argv = append(argv, link...)
		}
		return action{argv: argv}, nil
	case "command line":
		// Build systems ask for the link options with a command line that has no input file
		if links(rest) || !stopsEarly(rest) {
			return join(compiler, compile, rest, link), nil
		}
		return join(compiler, compile, rest), nil
	case "compile-info":
		return join(compiler, compile, rest), nil
	case "link-info":
		return join(compiler, rest, link), nil
	case "compile":
		return join(compile), nil
	case "link":
		return join(link), nil
	case "command":
		return join(compiler), nil
	case "incdirs":
		return join(w.includes()), nil
	case "libdirs":
		return join([]string{w.libdir()}), nil
	case "libs":
		return join(w.libraries()), nil
	}
	return action{}, fmt.Errorf("unknown option -showme:%s; the word after -showme: must be command, compile, "+
		"link, incdirs, libdirs, libs, version or help", show)
}

func (w wrapper) compiler() []string {
	for _, name := range w.lang.variables {
		if value := fields(w.getenv(name)); len(value) > 0 {
			return value
		}
	}
	for _, name := range w.lang.compilers {
		if w.has(name) {
			return []string{name}
		}
	}
	return nil
}

// libdir returns the directory of the libraries to link. The libraries of the standard ABI are in a separate directory.
func (w wrapper) libdir() string {
	if w.abi {
		return filepath.Join(w.prefix, "lib/gompirma/abi")
	}
	return filepath.Join(w.prefix, "lib")
}

// integer8Dir returns the directory of the modules and the mpif.h for INTEGERs of 8 bytes.
func (w wrapper) integer8Dir() string { return filepath.Join(w.prefix, "lib/gompirma/fortran/i8") }

// isInteger8 reports whether the compiler's options select default INTEGERs of 8 bytes. If several options select a
// size, the last one counts. The library names for INTEGERs of 8 bytes count as such an option, because autoconf
// (FLIBS) and libtool may pass only these names and not the option itself.
func isInteger8(compiler, args []string) bool {
	eight := false
	all := append(append([]string{}, compiler...), args...)
	for i, arg := range all {
		value := ""
		if i+1 < len(all) {
			value = all[i+1]
		}
		switch {
		case arg == "-fdefault-integer-8", arg == "-finteger-4-integer-8", arg == "-i8",
			arg == "-integer-size" && value == "64", arg == "-integer-size=64", arg == "-qintsize=8",
			arg == "-lgompirma_fortran_i8", arg == "-lmpifort_abi_i8",
			arg == "-s" && (value == "integer64" || value == "default64"):
			eight = true
		case arg == "-fno-default-integer-8", arg == "-i4", arg == "-integer-size" && value == "32",
			arg == "-integer-size=32", arg == "-qintsize=4",
			arg == "-s" && (value == "integer32" || value == "default32"):
			eight = false
		}
	}
	return eight
}

// linkInteger8 replaces the names of the libraries for INTEGERs of 4 bytes by those for 8 bytes. Build systems may pass
// the names for 4 bytes although the program has 8: autoconf determines FLIBS without the option for 8 bytes, and
// libtool reads the names that are stored in a library's .la file.
func linkInteger8(args []string) []string {
	out := append([]string{}, args...)
	for i, arg := range out {
		for _, name := range []string{"gompirma_fortran", "mpifort_abi"} {
			switch {
			case arg == "-l"+name, arg == name && i > 0 && out[i-1] == "-l":
				out[i] = arg + "_i8"
			case filepath.Base(arg) == "lib"+name+".so":
				out[i] = strings.TrimSuffix(arg, ".so") + "_i8.so"
			}
		}
	}
	return out
}

// isGfortran reports whether a compiler's name is that of gfortran, such as /usr/bin/x86_64-linux-gnu-gfortran-12.
func isGfortran(compiler []string) bool {
	for _, word := range compiler {
		if strings.Contains(filepath.Base(word), "gfortran") {
			return true
		}
	}
	return false
}

// moduleDir returns the directory of the Fortran modules; "" if the bindings are not installed.
func (w wrapper) moduleDir() string {
	dir := filepath.Join(w.prefix, "lib/gompirma/fortran")
	if w.lang.name == langFortran.name && w.exists(dir) {
		return dir
	}
	return ""
}

func (w wrapper) includes() []string {
	dirs := []string{filepath.Join(w.prefix, "include")}
	if w.integer8 { // integer8Dir comes first, so that the compiler finds its mpif.h before the one in include
		return append([]string{w.integer8Dir()}, dirs...)
	}
	if dir := w.moduleDir(); dir != "" {
		dirs = append(dirs, dir)
	}
	return dirs
}

func (w wrapper) libraries() []string {
	main, fortran := "gompirma", "gompirma_fortran"
	if w.abi {
		main, fortran = "mpi_abi", "mpifort_abi"
	}
	if w.integer8 {
		fortran += "_i8"
	}
	if w.lang.name == langFortran.name && w.exists(filepath.Join(w.libdir(), "lib"+fortran+".so")) {
		return []string{fortran, main}
	}
	return []string{main}
}

func (w wrapper) compileFlags() []string {
	var flags []string
	for _, dir := range w.includes() {
		flags = append(flags, "-I"+dir)
	}
	// The file `flags` has gfortran's options for mpif.h and for old programs.
	if dir := w.moduleDir(); dir != "" && w.gfortran {
		flags = append(flags, fields(w.read(filepath.Join(dir, "flags")))...)
	}
	if w.check {
		flags = append(flags, checkFlags...)
		if w.lang.name != langFortran.name { // gfortran does not accept these options
			flags = append(flags, checkFunctions...)
		}
	}
	return flags
}

// linkFlags returns the options for linking. They include a RUNPATH, so that programs run without LD_LIBRARY_PATH. They
// do not include an RPATH, which would override LD_LIBRARY_PATH.
func (w wrapper) linkFlags() []string {
	dir := w.libdir()
	flags := []string{"-L" + dir}
	if strings.Contains(dir, ",") { // -Wl would split dir at the comma
		flags = append(flags, "-Xlinker", "-rpath", "-Xlinker", dir, "-Wl,--enable-new-dtags")
	} else {
		flags = append(flags, "-Wl,-rpath,"+dir, "-Wl,--enable-new-dtags")
	}
	// lib/gompirma/check has a link to libgompirma-access.so with the name of the thread sanitizer's library, which
	// the compiler passes to the linker because of -fsanitize=thread
	if w.check {
		flags = append(flags, "-L"+filepath.Join(w.prefix, "lib/gompirma/check"), "-lgompirma-access")
		for _, f := range wrapped {
			flags = append(flags, "-Wl,--wrap="+f)
		}
	}
	for _, name := range w.libraries() {
		flags = append(flags, "-l"+name)
	}
	return flags
}

// checkFlags make the compiler insert the thread sanitizer's calls at each load and store; libgompirma-access.so
// defines the called functions. -Wno-tsan suppresses warnings about fences, which libgompirma-access.so does not track.
var checkFlags = []string{"-fsanitize=thread", "-g", "-Wno-tsan"}

// checkFunctions make the C compiler call memcpy, memmove and memset instead of inlining them. The linker redirects
// these calls to libgompirma-access.so.
var checkFunctions = []string{"-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset"}

var wrapped = []string{"memcpy", "memmove", "memset", "__memcpy_chk", "__memmove_chk", "__memset_chk"}

// takesNextArg lists the compiler options whose value is the next argument. That argument is no input file.
var takesNextArg = map[string]bool{
	"-o": true, "-I": true, "-D": true, "-U": true, "-L": true, "-x": true, "-include": true, "-imacros": true,
	"-isystem": true,
	"-iquote":  true, "-idirafter": true, "-isysroot": true, "-MF": true, "-MT": true, "-MQ": true,
	"-Xlinker":       true,
	"-Xpreprocessor": true, "-Xassembler": true, "-Xclang": true, "-T": true, "-u": true, "-e": true, "-z": true,
	"-arch":   true,
	"-target": true, "-J": true, "-G": true, "-A": true, "-aux-info": true, "-dumpbase": true, "-dumpdir": true,
	"-wrapper": true,
	"-mllvm":   true, "--param": true, "--sysroot": true,
}

// stopsEarly reports whether one of the options (such as -c) makes the compiler stop before it links.
func stopsEarly(args []string) bool {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case takesNextArg[arg]:
			i++
		case slices.Contains(stopping, arg):
			return true
		}
	}
	return false
}

var stopping = []string{"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r", "-###", "--version", "--help",
	"-dumpversion", "-dumpmachine"}

// links reports whether the compiler links when it is called with these arguments: they contain an input file, and no
// option that makes the compiler stop earlier. If it does not link, the wrapper must not add the library, because a
// command such as `gompicc --version` would then try to link.
func links(args []string) bool {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case takesNextArg[arg]:
			i++
		case arg == "-" || strings.HasPrefix(arg, "-l") || !strings.HasPrefix(arg, "-"):
			return !stopsEarly(args)
		}
	}
	return false
}

// fields splits a value such as `ccache gcc` or `"/my tools/cc" -m64` at blanks outside quotes.
func fields(s string) []string {
	var out []string
	var word strings.Builder
	var in rune // the current quote, or 0
	inWord := false
	for _, r := range s {
		switch {
		case in != 0:
			if r == in {
				in = 0
			} else {
				word.WriteRune(r)
			}
		case r == '"' || r == '\'':
			in, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				out = append(out, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if inWord {
		out = append(out, word.String())
	}
	return out
}

// quote returns arguments in a form that a shell parses. Paths in the wrapper's own flags are quoted as CMake's FindMPI
// expects: -I"/a b".
func quote(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = quoteOne(arg)
	}
	return strings.Join(words, " ")
}

func quoteOne(arg string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_+=:,./-"
	if arg != "" && strings.Trim(arg, plain) == "" {
		return arg
	}
	for _, f := range []string{"-I", "-L", "-Wl,"} {
		if value, ok := strings.CutPrefix(arg, f); ok && !strings.ContainsAny(value, "\"$`\\!") {
			return f + `"` + value + `"`
		}
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
