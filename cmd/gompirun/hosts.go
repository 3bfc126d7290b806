package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"gompirma/core/shm"
)

// This file reads lists of hosts in the formats of other launchers. If all hosts are this machine, only the number of
// slots matters: it is the default number of processes.

// host is an entry of a list.
type host struct {
	name  string
	slots int // 0 if not given
}

// hosts recognizes the names of this machine.
type hosts struct {
	name       string                              // the system's name
	lookup     func(name string) ([]string, error) // returns the addresses of a name
	localAddrs func() []string                     // returns the addresses of this machine
}

func thisMachine() hosts {
	name, _ := os.Hostname()
	return hosts{name: name, lookup: lookupHost, localAddrs: localAddresses}
}

func lookupHost(name string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return net.DefaultResolver.LookupHost(ctx, name)
}

func localAddresses() (out []string) {
	list, _ := net.InterfaceAddrs()
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok {
			out = append(out, n.IP.String())
		}
	}
	return out
}

// isLocal reports whether a name or address belongs to this machine.
func (h *hosts) isLocal(name string) bool {
	if strings.EqualFold(name, "localhost") || strings.EqualFold(name, h.name) {
		return true
	}
	// One of the names may lack the domain.
	short, _, full := strings.Cut(name, ".")
	ours, _, ourFull := strings.Cut(h.name, ".")
	addresses := []string{name}
	if !isAddress(name) {
		if full != ourFull && strings.EqualFold(short, ours) {
			return true
		}
		addresses, _ = h.lookup(name)
	}
	for _, a := range addresses {
		ip, err := netip.ParseAddr(a)
		if err != nil {
			continue
		}
		ip = ip.Unmap().WithZone("")
		if ip.IsLoopback() {
			return true
		}
		for _, own := range h.localAddrs() {
			if other, err := netip.ParseAddr(own); err == nil && ip == other.Unmap() {
				return true
			}
		}
	}
	return false
}

// firstRemote returns the first host of a list that is not this machine; "" if all are this machine.
func (h *hosts) firstRemote(list []host) string {
	for _, one := range list {
		if !h.isLocal(one.name) {
			return one.name
		}
	}
	return ""
}

// readHosts parses "host[:slots],...".
func readHosts(text string) (list []host, err error) {
	for _, item := range strings.Split(text, ",") {
		one, err := readHost(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// total returns the number of slots of a list of hosts. An entry without a number counts as one slot. The result is 0
// for a list with a single entry without a number.
func total(list []host) (slots int) {
	if len(list) == 1 {
		return list[0].slots
	}
	for _, one := range list {
		slots += max(one.slots, 1)
	}
	return slots
}

// readHost parses "host[:slots]". An IPv6 address with slots needs brackets: "[::1]:2"; without slots they are
// optional.
func readHost(text string) (one host, err error) {
	slots, numbered := "", false
	one.name = text
	switch inside, rest, closed := strings.Cut(strings.TrimPrefix(text, "["), "]"); {
	case isAddress(text):
	case closed && text[0] == '[' && isAddress(inside) && (rest == "" || rest[0] == ':'):
		one.name = inside
		slots, numbered = strings.CutPrefix(rest, ":")
	default:
		one.name, slots, numbered = strings.Cut(text, ":")
	}
	switch {
	case strings.ContainsAny(one.name, "[]") || strings.Contains(slots, ":"):
		return host{}, fmt.Errorf("%s is not a host name or address (write an IPv6 address with slots as "+
			"[::1]:2)", text)
	case one.name == "" || strings.HasPrefix(one.name, "-"):
		return host{}, errors.New("the name of a host is missing")
	}
	if numbered {
		if one.slots, err = slotNumber(slots); err != nil {
			return host{}, fmt.Errorf("%s: %w", text, err)
		}
	}
	return one, nil
}

func isAddress(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}

func slotNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > shm.MaxProcesses {
		return 0, fmt.Errorf("the number of slots must be from 1 to %[2]d, not %[1]q", text, shm.MaxProcesses)
	}
	return n, nil
}

// readHostFile parses a file with one host in each line: "host[:slots] [slots=N] [other=...]"; "#" begins a comment.
func readHostFile(path string) (list []host, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for number := 1; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		one, err := readHost(fields[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		for _, field := range fields[1:] {
			if value, ok := strings.CutPrefix(field, "slots="); ok {
				if one.slots, err = slotNumber(value); err != nil {
					return nil, fmt.Errorf("line %d: %w", number, err)
				}
			}
		}
		list = append(list, one)
	}
	if err := lines.Err(); err != nil {
		return nil, withoutPath(err)
	}
	if len(list) == 0 {
		return nil, errors.New("the file names no host")
	}
	return list, nil
}
