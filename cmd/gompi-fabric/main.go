//go:build cgo

// Command gompi-fabric prints, as JSON, which provider a job on several nodes would use here, and why, and its
// addresses. gompi-info --fabric calls it, because gompi-info is a static program and cannot load libraries. It owns
// the form of this report. The choice of the provider belongs to capi/fabric.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"gompirma/capi/fabric"
	core "gompirma/core/fabric"
)

// Report is the output; its JSON names are part of gompi-info's interface.
type Report struct {
	Libfabric string     `json:"libfabric"` // its version; "" if it is not installed
	Error     string     `json:"error"`     // the reason why no provider can be used
	Providers []Provider `json:"providers"`
	Addresses []Address  `json:"addresses"` // of this host, in the order in which other hosts would try them
}

// Address is an address of this host.
type Address struct {
	Address   string `json:"address"`
	Interface string `json:"interface"`
	Network   string `json:"network"` // description
}

// Provider is a provider of libfabric on this host.
type Provider struct {
	Name   string `json:"name"`
	Chosen bool   `json:"taken"`
	Detail string `json:"why"`
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
		r.Providers = append(r.Providers, Provider{c.Name, c.Chosen, c.Detail})
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		fmt.Fprintf(os.Stderr, "gompi-fabric: %v\n", err)
		os.Exit(1)
	}
}
