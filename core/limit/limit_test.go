package limit

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree writes files below a temporary directory and returns it.
func tree(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return root
}

const (
	meminfo = "MemTotal:       24684096 kB\nMemFree:        1 kB\nMemAvailable:   20000000 kB\n"
	mounts1 = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n40 31 0:37 / " +
		"/sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
	mounts2 = "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	huge    = "9223372036854771712\n"
)

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		name, mountinfo, cgroup string
		want                    []string
	}{
		{"version 2, nested as Slurm and systemd do it", mounts2,
			"0::/system.slice/slurmstepd.scope/job_1/step_0/user/task_0\n", []string{
				"sys/fs/cgroup/system.slice/slurmstepd.scope/job_1/step_0/user/task_0",
				"sys/fs/cgroup/system.slice/slurmstepd.scope/job_1/step_0/user",
				"sys/fs/cgroup/system.slice/slurmstepd.scope/job_1/step_0",
				"sys/fs/cgroup/system.slice/slurmstepd.scope/job_1",
				"sys/fs/cgroup/system.slice/slurmstepd.scope", "sys/fs/cgroup/system.slice",
				"sys/fs/cgroup"}},
		{"version 1", mounts1, "9:name=systemd:/x\n4:memory:/a/b\n0::/\n",
			[]string{"sys/fs/cgroup/memory/a/b", "sys/fs/cgroup/memory/a", "sys/fs/cgroup/memory"}},
		{"both, the controller in either", mounts1 +
			"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", "4:memory:/a\n0::/u\n",
			[]string{"sys/fs/cgroup/memory/a", "sys/fs/cgroup/memory", "sys/fs/cgroup/unified/u",
				"sys/fs/cgroup/unified"}},
		{"several controllers in one tree", "35 31 0:32 / /cg rw - cgroup cgroup rw,cpu,memory\n",
			"4:cpu,memory:/a\n", []string{"cg/a", "cg"}},
		{"a container with groups of its own", mounts2, "0::/\n", []string{"sys/fs/cgroup"}},
		{"a container that sees the host's path",
			"35 31 0:32 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			"4:memory:/docker/1/sub\n",
			[]string{"sys/fs/cgroup/memory/sub", "sys/fs/cgroup/memory"}},
		{"a container whose path is not below what is mounted",
			"35 31 0:32 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			"4:memory:/docker/10\n",
			[]string{"sys/fs/cgroup/memory"}},
		{"a group out of the container's sight", "35 31 0:32 /.. /cg ro - cgroup2 cgroup rw\n",
			"0::/../other\n", []string{"cg"}},
		{"mounted twice", "35 31 0:32 /b /elsewhere ro - cgroup2 cgroup2 rw\n" + mounts2, "0::/a\n",
			[]string{"sys/fs/cgroup/a", "sys/fs/cgroup"}},
		{"a blank in a path", `35 31 0:32 / /my\040groups ro - cgroup2 cgroup2 rw` + "\n", "0::/a b\n",
			[]string{"my groups/a b", "my groups"}},
		{"not mounted", "1 1 0:1 / / rw - ext4 /dev/sda rw\n", "4:memory:/a\n0::/\n", nil},
		{"nonsense", "1 2 3\n - \n\n", "x\n::\n0\n", nil},
	} {
		root := tree(t, map[string]string{"proc/self/mountinfo": c.mountinfo, "proc/self/cgroup": c.cgroup})
		var got []string
		for _, g := range Groups(root, "memory") {
			dir, err := filepath.Rel(root, g.Dir)
			require.NoError(t, err)
			got = append(got, dir)
		}
		require.Equal(t, c.want, got, c.name)
	}
	require.Empty(t, Groups(t.TempDir(), "memory"))
}

func TestMemory(t *testing.T) {
	const machine = 20000000 << 10
	at := func(dir string, files ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(files); i += 2 {
			m[filepath.Join("sys/fs/cgroup", dir, files[i])] = files[i+1]
		}
		return m
	}
	for _, c := range []struct {
		name, mountinfo, cgroup string
		groups                  []map[string]string
		free                    int64
		by                      string
	}{
		{"no group", mounts2, "0::/\n", nil, machine, "on this machine"},
		{"groups without limit", mounts2, "0::/a\n",
			[]map[string]string{at("a", "memory.max", "max\n", "memory.current", "5\n", "memory.high",
				"max")}, machine, "on this machine"},
		{"the process' own", mounts2, "0::/a/b\n",
			[]map[string]string{at("a/b", "memory.max", "1048576000\n", "memory.current", "48576000\n")},
			1e9, "in control group ROOT/sys/fs/cgroup/a/b (memory.max is 1048576000)"},
		{"one above", mounts2, "0::/a/b/c\n", []map[string]string{
			at("a/b/c", "memory.max", "max\n", "memory.current", "1\n"),
			at("a/b", "memory.max", "2000000000\n", "memory.current", "1000\n"),
			at("a", "memory.max", "3000000000\n", "memory.current", "2500000000\n")}, 5e8,
			"in control group ROOT/sys/fs/cgroup/a (memory.max is 3000000000)"},
		{"slowed down before it is full", mounts2, "0::/a\n", []map[string]string{
			at("a", "memory.max", "2000000000\n", "memory.high", "1000000000\n", "memory.current",
				"400000000\n")}, 6e8,
			"in control group ROOT/sys/fs/cgroup/a (memory.high is 1000000000)"},
		{"pages of files are taken back, unless they are dirty", mounts2, "0::/a\n",
			[]map[string]string{at("a", "memory.max", "1000000000\n", "memory.current", "900000000\n",
				"memory.stat", "anon 1\nfile 500000000\nshmem 100000000\nfile_dirty "+
					"50000000\nfile_writeback "+
					"10000000\ninactive_file 250000000\nactive_file 150000000\n")},
			1e8 + 34e7, "in control group ROOT/sys/fs/cgroup/a (memory.max is 1000000000)"},
		{"over its limit", mounts2, "0::/a\n",
			[]map[string]string{at("a", "memory.max", "1000\n", "memory.current", "2000\n")}, 0,
			"in control group ROOT/sys/fs/cgroup/a (memory.max is 1000)"},
		{"a group nobody is in", mounts2, "0::/a\n",
			[]map[string]string{at("b", "memory.max", "1000\n", "memory.current", "0\n")}, machine,
			"on this machine"},
		{"version 1", mounts1, "4:memory:/a/b\n0::/\n", []map[string]string{
			at("memory/a/b", "memory.limit_in_bytes", huge, "memory.usage_in_bytes", "1\n"),
			at("memory/a", "memory.limit_in_bytes", "1000000000\n", "memory.usage_in_bytes", "900000000\n",
				"memory.stat", "inactive_file 7\ntotal_inactive_file 90000000\ntotal_active_file "+
					"30000000\ntotal_dirty 20000000\nhierarchical_memory_limit 1000000000\n"),
			at("memory", "memory.limit_in_bytes", huge, "memory.usage_in_bytes", "1\n")}, 2e8,
			"in control group ROOT/sys/fs/cgroup/memory/a (memory.limit_in_bytes is 1000000000)"},
		{"version 1, memory and swap together", mounts1, "4:memory:/a\n", []map[string]string{
			at("memory/a", "memory.limit_in_bytes", "2000000000\n", "memory.usage_in_bytes", "100000000\n",
				"memory.memsw.limit_in_bytes", "2000000000\n", "memory.memsw.usage_in_bytes",
				"1500000000\n")}, 5e8, "in control group ROOT/sys/fs/cgroup/memory/a " +
			"(memory.memsw.limit_in_bytes is 2000000000)"},
		{"version 1, a group above that cannot be seen", mounts1, "4:memory:/\n", []map[string]string{
			at("memory", "memory.limit_in_bytes", huge, "memory.usage_in_bytes", "100000000\n",
				"memory.stat", "hierarchical_memory_limit 600000000\n")},
			5e8, "in control group ROOT/sys/fs/cgroup/memory " +
				"(hierarchical_memory_limit in memory.stat is 600000000)"},
		{"files of nonsense", mounts2, "0::/a\n",
			[]map[string]string{at("a", "memory.max", "many\n", "memory.current", "-1\n", "memory.stat",
				"x\ny z\n")}, machine, "on this machine"},
	} {
		files := map[string]string{"proc/meminfo": meminfo, "proc/self/mountinfo": c.mountinfo,
			"proc/self/cgroup": c.cgroup}
		for _, g := range c.groups {
			for path, text := range g {
				files[path] = text
			}
		}
		root := tree(t, files)
		r := Memory(root, math.MaxInt64)
		require.Equal(t, c.free, r.Free, c.name)
		require.Equal(t, c.by, strings.ReplaceAll(r.LimitedBy, root, "ROOT"), c.name)
		require.GreaterOrEqual(t, r.Margin, int64(minMargin), c.name)
		require.LessOrEqual(t, r.Margin, int64(maxMargin), c.name)
		require.Equal(t, max(r.Free-r.Margin, 0), r.Usable(), c.name)
		// A call with a smaller argument `wanted` may return less than the exact headroom, but then at least
		// `wanted` bytes.
		for _, wanted := range []int64{0, 1e6, 1e9} {
			some := Memory(root, wanted)
			require.True(t, some.Free == r.Free || some.Usable() >= wanted && some.Free < r.Free,
				"%s: %d of %d", c.name, some.Free, r.Free)
		}
	}
}

func TestMemoryHere(t *testing.T) {
	r := Memory("/", math.MaxInt64)
	require.Positive(t, r.Free)
	require.NotEmpty(t, r.LimitedBy)
}

func TestBytes(t *testing.T) {
	for _, n := range []int64{0, 1, 1 << 20} {
		b, err := Bytes(n)
		require.NoError(t, err)
		require.Len(t, b, int(n))
	}
	for _, n := range []int64{1 << 45, math.MaxInt64} {
		_, err := Bytes(n)
		require.ErrorContains(t, err, "available")
	}
}
