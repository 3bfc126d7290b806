package gotest

import (
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/version"
	"gompirma/tests/go/harness"
)

// TestVersionsAgree checks the version number in all files that state it. TestLibraryVersion compares the library, its
// header and gompi-info.
func TestVersionsAgree(t *testing.T) {
	build := built(t)
	for path, pattern := range map[string]string{
		filepath.Join(top, "CHANGELOG.md"):                                     `(?m)^## (\S+)`,
		filepath.Join(top, "packages/gompirma/package.py"):                     `(?m)^    version\("([^"]+)"`,
		filepath.Join(build, "include/mpi_rma.h"):                              `(?m)^#define GOMPIRMA_VERSION "(.*)"`,
		filepath.Join(build, "lib/pkgconfig/gompirma.pc"):                      `(?m)^Version: (.*)`,
		filepath.Join(build, "lib/pkgconfig/gompirma-abi.pc"):                  `(?m)^Version: (.*)`,
		filepath.Join(build, "lib/cmake/gompirma/gompirmaConfigVersion.cmake"): `PACKAGE_VERSION "(\S+)"\)`,
		filepath.Join(build, "share/modulefiles/gompirma", version.String):     `(?m)^module-whatis "gompirma (\S+):`,
		filepath.Join(build, "lib/cmake/gompirma/gompirmaConfig.cmake"):        `/lib/libgompirma\.so\.(.*)"`,
	} {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		found := regexp.MustCompile(pattern).FindStringSubmatch(string(content))
		require.NotNil(t, found, path)
		require.Equal(t, version.String, found[1], path)
	}
	for tool, option := range map[string]string{"gompirun": "--version", "gompi-info": "--version",
		"gompicc": "-showme:version", "gompicxx": "-showme:version"} {
		require.Regexp(t, `\b`+regexp.QuoteMeta(version.String)+`\b`, runTool(t, tool, option), tool)
	}

	// The SONAME, and the names of the files and of the Debian package, follow docs/PACKAGES.md.
	names := []string{"libgompirma.so"}
	if _, err := os.Stat(filepath.Join(build, "lib/libgompirma_fortran.so")); err == nil {
		names = append(names, "libgompirma_fortran.so", "libgompirma_fortran_i8.so")
	}
	for _, name := range names {
		library, err := elf.Open(filepath.Join(build, "lib", name+"."+version.String))
		require.NoError(t, err)
		soname, err := library.DynString(elf.DT_SONAME)
		require.NoError(t, err)
		require.Equal(t, []string{name + "." + version.Major()}, soname)
		require.NoError(t, library.Close())
	}
	control, err := os.ReadFile(filepath.Join(top, "packages/debian/control"))
	require.NoError(t, err)
	require.Contains(t, string(control), "\nPackage: libgompirma"+version.Major()+"\n")
	require.FileExists(t, filepath.Join(top, "packages/debian/libgompirma"+version.Major()+".install"))
}

// TestPackagesAreComplete checks that each file of an installed prefix is in exactly one Debian package. It reads the
// patterns in packages/debian/*.install. `make deb` itself fails only for files in no package.
func TestPackagesAreComplete(t *testing.T) {
	const public, prefix = "usr/lib/${DEB_HOST_MULTIARCH}/", "usr/lib/${DEB_HOST_MULTIARCH}/gompirma/"
	packages, err := filepath.Glob(filepath.Join(top, "packages/debian/*.install"))
	require.NoError(t, err)
	require.Len(t, packages, 4)
	patterns := map[string]string{} // the package of each pattern
	for _, name := range packages {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		for line := range strings.Lines(string(content)) {
			patterns[strings.ReplaceAll(strings.TrimSpace(line), "[!", "[^")] = filepath.Base(name)
		}
	}
	used := map[string]bool{}
	check := func(path string) {
		found := map[string]bool{}
		for part := path; part != "."; part = filepath.Dir(part) {
			for pattern, name := range patterns {
				matched, err := filepath.Match(pattern, part)
				require.NoError(t, err)
				if matched {
					found[name], used[pattern] = true, true
				}
			}
		}
		require.Len(t, found, 1, "%s must match a pattern of one package: %v", path, found)
	}
	build := built(t)
	// packages/debian/arrange moves these files to directories outside of the prefix.
	moved := regexp.MustCompile(`^share/(man|bash-completion|zsh)/`)
	for _, folder := range []string{"bin", "include", "lib", "libexec", "share"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(build, folder), func(path string, d fs.DirEntry,
			err error) error {
			name, _ := filepath.Rel(build, path)
			switch {
			case err != nil || d.IsDir() || moved.MatchString(name):
			case filepath.Dir(name) == "lib/pkgconfig":
				check(public + "pkgconfig/" + filepath.Base(name))
			default:
				check(prefix + name)
				if filepath.Dir(name) == "lib" && regexp.MustCompile(`^libgompirma(_.*)?\.so`).
					MatchString(filepath.Base(name)) {
					check(public + filepath.Base(name))
				}
			}
			return err
		}))
	}
	check(public + "cmake/gompirma")
	if _, err := os.Stat(filepath.Join(build, "lib/libgompirma_fortran.so")); err == nil {
		for pattern := range patterns {
			require.True(t, used[pattern], "no installed file matches %s", pattern)
		}
	}
}

// TestSpackPackage runs the recipe's class with functions that record the directives of Spack.
func TestSpackPackage(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Log("python3 is not installed, so the test only reads the recipe")
		content, err := os.ReadFile(filepath.Join(top, "packages/gompirma/package.py"))
		require.NoError(t, err)
		require.Contains(t, string(content), `provides("mpi@:5.0")`)
		return
	}
	const script = `
import sys, types

spack, module = types.ModuleType("spack"), types.ModuleType("spack.package")
calls = []
module.Package = object
for name in ("version", "variant", "provides", "depends_on", "requires"):
    setattr(module, name, lambda *a, name=name, **k: calls.append((name,) + a))
sys.modules["spack"], sys.modules["spack.package"] = spack, module
scope = {}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), scope)
assert callable(scope["Gompirma"].install)
for call in calls:
    print(*call)
`
	out := harness.Output(t, exec.Command(python, "-c", script, filepath.Join(top, "packages/gompirma/package.py")))
	for _, want := range []string{"provides mpi@:5.0", "version " + version.String, "depends_on c"} {
		require.Contains(t, strings.Split(out, "\n"), want)
	}
	module, err := os.ReadFile(filepath.Join(top, "go.mod"))
	require.NoError(t, err)
	needs := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	require.Contains(t, out, fmt.Sprintf("depends_on go@%s:\n", needs[1]))
}
