package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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
	Addresses []struct {
		Address   string `json:"address"`
		Interface string `json:"interface"`
		Network   string `json:"network"`
	} `json:"addresses"`
}

// fabric asks gompi-fabric, which lies below the prefix.
func fabric() (Fabric, error) {
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

// printFabric returns an error if a job that spans nodes could not run here.
func printFabric(f Fabric, asJSON bool, out io.Writer) error {
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(f)
	}
	w := &lines{out: out}
	if f.Libfabric != "" {
		w.line("libfabric", "%s", f.Libfabric)
	}
	for _, p := range f.Providers {
		word := "-"
		if p.Taken {
			word = "taken"
		}
		w.line(word, "%s: %s", p.Name, p.Why)
	}
	for i, a := range f.Addresses {
		word := ""
		if i == 0 {
			word = "addresses"
		}
		w.line(word, "%s (%s: %s)", a.Address, a.Interface, a.Network)
	}
	if f.Error != "" {
		return errors.Join(w.err, errors.New(f.Error))
	}
	return w.err
}
