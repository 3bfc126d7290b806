// Package preflight determines, before a job, which hosts can connect to each other at which of their addresses. It
// measures the speed of the connections, and explains failures. One process on each host takes part. The processes
// exchange their addresses and results through the launcher, so that the check works even if the hosts cannot connect
// to each other. gompirun --preflight is its only user. The package must not know MPI or the library's transports.
package preflight

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"gompirma/core/boot"
	"gompirma/core/random"
	"gompirma/core/version"
)

// Address is an address at which other hosts may connect to a host.
type Address struct {
	Address   string `json:"address"`
	Interface string `json:"interface"`
	Network   string `json:"network"` // description
}

// site describes the host of a process.
type site struct {
	Host      string    `json:"host"`
	Version   string    `json:"version"`
	Port      int       `json:"port"` // port of the server; 0 if the host does not listen, for the reason in Error
	Error     string    `json:"error,omitempty"`
	Addresses []Address `json:"addresses"`
	Secret    string    `json:"secret,omitempty"` // secret of the job; rank 0 chooses it at random
}

// result is the result for one address of another host.
type result struct {
	Error     string  `json:"error,omitempty"` // "" if the connection works
	Latency   float64 `json:"latency"`         // microseconds one way
	Bandwidth float64 `json:"bandwidth"`       // bytes a second
}

// Run tests the connections of this process to all other processes. The argument `addresses` holds the addresses of
// this host, in the order in which a job would try them. Rank 0 writes the results to `out`. Run returns true at rank 0
// if each pair of hosts can connect in at least one direction.
func Run(c boot.Client, addresses []Address, problem string, out io.Writer) (fine bool, err error) {
	server := &server{secret: make(chan string, 1)}
	addresses = slices.DeleteFunc(slices.Clone(addresses), func(a Address) bool { return ofOneLink(a.Address) })
	mine := site{Version: version.String, Addresses: addresses, Error: problem}
	mine.Host, _ = os.Hostname()
	if problem == "" {
		mine.Port, err = server.listen(os.Getenv("GOMPIRMA_PORTS"), ListenAddresses(addresses))
		if err != nil {
			mine.Error = err.Error()
		}
	}
	defer server.close()
	if c.Rank() == 0 {
		if mine.Secret, err = random.Text(); err != nil {
			return false, err
		}
	}
	var sites []site
	if sites, err = exchange(c, "site", mine); err != nil {
		return false, err
	}
	server.secret <- sites[0].Secret
	results := make([][]result, c.Size()) // results of this process, by rank and address
	for step := 1; step < c.Size(); step++ {
		to := (c.Rank() + step) % c.Size() // in each step, every process is tested by exactly one other process
		for _, a := range sites[to].Addresses {
			r := result{Error: sites[to].Error}
			if r.Error == "" {
				address := net.JoinHostPort(a.Address, strconv.Itoa(sites[to].Port))
				r = probe(address, sites[0].Secret)
			}
			results[to] = append(results[to], r)
		}
		if err := c.Fence(); err != nil {
			return false, err
		}
	}
	all, err := exchange(c, "results", results)
	if err != nil || c.Rank() != 0 {
		return err == nil, err
	}
	return write(out, sites, all), nil
}

// ofOneLink reports whether an address is link-local, which means that it is valid only together with an interface.
func ofOneLink(address string) bool {
	ip := net.ParseIP(address)
	return ip != nil && ip.IsLinkLocalUnicast()
}

// exchange publishes `mine` under a key with the given name, and returns the values of all processes, by rank.
func exchange[T any](c boot.Client, name string, mine T) ([]T, error) {
	text, err := json.Marshal(mine)
	if err == nil {
		err = c.Put(fmt.Sprintf("preflight-%s.%d", name, c.Rank()), string(text))
	}
	if err == nil {
		err = c.Fence()
	}
	all := make([]T, c.Size())
	for i := range all {
		var text string
		if err == nil {
			text, err = c.Get(i, fmt.Sprintf("preflight-%s.%d", name, i))
		}
		if err == nil {
			err = json.Unmarshal([]byte(text), &all[i])
		}
	}
	return all, err
}

// write writes the results, and advice on failures. It returns true if each pair of hosts can connect in at least one
// direction.
func write(out io.Writer, sites []site, all [][][]result) bool {
	if len(sites) == 1 {
		fmt.Fprintf(out, "%s is the only host: nothing to test. Name several with -H a,b,c\n", sites[0].Host)
		return true
	}
	fine := true
	w := &table{out: out}
	w.row("from", "to", "address", "interface", "latency", "bandwidth")
	for i := range sites {
		for j, s := range sites {
			for k, r := range all[i][j] {
				a := s.Addresses[k]
				latency, bandwidth := fmt.Sprintf("%.1f us", r.Latency), perSecond(r.Bandwidth)
				if r.Error != "" {
					latency, bandwidth = "-", r.Error
				}
				w.row(sites[i].Host, s.Host, a.Address, a.Interface, latency, bandwidth)
			}
		}
	}
	w.flush()
	for _, s := range sites[1:] {
		if s.Version != sites[0].Version {
			fmt.Fprintf(out, "%s has gompirma %s, but %s has %s: install the same version on all "+
				"hosts\n", s.Host, s.Version,
				sites[0].Host, sites[0].Version)
		}
	}
	for _, s := range sites {
		if s.Error == "" && len(s.Addresses) == 0 {
			s.Error = "no address: GOMPIRMA_INTERFACE excludes all addresses of this host"
		}
		if s.Error != "" {
			fmt.Fprintf(out, "%s: %s\n", s.Host, s.Error)
		}
	}
	for i := range sites {
		for j := range i {
			there, back := best(all[j][i]), best(all[i][j])
			switch {
			case there < 0 && back < 0:
				fine = false
				fmt.Fprintf(out, "%s and %s cannot connect to each other: a job cannot use both. "+
					"%s\n", sites[j].Host, sites[i].Host, advice(all[j][i], all[i][j]))
			case there < 0:
				fmt.Fprintf(out, "%s; in a job, %s connects to %s instead, up to a second later\n",
					oneWay(sites[j], sites[i]), sites[i].Host, sites[j].Host)
			case back < 0:
				fmt.Fprintf(out, "%s; in a job, %s connects to %s instead, up to a second later\n",
					oneWay(sites[i], sites[j]), sites[j].Host, sites[i].Host)
			}
		}
	}
	faster(out, sites, all)
	return fine
}

func oneWay(from, to site) string { return fmt.Sprintf("%s cannot connect to %s", from.Host, to.Host) }

// best returns the index of the first address with a working connection, which is the address that a job would use. It
// returns -1 if no connection works.
func best(of []result) int {
	for k, r := range of {
		if r.Error == "" {
			return k
		}
	}
	return -1
}

// advice returns advice on the first known cause among the errors in the results: another program at the address
// (strangerText), or an error of the operating system.
func advice(both ...[]result) string {
	said := ""
	for _, of := range both {
		for _, r := range of {
			said += r.Error + "\n"
		}
	}
	switch {
	case strings.Contains(said, strangerText):
		return "Another machine has the same address: select the network with GOMPIRMA_INTERFACE."
	case strings.Contains(said, "timeout") || strings.Contains(said, "refused"):
		return "A firewall may block the connections: permit TCP to some ports, and set GOMPIRMA_PORTS to " +
			"these ports, such as 20000-20999."
	case strings.Contains(said, "no route") || strings.Contains(said, "unreachable"):
		return "The hosts have no common network, or the network is down: compare the output of ip route on " +
			"both hosts."
	}
	return "See the errors of the system in the lines above."
}

// faster names networks with at least twice the bandwidth of the network that a job would use by default.
func faster(out io.Writer, sites []site, all [][][]result) {
	told := map[string]bool{}
	for i := range sites {
		for j, s := range sites {
			first := best(all[i][j])
			for k, r := range all[i][j] {
				if first < 0 || r.Error != "" || r.Bandwidth < 2*all[i][j][first].Bandwidth ||
					s.Addresses[k].Interface == s.Addresses[first].Interface {
					continue
				}
				text := fmt.Sprintf("GOMPIRMA_INTERFACE=%s would have %.1f times the bandwidth of %s",
					s.Addresses[k].Interface, r.Bandwidth/all[i][j][first].Bandwidth,
					s.Addresses[first].Interface)
				if name := s.Addresses[k].Interface; !told[name] {
					told[name] = true
					fmt.Fprintf(out, "%s (%s to %s)\n", text, sites[i].Host, s.Host)
				}
			}
		}
	}
}

func perSecond(bytes float64) string {
	if bytes >= 1e9 {
		return fmt.Sprintf("%.2f GB/s", bytes/1e9)
	}
	return fmt.Sprintf("%.1f MB/s", bytes/1e6)
}

// table aligns the columns of its rows.
type table struct {
	out  io.Writer
	rows [][]string
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) flush() {
	width := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	for _, row := range t.rows {
		line := ""
		for i, cell := range row {
			line += fmt.Sprintf("%-*s  ", width[i], cell)
		}
		fmt.Fprintln(t.out, strings.TrimRight(line, " "))
	}
}
