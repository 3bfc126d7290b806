// Package carriers runs gompi-fabric to find out which libfabric provider a job on several nodes would use.
// The commands that use this package are pure Go programs, which cannot load libraries; gompi-fabric can. The package
// must not depend on libfabric.
package carriers

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"gompirma/cmd/internal/preflight"
)

// Fabric is the output of gompi-fabric: the providers and addresses for a job on several nodes.
type Fabric struct {
	Libfabric string `json:"libfabric"`
	Error     string `json:"error"`
	Providers []struct {
		Name   string `json:"name"`
		Chosen bool   `json:"taken"`
		Detail string `json:"why"`
	} `json:"providers"`
	Addresses []preflight.Address `json:"addresses"`
}

// Query runs gompi-fabric, which is installed below the installation prefix, and returns its output.
func Query() (Fabric, error) {
	var f Fabric
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return f, err
	}
	cmd := exec.Command(filepath.Join(filepath.Dir(filepath.Dir(self)), "libexec/gompirma/gompi-fabric"))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return f, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	return f, json.Unmarshal(out, &f)
}
