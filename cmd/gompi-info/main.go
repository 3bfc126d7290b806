// Command gompi-info prints the version, ABI, features and limits of this gompirma, and properties of this machine: its
// cores and memory, the limits of the control group, services of the kernel, and optional libraries. `--json` prints
// the same facts as JSON. `--fabric` prints instead which libfabric provider a job on several nodes would use, and why;
// `--vars` prints the environment variables.
// The command is a static Go program: it must load neither gompirma's library nor libfabric.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"gompirma/cmd/internal/carriers"
	"gompirma/cmd/internal/nearest"
	"gompirma/core/abi"
	"gompirma/core/handle"
	_ "gompirma/core/lastwords" // prints one line if the Go runtime fails
	"gompirma/core/shm"
	"gompirma/core/version"
)

// Info holds everything that gompi-info prints; its JSON names are part of the interface.
type Info struct {
	Version   string    `json:"version"`
	Text      string    `json:"library_version"` // result of MPI_Get_library_version
	ABI       ABI       `json:"abi"`
	Prefix    string    `json:"prefix"`
	Library   string    `json:"library"` // libgompirma.so; "" if it is not installed below Prefix
	Features  []string  `json:"features"`
	Limits    Limits    `json:"limits"`
	Machine   Machine   `json:"machine"`
	Kernel    Kernel    `json:"kernel"`
	Libraries []Library `json:"optional_libraries"`
}

// ABI describes the standard that the library follows.
type ABI struct {
	Standard string `json:"mpi_standard"`
	Version  string `json:"abi_version"`
	Soname   string `json:"soname"`
	Library  string `json:"library"` // libmpi_abi.so.1; "" if it is not installed below Prefix
}

// Limits are the limits of this release. The name of a field states its unit.
type Limits struct {
	ProcessesPerNode int   `json:"processes_per_node"`
	HandlesPerKind   int   `json:"handles_per_kind"`
	Windows          int   `json:"windows_per_process"`
	HeapPerProcess   int64 `json:"shared_memory_per_process_bytes"`
	ObjectName       int   `json:"object_name_bytes"`
	ErrorString      int   `json:"error_string_bytes"`
}

func features() []string {
	return []string{
		"MPI 5.0 standard ABI, MPI_ and PMPI_ symbols",
		"MPI_THREAD_MULTIPLE",
		"strong progress: one-sided operations complete without MPI calls of the target",
		"windows in unnamed shared memory (memfd)",
		"checks of bounds, epochs, ranks, counts and handles in every call",
		"launch by gompirun, by PMI-1 launchers (MPICH's mpiexec, Slurm), or without a launcher",
	}
}

func collect() Info {
	prefix := ""
	if self, err := os.Executable(); err == nil {
		prefix = filepath.Dir(filepath.Dir(self))
	}
	// found returns the path of a file below the prefix with links resolved; "" if the file does not exist.
	found := func(name string) string {
		path, err := filepath.EvalSymlinks(filepath.Join(prefix, name))
		if err != nil {
			return ""
		}
		return path
	}
	return Info{
		Version: version.String,
		Text:    version.Library(),
		ABI: ABI{
			Standard: fmt.Sprintf("%d.%d", abi.MPI_VERSION, abi.MPI_SUBVERSION),
			Version:  fmt.Sprintf("%d.%d", abi.MPI_ABI_VERSION, abi.MPI_ABI_SUBVERSION),
			Soname:   "libgompirma.so." + version.Major(),
			Library:  found("lib/gompirma/abi/libmpi_abi.so.1"),
		},
		Prefix:   prefix,
		Library:  found("lib/libgompirma.so"),
		Features: features(),
		Limits: Limits{
			ProcessesPerNode: shm.MaxProcesses,
			HandlesPerKind:   handle.MaxLive,
			Windows:          handle.MaxWindows,
			HeapPerProcess:   shm.HeapStride,
			ObjectName:       abi.MPI_MAX_OBJECT_NAME,
			ErrorString:      abi.MPI_MAX_ERROR_STRING,
		},
		Machine:   machine("/"),
		Kernel:    kernel(),
		Libraries: libraries("/"),
	}
}

const manual = `usage: gompi-info [--fabric | --vars] [--json | --version]

Prints version, features and limits of this gompirma, and the properties of this machine.
  --fabric   print which network a job on several nodes would use, and why
  --vars     print the environment variables of gompirma, their values and meaning
  --json     print JSON
  --version  print the version only
`

// optionError returns the message for an error in the options. For an unknown option it suggests the known option with
// the most similar name.
func optionError(flags *flag.FlagSet, err error) string {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return err.Error()
	}
	var names []string
	flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	text := "unknown option --" + strings.TrimPrefix(name, "-")
	if like := nearest.Word(name, names); like != "" {
		return text + ". Did you mean --" + like + "?"
	}
	return text + " (gompi-info --help lists the options)"
}

func main() {
	flags := flag.NewFlagSet("gompi-info", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print JSON")
	short := flags.Bool("version", false, "print the version alone")
	network := flags.Bool("fabric", false, "print which network a job on several nodes would use, and why")
	vars := flags.Bool("vars", false, "print the environment variables of gompirma, their values and meaning")
	flags.SetOutput(io.Discard)
	switch err := flags.Parse(os.Args[1:]); {
	case err == flag.ErrHelp:
		fmt.Print(manual)
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "gompi-info:", optionError(flags, err))
		os.Exit(2)
	case flags.NArg() > 0:
		fmt.Fprintf(os.Stderr, "gompi-info: unexpected argument %q (gompi-info --help lists the options)\n",
			flags.Arg(0))
		os.Exit(2)
	}
	var err error
	switch {
	case *short:
		_, err = fmt.Println("gompirma", version.String)
	case *network:
		var f carriers.Fabric
		if f, err = carriers.Query(); err == nil {
			err = printFabric(f, *asJSON, os.Stdout)
		}
	case *vars:
		err = printVariables(*asJSON, os.Stdout)
	case *asJSON:
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(collect())
	default:
		err = collect().print(os.Stdout)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "gompi-info: %v\n", err)
		os.Exit(1)
	}
}

func (i Info) print(out io.Writer) error {
	w := &lines{out: out}
	w.line("gompirma", "%s (%s/%s, %s)", i.Version, runtime.GOOS, runtime.GOARCH, runtime.Version())
	w.line("version", "%s", i.Text)
	w.line("standard", "MPI %s, ABI version %s, %s", i.ABI.Standard, i.ABI.Version, i.ABI.Soname)
	w.line("prefix", "%s", i.Prefix)
	if i.Library == "" {
		w.line("library", "libgompirma was not found below the prefix")
	} else {
		w.line("library", "%s", i.Library)
	}
	if i.ABI.Library != "" {
		w.line("library", "%s", i.ABI.Library)
	}
	for _, f := range i.Features {
		w.line("feature", "%s", f)
	}
	w.line("limit", "%d processes on a node", i.Limits.ProcessesPerNode)
	w.line("limit", "%d MPI objects of each kind in a process, but only %d windows", i.Limits.HandlesPerKind,
		i.Limits.Windows)
	w.line("limit", "%s of shared memory for the windows of a process", formatBytes(i.Limits.HeapPerProcess))
	w.line("limit", "%d bytes in the name of an object, %d in the text of an error", i.Limits.ObjectName,
		i.Limits.ErrorString)

	m := i.Machine
	w.line("cores", "%d online, %d usable%s", m.CoresOnline, m.CoresUsable,
		textUnless(m.CgroupCPU == 0, ", limit of the control group: %.2f", m.CgroupCPU))
	w.line("memory", "%s, %s available%s", formatBytes(m.Memory), formatBytes(m.MemoryAvailable),
		textUnless(m.CgroupMemory == 0, ", limit of the control group: %s", formatBytes(m.CgroupMemory)))
	if m.CgroupProcesses != 0 {
		w.line("processes", "limit of the control group: %d", m.CgroupProcesses)
	}
	w.line("processor", "%s", m.Processor)

	k := i.Kernel
	w.line("kernel", "%s", k.Release)
	w.line("kernel", "memfd_create: %s%s", yesNo(k.Memfd),
		textUnless(k.Memfd, ", so shared memory is a System V segment"))
	w.line("kernel", "membarrier (private, expedited): %s", yesNo(k.Membarrier))
	w.line("kernel", "process_vm_readv / writev: %s", k.ProcessVM)
	w.line("kernel", "/proc/PID/fd of own processes: %s", yesNo(k.ProcFd))
	if k.ShmemHugePages != "" {
		w.line("kernel", "huge pages in shared memory: %s", k.ShmemHugePages)
	}
	for _, l := range i.Libraries {
		if l.Path == "" {
			w.line("optional", "%s: not found (%s)", l.Name, l.For)
		} else {
			w.line("optional", "%s: %s (%s)", l.Name, l.Path, l.For)
		}
	}
	return w.err
}

// lines prints lines that begin with a label. If the previous line has the same label, it prints blanks instead. After
// a failed write it keeps the first error, which the caller checks at the end.
type lines struct {
	out  io.Writer
	last string
	err  error
}

func (w *lines) line(label, format string, args ...any) {
	if label == w.last {
		label = ""
	} else {
		w.last = label
	}
	if _, err := fmt.Fprintf(w.out, "%-10s %s\n", label, fmt.Sprintf(format, args...)); err != nil && w.err == nil {
		w.err = err
	}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func textUnless(absent bool, format string, args ...any) string {
	if absent {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func formatBytes(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1024, 0
	for value >= 1024 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	return fmt.Sprintf("%.4g %ciB", value, units[unit])
}
