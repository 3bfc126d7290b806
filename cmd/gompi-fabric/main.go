//go:build cgo

// Command gompi-fabric prints a report as JSON: the libfabric providers of this host, which of them a job on several
// nodes would use and why, and the addresses of this host. Option --fabric of gompi-info runs gompi-fabric, because
// gompi-info is a static program and cannot load libraries. This package defines the format of the report. The code in
// capi/fabric chooses the provider.
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
	Libfabric string     `json:"libfabric"` // version of libfabric; "" if it is not installed
	Error     string     `json:"error"`     // the reason why no provider can be used
	Providers []Provider `json:"providers"`
	Addresses []Address  `json:"addresses"` // addresses of this host, in the order in which other hosts try them
}

// Address is an address of this host.
type Address struct {
	Address   string `json:"address"`
	Interface string `json:"interface"`
	Network   string `json:"network"` // description of the network, for the user
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
