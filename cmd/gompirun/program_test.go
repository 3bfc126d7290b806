package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// tree creates a directory with an executable at each path. A path that ends in "-" names a file that is not
// executable.
func tree(t *testing.T, paths ...string) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, p := range paths {
		mode := os.FileMode(0o755)
		if p[len(p)-1] == '-' {
			mode = 0o644
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, p), []byte("#!/bin/sh\n"), mode))
	}
	return dir
}

func TestPrepareFindsPrograms(t *testing.T) {
	dir := tree(t, "bin/a", "bin/data-", "other/a", "other/b", "work/rel/c", "work/here")
	path := "PATH=" + dir + "/none:" + dir + "/bin:" + dir + "/other:rel"
	for name, want := range map[string]string{
		"a":                   dir + "/bin/a",
		"b":                   dir + "/other/b",
		"c":                   "rel/c",
		"./here":              "./here",
		"rel/c":               "rel/c",
		dir + "/bin/a":        dir + "/bin/a",
		"../other/b":          "../other/b",
		"./../work/../bin/a/": "",
		"data-":               "",
		"nowhere":             "",
		"here":                "",
		"./nowhere":           "",
		dir + "/bin":          "",
		dir + "/bin/data-":    "",
	} {
		got, err := prepare(part{n: 1, wdir: dir + "/work", argv: []string{name}}, []string{path})
		if want == "" {
			require.ErrorContains(t, err, filepath.Base(name), name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, want, got.path)
	}
	_, err := prepare(part{wdir: dir + "/work", argv: []string{"here"}}, []string{path})
	require.ErrorContains(t, err, "here: not found in PATH. Did you mean ./here?")
	for _, wdir := range []string{dir + "/none", dir + "/bin/a"} {
		_, err := prepare(part{wdir: wdir, argv: []string{"a"}}, []string{path})
		require.ErrorContains(t, err, "--wdir "+wdir)
	}
	// prepare searches the PATH of the part, not gompirun's PATH.
	got, err := prepare(part{env: []string{"PATH=" + dir + "/other"}, argv: []string{"a"}}, []string{path})
	require.NoError(t, err)
	require.Equal(t, dir+"/other/a", got.path)
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{"A=1", "B=2", "PMI_RANK=7", "PMIX_RANK=7", "PMIX_MCA_x=1", "GOMPIRMA_JOB=j",
		"MPI_LOCALRANKID=3", "GOMPIRMA_INSIGHT_PART=5", "PWD=/old", "ODD", "A.B=3"},
		part{env: []string{"B=3", "C=4", "B=5", "PMI_SIZE=mine"}, wdir: "/"})
	require.Equal(t, []string{"A=1", "PMIX_MCA_x=1", "ODD", "A.B=3", "PWD=/", "C=4", "B=5", "PMI_SIZE=mine"}, got)
	require.Equal(t, "5", variable(got, "B"))
	require.Equal(t, "", variable(got, "GONE"))
	one, two := &node{size: 2}, &world{size: 2, id: "job"}
	a, b := withRankVariables(got, two, 0, 1, one), withRankVariables(got, two, 1, 1, one)
	require.Equal(t, "0", variable(a, "PMI_RANK"), "places do not share memory")
	require.Equal(t, "1", variable(b, "PMI_RANK"))
	require.Equal(t, "2", variable(b, "PMI_SIZE"))
	require.Equal(t, "job", variable(b, "GOMPIRMA_JOB"))
	require.Equal(t, "1", variable(b, "MPI_LOCALRANKID"))
	c := withRankVariables(append(got, "GOMPIRMA_NODE=mine"), &world{size: 5, id: "job"}, 4, 2,
		&node{number: 1, first: 3, size: 2})
	for name, want := range map[string]string{"PMI_RANK": "4", "PMI_SIZE": "5", "MPI_LOCALRANKID": "1",
		"MPI_LOCALNRANKS": "2", "GOMPIRMA_NODE": "1"} {
		require.Equal(t, want, variable(c, name), name)
	}
	require.NotContains(t, c, "GOMPIRMA_NODE=mine")
}

func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		n, nodes, perNode int
		sizes             []int
		mapping           string
	}{
		{5, 0, 0, []int{5}, "(vector,(0,1,5))"},
		{4, 2, 0, []int{2, 2}, "(vector,(0,2,2))"},
		{5, 2, 0, []int{2, 3}, "(vector,(0,1,2),(1,1,3))"},
		{5, 4, 0, []int{1, 1, 1, 2}, "(vector,(0,3,1),(3,1,2))"},
		{2, 3, 0, []int{1, 1}, "(vector,(0,2,1))"},
		{5, 3, 2, []int{2, 2, 1}, "(vector,(0,2,2),(2,1,1))"},
		{5, 2, 4, []int{4, 1}, "(vector,(0,1,4),(1,1,1))"},
	} {
		sizes := blocks(c.n, c.nodes, c.perNode)
		require.Equal(t, c.sizes, sizes)
		j := &job{}
		for i, size := range sizes {
			first := 0
			if i > 0 {
				first = j.nodes[i-1].first + j.nodes[i-1].size
			}
			j.nodes = append(j.nodes, node{number: i, first: first, size: size})
		}
		require.Equal(t, c.mapping, mapping(j.nodes))
		rank := 0
		for i, size := range sizes {
			for range size {
				require.Equal(t, i, j.nodeOf(rank).number)
				rank++
			}
		}
	}
}

// Checks that withLibraries appends the directory of the libraries to LD_LIBRARY_PATH and preserves the meaning of the
// other entries. An empty entry is the working directory.
func TestLibraryPath(t *testing.T) {
	dir := t.TempDir()
	for before, want := range map[string]string{
		"":           dir,
		"/a":         "/a:" + dir,
		"/a:/b":      "/a:/b:" + dir,
		"/a:":        "/a::" + dir,
		":/a":        ":/a:" + dir,
		"/a;/b":      "/a;/b:" + dir,
		dir:          dir,
		dir + ":/a":  dir + ":/a",
		"/a;" + dir:  "/a;" + dir,
		dir + "/x":   dir + "/x:" + dir,
		"/x" + dir:   "/x" + dir + ":" + dir,
		"/a:" + dir:  "/a:" + dir,
		"relative/a": "relative/a:" + dir,
	} {
		env := withLibraries([]string{"A=1", "LD_LIBRARY_PATH=" + before, "B=2"}, dir)
		require.ElementsMatch(t, []string{"A=1", "B=2", "LD_LIBRARY_PATH=" + want}, env, before)
	}
	require.Equal(t, []string{"A=1", "LD_LIBRARY_PATH=" + dir}, withLibraries([]string{"A=1"}, dir))
	twice := withLibraries([]string{"LD_LIBRARY_PATH=/a", "LD_LIBRARY_PATH=/b"}, dir)
	require.Equal(t, "/b:"+dir, variable(twice, "LD_LIBRARY_PATH"), "the last one counts")
	// A directory that does not exist, or whose name the loader would misread, is not appended.
	odd := filepath.Join(dir, "a:b")
	require.NoError(t, os.Mkdir(odd, 0o755))
	for _, folder := range []string{dir + "/none", odd, "", dir + "/$LIB", "lib"} {
		require.Equal(t, []string{"A=1"}, withLibraries([]string{"A=1"}, folder), folder)
	}
}

func TestBindings(t *testing.T) {
	many := cores()
	require.Nil(t, bindings(many+1, "core", 1, "/nowhere"))
	sets := bindings(many, "core", 1, "/nowhere")
	require.Len(t, sets, many)
	for i := range sets {
		require.Equal(t, 1, sets[i].Count())
		for k := range i {
			require.NotEqual(t, sets[i], sets[k])
		}
	}
	// If all processors are hardware threads of one core, only one rank can be bound to a core. It gets all these
	// processors.
	sys := t.TempDir()
	for cpu := range 64 {
		dir := filepath.Join(sys, "cpu"+strconv.Itoa(cpu), "topology")
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "thread_siblings_list"), []byte("0-63\n"), 0o644))
	}
	sets = bindings(1, "core", 1, sys)
	require.Len(t, sets, 1)
	require.Equal(t, min(many, 64), sets[0].Count())
	if many > 1 && many <= 64 {
		require.Nil(t, bindings(2, "core", 1, sys))
	}
	require.Len(t, bindings(many, "hwthread", 1, sys), many)
	sets = bindings(1, "hwthread", many, sys)
	require.Len(t, sets, 1)
	require.Equal(t, many, sets[0].Count())
	require.Nil(t, bindings(1, "hwthread", many+1, sys))
	// Ranks share sockets and NUMA nodes, so any number of ranks can be bound.
	for cpu := range 64 {
		dir := filepath.Join(sys, "cpu"+strconv.Itoa(cpu))
		require.NoError(t, os.WriteFile(dir+"/topology/physical_package_id", []byte(strconv.Itoa(cpu%2)+"\n"),
			0o644))
		require.NoError(t, os.Mkdir(dir+"/node0", 0o755))
	}
	sets = bindings(4, "numa", 1, sys)
	require.Len(t, sets, 4)
	require.Equal(t, min(many, 64), sets[3].Count())
	sets = bindings(4, "socket", 1, sys)
	require.Equal(t, sets[0], sets[1])
	require.Equal(t, sets[2], sets[3])
	require.Equal(t, many == 1, sets[1] == sets[2])
	require.Equal(t, []int{0, 4, 5, 6}, cpuList("0,4-6,x,-1,3-y\n"))
	require.Empty(t, cpuList(""))
}

// TestShares checks the default binding. Each rank gets a share of the cores, and no two ranks share a core. If there
// are at least as many ranks as NUMA nodes, a share is within one NUMA node.
func TestShares(t *testing.T) {
	many := cores()
	require.Nil(t, bindings(many+1, "", 1, "/nowhere"))
	require.Nil(t, bindings(1, "", 1, "/nowhere"))
	if many > 1 {
		require.Len(t, bindings(many, "", 1, "/nowhere"), many)
	}
	machine := func(each ...int) (cores, numas []unix.CPUSet) { // a core has hardware threads i and i + 100
		numas = make([]unix.CPUSet, len(each))
		for cpu, k := 0, 0; k < len(each); k++ {
			for range each[k] {
				var core unix.CPUSet
				for _, thread := range []int{cpu, cpu + 100} {
					core.Set(thread)
					numas[k].Set(thread)
				}
				cores = append(cores, core)
				cpu++
			}
		}
		return cores, numas
	}
	for _, c := range []struct {
		n    int
		each []int
		want []int // expected first core of each rank, followed by the number of cores
	}{
		{2, []int{4, 4}, []int{0, 4, 8}},
		{3, []int{4, 4}, []int{0, 4, 6, 8}},
		{4, []int{4, 4}, []int{0, 2, 4, 6, 8}},
		{8, []int{4, 4}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
		{2, []int{2, 2, 2, 2}, []int{0, 4, 8}},
		{3, []int{8}, []int{0, 2, 5, 8}},
		// The first NUMA node has too few cores for an equal number of ranks
		{4, []int{1, 5}, []int{0, 1, 3, 4, 6}},
	} {
		cores, numas := machine(c.each...)
		sets := shares(c.n, cores, numas)
		require.Len(t, sets, c.n)
		for rank := range sets {
			var want unix.CPUSet
			for core := c.want[rank]; core < c.want[rank+1]; core++ {
				want.Set(core)
				want.Set(core + 100)
			}
			require.Equal(t, want, sets[rank], "%d ranks on %v: rank %d", c.n, c.each, rank)
		}
	}
}

func TestRanges(t *testing.T) {
	require.Equal(t, "0-3,7,9-10", ranges([]int{0, 1, 2, 3, 7, 9, 10}))
	require.Equal(t, "5", ranges([]int{5}))
	require.Equal(t, "MPI_Barrier??", printable("MPI_Barrier\x1b\n"))
}
