package main

import (
	"encoding/json"
	"errors"
	"io"

	"gompirma/cmd/internal/carriers"
)

// printFabric prints the providers and addresses. It returns an error if a job on several nodes could not run here.
func printFabric(f carriers.Fabric, asJSON bool, out io.Writer) error {
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
		if p.Chosen {
			word = "selected"
		}
		w.line(word, "%s: %s", p.Name, p.Detail)
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
