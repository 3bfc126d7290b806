package check

import (
	"strings"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// object identifies an object of a rank by its handle.
type object struct {
	kind   string // as in core/abi's table
	handle uint64
}

// objectNames maps the kinds of objects that must be freed to their names in findings.
var objectNames = map[string]string{"COMMUNICATOR": "communicator", "GROUP": "group", "INFO": "info",
	"OPERATION": "op", "DATATYPE": "datatype", "WINDOW": "window", "REQUEST": "request"}

// firstMade is the smallest handle that is not predefined.
const firstMade = 0x1000

// given reports whether a function returns a handle that must not be freed.
func given(name string) bool {
	return name == "MPI_Comm_get_parent" || strings.HasSuffix(name, "_f2c") || strings.HasSuffix(name,
		"_fromint") ||
		strings.HasPrefix(name, "MPI_Type_create_f90") || name == "MPI_Type_match_size" ||
		strings.HasPrefix(name, "MPI_Comm_idup") // comm.go
}

// freed holds the sites where a rank has freed objects, for the most recent ones.
type freed struct {
	sites map[object]*site
	order []object // keys of sites by the order of freeing, a ring
	next  int
}

const mostFreed = 4096

func (f *freed) add(o object, s *site) {
	if f.sites == nil {
		f.sites = map[object]*site{}
	}
	if len(f.order) < mostFreed {
		f.order = append(f.order, o)
	} else {
		delete(f.sites, f.order[f.next])
		f.order[f.next] = o
		f.next = (f.next + 1) % mostFreed
	}
	f.sites[o] = s
}

// objects records the objects that a call has made and freed.
func (c *Checker) objects(k *rank, e *event) {
	if strings.HasSuffix(e.name, "_keyval") && strings.Contains(e.name, "_create_") {
		k.hidden = true
		return
	}
	frees := strings.HasSuffix(e.name, "_free") || e.name == "MPI_Comm_disconnect"
	for _, v := range e.Inputs {
		what := v.Item.Param.Kind.Name
		if frees && v.Item.Param.Dir == abi.InOut && objectNames[what] != "" && what != "REQUEST" &&
			v.Uint() >= firstMade {
			o := object{what, v.Uint()}
			delete(k.live, o)
			k.freed.add(o, k.site(e))
		}
	}
	if given(e.name) {
		return
	}
	for i := range e.Outputs {
		v := &e.Outputs[i]
		what := v.Item.Param.Kind.Name
		if v.Item.Form != insight.List || v.Item.Param.Dir != abi.Out || objectNames[what] == "" ||
			what == "REQUEST" ||
			len(v.Words) != 1 || v.Uint() < firstMade {
			continue
		}
		o := object{what, v.Uint()}
		k.live[o] = k.site(e)
		delete(k.freed.sites, o)
	}
}

// misused reports that a failed call used a handle that had been freed before.
func (c *Checker) misused(k *rank, e *event) {
	for _, v := range e.Inputs {
		what := v.Item.Param.Kind.Name
		if objectNames[what] == "" {
			continue
		}
		for _, h := range v.Words {
			o := object{what, h}
			free := k.freed.sites[o]
			if free == nil || k.live[o] != nil || what == "REQUEST" && k.requests[h] != nil {
				continue
			}
			use := k.site(e)
			c.tell(&Finding{Kind: "freed", Target: k.number, Object: objectNames[what],
				Advice: "Do not use a handle after it has been freed."},
				spot{free, "frees the handle"}, spot{use, "uses the handle"})
			return
		}
	}
}

// leaks reports the objects that are left when a rank ends.
func (c *Checker) leaks(k *rank) {
	if !k.hidden { // callbacks that delete attributes may have freed some
		for o, site := range k.live {
			c.leak(k, objectNames[o.kind], site)
		}
	}
	for _, r := range k.requests {
		c.leak(k, "request", r.site)
	}
	k.live = map[object]*site{}
}

func (c *Checker) leak(k *rank, what string, made *site) {
	c.tell(&Finding{Kind: "leak", Target: k.number, Object: what,
		Advice: freeing[what] + " before MPI_Finalize."}, spot{made, "creates the " + what})
}

// freeing holds the advice on objects that are left.
var freeing = map[string]string{"communicator": "Call MPI_Comm_free", "group": "Call MPI_Group_free",
	"info": "Call MPI_Info_free", "op": "Call MPI_Op_free", "datatype": "Call MPI_Type_free",
	"window": "Call MPI_Win_free", "request": "Complete the request (MPI_Wait) or call MPI_Request_free"}

// spot is a call of a finding, and its role.
type spot struct {
	*site
	what string
}

// tell adds a finding with one or two spots. Equal findings at the same places are only counted.
func (c *Checker) tell(f *Finding, spots ...spot) {
	if c.follow != nil {
		return
	}
	key := findingKey{what: f.Kind + f.Object + f.Name, b: c.placeOf(spots[0].site)}
	if len(spots) > 1 {
		other := c.placeOf(spots[1].site)
		key.a, key.b = min(key.b, other), max(key.b, other)
	}
	if old := c.known[key]; old != nil {
		old.Times++
		return
	}
	f.Times = 1
	for _, s := range spots {
		f.Places = append(f.Places, Spot{Rank: s.rank, Thread: s.thread, Call: s.name, Detail: s.detail,
			What: s.what, Epoch: s.epoch, Place: c.place(s.rank, s.address)})
	}
	c.known[key] = f
	c.findings = append(c.findings, f)
	c.news = append(c.news, f)
}
