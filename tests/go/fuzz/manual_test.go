package fuzz

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/tests/go/harness"
)

var (
	tracedCall = regexp.MustCompile(`(?m)^TRACE\t\d+\t\d+\t(\d+)\t\d+\t(\w+)(\(.*\))$`)
	pageClass  = regexp.MustCompile(`\\fB(MPI(?:_T)?_ERR_\w+)\\fR`)
)

// TestManualErrors checks that section ERRORS of the manual pages has every error class that the functions raise. The
// jobs make calls with invalid arguments.
func TestManualErrors(t *testing.T) {
	r := runner(t)
	t.Setenv("GOMPIRMA_FUZZ_TRACE", "1")
	pages := filepath.Join(harness.Built(t, top), "share/man/man3")
	classes := map[int64]string{}
	for _, c := range abi.Constants() {
		if strings.Contains(c.Name, "_ERR_") && c.Type == "int" {
			classes[c.Number()] = c.Name
		}
	}
	// Errors that many functions can raise, so that their pages need not have them.
	general := map[string]bool{"MPI_ERR_NO_MEM": true, "MPI_ERR_PROC_ABORTED": true}
	documented := map[string]map[string]bool{} // by function
	read := func(function string) map[string]bool {
		page, err := os.ReadFile(filepath.Join(pages, function+".3"))
		require.NoError(t, err)
		_, section, _ := strings.Cut(string(page), "\n.SH ERRORS\n")
		section, _, _ = strings.Cut(section, "\n.SH ")
		found := map[string]bool{}
		for _, m := range pageClass.FindAllStringSubmatch(section, -1) {
			found[m[1]] = true
		}
		return found
	}
	checked := 0
	for _, seed := range []string{"1", "2", "3"} {
		e, err := r.execute(3, r.Launcher, "-n", "3", r.Program, "%s", seed, "1500", "0")
		require.NoError(t, err)
		for _, m := range tracedCall.FindAllStringSubmatch(e.out, -1) {
			code, _ := strconv.ParseInt(m[1], 10, 64)
			f := abi.FunctionByName(m[2])
			require.NotNil(t, f, m[2])
			if code == 0 || f.Returns != "int" || strings.HasSuffix(f.Name, "_toint") {
				continue
			}
			if documented[f.Name] == nil {
				documented[f.Name] = read(f.Name)
			}
			class := classes[code]
			require.True(t, documented[f.Name][class] || general[class],
				"the page of %s does not have %s (%d), which %s%s raised", f.Name, class, code,
				f.Name, m[3])
			checked++
		}
	}
	require.Greater(t, checked, 3000)
}
