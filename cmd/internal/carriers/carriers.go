// Package carriers asks gompi-fabric what would carry a job that spans nodes: it can load libraries, which the commands
// that are Go alone cannot.
package carriers

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"gompirma/cmd/internal/preflight"
)

// Fabric is what a job that spans nodes would find here: the output of gompi-fabric, which can load libraries.
type Fabric struct {
	Libfabric string `json:"libfabric"`
	Error     string `json:"error"`
	Providers []struct {
		Name  string `json:"name"`
		Taken bool   `json:"taken"`
		Why   string `json:"why"`
	} `json:"providers"`
	Addresses []preflight.Address `json:"addresses"`
}

// Ask runs gompi-fabric, which lies below the prefix.
func Ask() (Fabric, error) {
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
