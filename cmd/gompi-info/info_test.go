package main

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// tree writes files below a temporary directory and returns the directory.
func tree(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return root
}

func TestMachine(t *testing.T) {
	m := machine(tree(t, map[string]string{
		"proc/cpuinfo":                   "processor\t: 0\nmodel name\t: A\nprocessor\t: 1\nmodel name\t: B\n",
		"proc/meminfo":                   "MemTotal:  2048 kB\nMemAvailable: 1024 kB\n",
		"sys/devices/system/cpu/online":  "0-2,8\n",
		"proc/self/cgroup":               "0::/a/b\n",
		"sys/fs/cgroup/a/b/cpu.max":      "max 100000\n",
		"sys/fs/cgroup/a/cpu.max":        "150000 100000\n",
		"sys/fs/cgroup/a/b/memory.max":   "4096\n",
		"sys/fs/cgroup/a/memory.max":     "8192\n",
		"sys/fs/cgroup/a/b/pids.max":     "max\n",
		"sys/fs/cgroup/memory.max.other": "1\n",
	}))
	require.Positive(t, m.CoresUsable)
	m.CoresUsable = 0
	require.Equal(t, Machine{Processor: "A", CoresOnline: 4, CgroupCPU: 1.5, Memory: 2 << 20,
		MemoryAvailable: 1 << 20, CgroupMemory: 4096}, m)
}

func TestMachineVersion1(t *testing.T) {
	m := machine(tree(t, map[string]string{
		"proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/x\n3:pids:/\n0::/\n",
		"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us":  "-1\n",
		"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":    "50000\n",
		"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us":   "100000\n",
		"sys/fs/cgroup/memory/x/memory.limit_in_bytes":  "9223372036854771712\n",
		"sys/fs/cgroup/memory/memory.limit_in_bytes":    "1000\n",
		"sys/fs/cgroup/pids/pids.max":                   "77\n",
		"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000\n",
	}))
	require.Equal(t, 0.5, m.CgroupCPU)
	require.Equal(t, int64(1000), m.CgroupMemory)
	require.Equal(t, int64(77), m.CgroupProcesses)
	require.Equal(t, "unknown", m.Processor)
}

// cacheOf returns the content of a file ld.so.cache. Each of the entries holds flags, and the name and path of a
// library.
func cacheOf(entries ...[3]any) []byte {
	table := make([]byte, 48+24*len(entries))
	copy(table, "glibc-ld.so.cache1.1")
	binary.NativeEndian.PutUint32(table[20:], uint32(len(entries)))
	for i, e := range entries {
		at := 48 + 24*i
		binary.NativeEndian.PutUint32(table[at:], uint32(e[0].(int)))
		for j := 1; j <= 2; j++ {
			binary.NativeEndian.PutUint32(table[at+4*j:], uint32(len(table)))
			table = append(append(table, e[j].(string)...), 0)
		}
	}
	return table
}

func TestCacheEntries(t *testing.T) {
	cache := cacheOf([3]any{0x0803, "liba.so", "/32/liba.so"}, [3]any{0x0303, "liba.so", "/64/liba.so"},
		[3]any{0x0303, "liba.so", "/other/liba.so"})
	want := map[string]string{"liba.so": "/64/liba.so"}
	require.Equal(t, want, cacheEntries(cache))
	require.Equal(t, want, cacheEntries(append([]byte("ld.so-1.7.0 the older format"), cache...)))
	for n := range cache { // a cache that is truncated at any length must not cause a panic
		cacheEntries(cache[:n])
	}
}

func FuzzCacheEntries(f *testing.F) {
	f.Add(cacheOf([3]any{0x0303, "liba.so", "/64/liba.so"}))
	f.Fuzz(func(_ *testing.T, cache []byte) { cacheEntries(cache) })
}

func TestFind(t *testing.T) {
	t.Setenv("LD_LIBRARY_PATH", "")
	root := tree(t, map[string]string{
		"etc/ld.so.conf":          "# first\n/opt/none\ninclude ld.so.conf.d/*.conf\n",
		"etc/ld.so.conf.d/x.conf": "/opt/x\n",
		"opt/x/libone.so":         "", "usr/lib/libtwo.so": "", "cached/libone.so": "",
	})
	require.Equal(t, "/opt/x/libone.so", find(root, "libone.so", nil))
	require.Equal(t, "/cached/libone.so",
		find(root, "libone.so", map[string]string{"libone.so": "/cached/libone.so"}))
	require.Equal(t, "/opt/x/libone.so", find(root, "libone.so", map[string]string{"libone.so": "/gone/libone.so"}))
	require.Equal(t, "/usr/lib/libtwo.so", find(root, "libtwo.so", nil))
	require.Equal(t, "", find(root, "libthree.so", nil))
	own := tree(t, map[string]string{"libtwo.so": ""})
	t.Setenv("LD_LIBRARY_PATH", own)
	require.Equal(t, filepath.Join(own, "libtwo.so"), find(root, "libtwo.so", nil))
}

func TestProcessVM(t *testing.T) {
	require.Equal(t, "yes", processVM("", nil))
	require.Equal(t, "yes", processVM("0", nil))
	require.Contains(t, processVM("1", nil), "PR_SET_PTRACER")
	require.Equal(t, "no: ptrace_scope 2", processVM("2", nil))
	require.Equal(t, "no: operation not permitted", processVM("0", unix.EPERM))
}

func TestBracketedAndBytes(t *testing.T) {
	require.Equal(t, "never", bracketed("always within_size advise [never] deny force"))
	require.Equal(t, "", bracketed(""))
	require.Equal(t, "512 B", formatBytes(512))
	require.Equal(t, "1.5 KiB", formatBytes(1536))
	require.Equal(t, "1 TiB", formatBytes(1<<40))
}

func TestPrint(t *testing.T) {
	var text strings.Builder
	info := collect()
	require.NoError(t, info.print(&text))
	require.Contains(t, text.String(), "MPI 5.0, ABI version 1.0, libgompirma.so.0")
	data, err := json.Marshal(info)
	require.NoError(t, err)
	var back Info
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, info, back)
}

func TestOptionError(t *testing.T) {
	for arg, want := range map[string]string{
		"--jsno":    "unknown option --jsno. Did you mean --json?",
		"-version2": "unknown option --version2. Did you mean --version?",
		"--all":     "unknown option --all (gompi-info --help lists the options)",
		"--json=x":  `invalid boolean value "x" for -json: parse error`,
	} {
		flags := flag.NewFlagSet("gompi-info", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		flags.Bool("json", false, "")
		flags.Bool("version", false, "")
		require.Equal(t, want, optionError(flags, flags.Parse([]string{arg})), arg)
	}
}

func TestVariables(t *testing.T) {
	t.Setenv("GOMPIRMA_NO_CMA", "1")
	t.Setenv("GOMPIRMA_PORTS", "")
	values := map[string]*string{}
	for _, v := range variables() {
		values[v.Name] = v.Value
		require.NotEmpty(t, v.Meaning, v.Name)
	}
	require.Greater(t, len(values), 30)
	require.Equal(t, "1", *values["GOMPIRMA_NO_CMA"])
	require.Equal(t, "", *values["GOMPIRMA_PORTS"])
	require.Nil(t, values["MPICH_CC"])
	require.Contains(t, values, "MPICH_CC")

	var out strings.Builder
	require.NoError(t, printVariables(false, &out))
	require.Contains(t, out.String(), "GOMPIRMA_NO_CMA=1\n      disables process_vm_readv and process_vm_writev.")
	for _, line := range strings.Split(out.String(), "\n") {
		require.True(t, len(line) <= 80 || !strings.HasPrefix(line, " "), line)
		require.NotContains(t, line, "`")
	}
	out.Reset()
	require.NoError(t, printVariables(true, &out))
	require.True(t, json.Valid([]byte(out.String())))
}
