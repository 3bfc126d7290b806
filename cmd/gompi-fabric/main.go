//go:build cgo

// Command gompi-fabric prints, as JSON, which provider a job that spans nodes would take here, and why, and
// over which addresses.
// gompi-info --fabric calls it: gompi-info itself is a static program, which can load no library.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"gompirma/capi/fabric"
	core "gompirma/core/fabric"
)

// Report is what it prints; its JSON names are part of gompi-info's interface.
type Report struct {
	Libfabric string     `json:"libfabric"` // its version, "" if it is not there
	Error     string     `json:"error"`     // why no provider would be taken
	Providers []Provider `json:"providers"`
	Addresses []Address  `json:"addresses"` // of this host, in the order in which others would try them
}

// Address is one of this host.
type Address struct {
	Address   string `json:"address"`
	Interface string `json:"interface"`
	Network   string `json:"network"` // what it is
}

// Provider is one that libfabric has here.
type Provider struct {
	Name  string `json:"name"`
	Taken bool   `json:"taken"`
	Why   string `json:"why"`
}

func main() {
	list, version, err := fabric.Candidates(os.Getenv(core.EnvProvider))
	r := Report{Libfabric: version, Providers: []Provider{}, Addresses: []Address{}}
	if err != nil {
		r.Error = err.Error()
	}
	if text, why := fabric.Addresses(); why != nil {
		r.Error = why.Error()
	} else {
		for line := range strings.Lines(text) {
			f := strings.Split(strings.TrimSpace(line), "\t")
			r.Addresses = append(r.Addresses, Address{f[0], f[1], f[2]})
		}
	}
	for _, c := range list {
		r.Providers = append(r.Providers, Provider{c.Name, c.Taken, c.Why})
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		fmt.Fprintf(os.Stderr, "gompi-fabric: %v\n", err)
		os.Exit(1)
	}
}
