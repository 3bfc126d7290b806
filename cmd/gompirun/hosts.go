package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"gompirma/core/shm"
)

// Lists of hosts, as other launchers have them. A job has one host, so they may name this one only; what is left of
// them is the number of slots, which is the number of processes if nothing else says it.

// hosts knows the names of this machine.
type hosts struct {
	name   string                              // as the system calls it
	lookup func(name string) ([]string, error) // addresses of a name
	own    func() []string                     // addresses of this machine
}

func thisMachine() hosts {
	name, _ := os.Hostname()
	return hosts{name: name, lookup: lookupHost, own: ownAddresses}
}

func lookupHost(name string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return net.DefaultResolver.LookupHost(ctx, name)
}

func ownAddresses() (out []string) {
	list, _ := net.InterfaceAddrs()
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok {
			out = append(out, n.IP.String())
		}
	}
	return out
}

// isHere returns whether a name or address is one of this machine.
func (h *hosts) isHere(name string) bool {
	if strings.EqualFold(name, "localhost") || strings.EqualFold(name, h.name) {
		return true
	}
	// One of the two may be without its domain.
	short, _, full := strings.Cut(name, ".")
	ours, _, ourFull := strings.Cut(h.name, ".")
	addresses := []string{name}
	if net.ParseIP(name) == nil {
		if full != ourFull && strings.EqualFold(short, ours) {
			return true
		}
		addresses, _ = h.lookup(name)
	}
	for _, a := range addresses {
		ip := net.ParseIP(a)
		if ip == nil {
			continue
		}
		if ip.IsLoopback() {
			return true
		}
		for _, own := range h.own() {
			if ip.Equal(net.ParseIP(own)) {
				return true
			}
		}
	}
	return false
}

// list reads "host[:slots],...". slots is 0 if there is one host, without a number.
func (h *hosts) list(text string) (slots int, err error) {
	var given []int
	for _, item := range strings.Split(text, ",") {
		n, err := h.host(strings.TrimSpace(item))
		if err != nil {
			return 0, err
		}
		given = append(given, n)
	}
	return total(given), nil
}

// total adds up the slots of hosts: a host that is given several times, without a number, has one slot each time.
func total(given []int) (slots int) {
	if len(given) == 1 {
		return given[0]
	}
	for _, n := range given {
		slots += max(n, 1)
	}
	return slots
}

// host reads "host[:slots]".
func (h *hosts) host(text string) (slots int, err error) {
	name := text
	if i := strings.LastIndexByte(text, ':'); i >= 0 && net.ParseIP(text) == nil {
		name = text[:i]
		if slots, err = slotNumber(text[i+1:]); err != nil {
			return 0, fmt.Errorf("%s: %w", text, err)
		}
	}
	switch {
	case name == "":
		return 0, errors.New("a host has no name")
	case !h.isHere(strings.Trim(name, "[]")):
		return 0, fmt.Errorf("host %s is not this machine (%s); a job runs on one machine", name, h.name)
	}
	return slots, nil
}

func slotNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > shm.MaxProcesses {
		return 0, fmt.Errorf("%q is not a number of slots from 1 to %d", text, shm.MaxProcesses)
	}
	return n, nil
}

// file reads a file of hosts, one a line: "host[:slots] [slots=N] [other=...]"; "#" begins a comment.
func (h *hosts) file(path string) (slots int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, plain(err)
	}
	defer f.Close()
	var given []int
	lines := bufio.NewScanner(f)
	for number := 1; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		n, err := h.host(fields[0])
		if err != nil {
			return 0, fmt.Errorf("line %d: %w", number, err)
		}
		for _, field := range fields[1:] {
			if value, ok := strings.CutPrefix(field, "slots="); ok {
				if n, err = slotNumber(value); err != nil {
					return 0, fmt.Errorf("line %d: %w", number, err)
				}
			}
		}
		given = append(given, n)
	}
	if err := lines.Err(); err != nil {
		return 0, plain(err)
	}
	if len(given) == 0 {
		return 0, errors.New("there is no host in it")
	}
	return total(given), nil
}
