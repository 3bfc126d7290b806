package gotest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOneSidedDocument checks that the documents list every info key that the library recognizes: docs/FILES.md those
// of files, docs/PROCESSES.md those of processes, and docs/ONE-SIDED.md all other keys. It also checks that
// docs/VARIABLES.md lists every environment variable that the library, gompirun and the compiler wrappers read.
func TestOneSidedDocument(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(top, "docs/ONE-SIDED.md"))
	require.NoError(t, err)
	files, err := os.ReadFile(filepath.Join(top, "docs/FILES.md"))
	require.NoError(t, err)
	processes, err := os.ReadFile(filepath.Join(top, "docs/PROCESSES.md"))
	require.NoError(t, err)
	variables, err := os.ReadFile(filepath.Join(top, "docs/VARIABLES.md"))
	require.NoError(t, err)
	wanted := map[string]string{} // the source file of each name that the document must contain
	patterns := []*regexp.Regexp{
		regexp.MustCompile(`gompi_text_view_equals\(name, "([a-z_]+)"\)`), // info keys of windows
		regexp.MustCompile(`gompi_info_add\(x, "([a-z_]+)"`),              // info keys that the library reports
		regexp.MustCompile(`GOMPI_KEY_\w+ "([a-z_]+)"`),
		regexp.MustCompile(`\{"([a-z_]+)", (?:NULL|choices|switches), `), // hints of files
		// info keys that one call reads directly, and those of MPI_Comm_spawn
		regexp.MustCompile(`(?:infoValue\(\w+, |lookup\()"([a-z_]+)"\)`),
		regexp.MustCompile(`"([a-z_]+)": &`),
		regexp.MustCompile(`"(mpi_assert_[a-z_]+)"`),           // info keys of communicators
		regexp.MustCompile(`\{"([a-z]+)", (?:at\.\w+|wdir)\}`), // info keys of MPI_INFO_ENV
		// The next three lines find environment variables: in strings of Go code, in calls of C code, in
		// constants of Go code.
		regexp.MustCompile(`"((?:GOMPIRMA|GOMPI|PMI|PMIX|MPI|MPIEXEC)_[A-Z_]+)"`),
		regexp.MustCompile(`\bgetenv\("([A-Z_0-9]+)"\)`),                       // that C code reads
		regexp.MustCompile(`(?m)^\s*(?:const )?Env[A-Z]\w*\s*=\s*"([A-Z_]+)"`), // in constants of Go
	}
	for _, dir := range []string{"core", "capi", "cmd"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(top, dir),
			func(path string, d fs.DirEntry, err error) error {
				name := d.Name()
				if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") ||
					strings.HasPrefix(name, "z") ||
					!(strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".c") ||
						strings.HasSuffix(name, ".h")) {
					return err
				}
				// these directories contain names of the standard and of C constants
				if strings.Contains(path, "core/abi") || strings.Contains(path, "core/gen/") {
					return nil
				}
				text, err := os.ReadFile(path)
				for _, p := range patterns {
					for _, m := range p.FindAllStringSubmatch(string(text), -1) {
						wanted[m[1]] = path
					}
				}
				return err
			}))
	}
	for _, name := range []string{"no_locks", "gompirma_huge_pages", "mpi_assert_exact_length", "GOMPIRMA_NO_CMA",
		"GOMPIRMA_NODE", "PMI_FD", "wdir", "striping_unit", "mapby", "file"} {
		require.Contains(t, wanted, name, "the patterns do not find a name that the sources contain")
	}
	for name, path := range wanted {
		// a name of the standard in a string, not an environment variable
		if strings.HasPrefix(name, "MPI_") && !strings.HasPrefix(name, "MPI_LOCAL") {
			continue
		}
		title, document := "ONE-SIDED.md", b
		switch {
		case name == strings.ToUpper(name):
			title, document = "VARIABLES.md", variables
		case strings.Contains(path, "capi/file/"):
			title, document = "FILES.md", files
		case strings.Contains(path, "capi/spawn.go"), strings.Contains(path, "core/spawn_keys.go"):
			title, document = "PROCESSES.md", processes
		}
		require.True(t, strings.Contains(string(document), "`"+name+"`"),
			"`%s`, which is in %s, is not in docs/%s", name, path, title)
	}
}
