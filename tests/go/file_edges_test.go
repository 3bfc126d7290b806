package gotest

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// symbolEdges computes the dependencies between object files from nm's listings: edges[a][b] lists the symbols that
// object file a needs and object file b defines.
func symbolEdges(listings map[string]string) map[string]map[string][]string {
	defines, edges := map[string]string{}, map[string]map[string][]string{}
	for object, listing := range listings {
		for line := range strings.Lines(listing) {
			if f := strings.Fields(line); len(f) == 3 && strings.Contains("TDBRCVW", f[1]) {
				defines[f[2]] = object
			}
		}
	}
	for object, listing := range listings {
		edges[object] = map[string][]string{}
		for line := range strings.Lines(listing) {
			f := strings.Fields(line)
			if len(f) == 2 && f[0] == "U" && defines[f[1]] != "" && defines[f[1]] != object {
				edges[object][defines[f[1]]] = append(edges[object][defines[f[1]]], f[1])
			}
		}
	}
	return edges
}

// fileCycles returns the cycles of the graph (Tarjan's strongly connected components). In a cycle, each object file
// needs all other ones, directly or indirectly.
func fileCycles(edges map[string]map[string][]string) (circles [][]string) {
	index, low, stack := map[string]int{}, map[string]int{}, []string{}
	var visit func(v string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack = append(stack, v)
		for _, w := range slices.Sorted(maps.Keys(edges[v])) {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if slices.Contains(stack, w) {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] == index[v] {
			at := slices.Index(stack, v)
			if circle := slices.Sorted(slices.Values(stack[at:])); len(circle) > 1 {
				circles = append(circles, circle)
			}
			stack = stack[:at]
		}
	}
	for _, v := range slices.Sorted(maps.Keys(edges)) {
		if index[v] == 0 {
			visit(v)
		}
	}
	return circles
}

func TestFileCyclesAreFound(t *testing.T) {
	one := map[string]string{"a": "0 T a1\n U b1\n", "b": "0 T b1\n U c1\n", "c": "0 D c1\n U a1\n U other\n",
		"d": " U a1\n"}
	require.Equal(t, [][]string{{"a", "b", "c"}}, fileCycles(symbolEdges(one)))
	one["c"] = "0 D c1\n"
	require.Empty(t, fileCycles(symbolEdges(one)))
}

// archiveListings returns nm's listing of each C file of the package in dir, by the file's name without ".c". The Go
// archive of the package contains the object files, also those of C code that cgo has generated.
func archiveListings(t *testing.T, dir, archive string) map[string]string {
	var stderr strings.Builder // nm reports that the members that Go compiled are no object files
	nm := exec.Command("nm", "-a", archive)
	nm.Stderr = &stderr
	out, _ := nm.Output()
	listings := map[string]string{}
	for _, member := range strings.Split(string(out), "\n\n") {
		file := sourceFile.FindStringSubmatch(member)
		if file != nil && fileExists(filepath.Join(dir, file[1]+".c")) {
			listings[file[1]] = member
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.c"))
	require.NoError(t, err)
	require.Len(t, listings, len(files), "%s: %s", archive, &stderr)
	return listings
}

// sourceFile matches the symbol for the name of the source file.
var sourceFile = regexp.MustCompile(`(?m)^0+ a (.*)\.c$`)

// TestFileCycles checks that the C files of one package of capi do not depend on each other in a cycle, so that each
// file can be read after the files that it uses. It compares symbols of the object files. So the uses in inline
// functions of a file's headers count as uses of the file. The object files of Go packages are those of the library,
// which Go has cached (scripts/build.sh). This test compiles the C files of all other directories.
func TestFileCycles(t *testing.T) {
	t.Parallel()
	built(t)
	to := t.TempDir()
	root, err := filepath.Abs(top)
	require.NoError(t, err)
	listings := map[string]map[string]string{}
	archives := command(t, top, nil, "go", "list", "-export", "-buildmode=pie", "-trimpath", "-f",
		"{{.Dir}} {{.Export}}", "./capi/...")
	for line := range strings.Lines(archives) {
		dir, archive, _ := strings.Cut(strings.TrimSpace(line), " ")
		if filepath.Dir(dir) == filepath.Join(root, "capi") {
			listings[filepath.Base(dir)] = archiveListings(t, dir, archive)
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "capi/*/*.c"))
	require.NoError(t, err)
	for _, file := range files {
		dir, name := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".c")
		if goFiles, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*.go")); len(goFiles) > 0 {
			continue
		}
		object := filepath.Join(to, dir+"-"+name+".o")
		command(t, top, nil, "gcc", "-std=gnu11", "-O0", "-Icapi", "-Iinclude", "-c", file, "-o", object)
		if listings[dir] == nil {
			listings[dir] = map[string]string{}
		}
		listings[dir][name] = command(t, top, nil, "nm", object)
	}
	require.Greater(t, len(listings), 10, "packages")
	for _, dir := range slices.Sorted(maps.Keys(listings)) {
		edges := symbolEdges(listings[dir])
		var why strings.Builder
		circles := fileCycles(edges)
		for _, circle := range circles {
			for _, a := range circle {
				for _, b := range circle {
					if symbols := edges[a][b]; len(symbols) > 0 {
						fmt.Fprintf(&why, "%s needs %s for %v\n", a, b, symbols)
					}
				}
			}
		}
		require.Empty(t, circles, "package %s:\n%s", dir, &why)
	}
}
