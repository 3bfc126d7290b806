package check

import (
	"strings"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// object identifies an object of a rank by its handle.
type object struct {
	kind   string // kind of parameter in core/abi's table
	handle uint64
}

// objectNames maps the kinds of objects that must be freed to the names that findings use.
var objectNames = map[string]string{"COMMUNICATOR": "communicator", "GROUP": "group", "INFO": "info",
	"OPERATION": "op", "DATATYPE": "datatype", "WINDOW": "window", "REQUEST": "request", "FILE": "file"}

// firstDynamic is the smallest handle that is not predefined.
const firstDynamic = 0x1000

// returnsBorrowed reports whether a function returns a handle that must not be freed.
func returnsBorrowed(name string) bool {
	return name == "MPI_Comm_get_parent" || strings.HasSuffix(name, "_f2c") || strings.HasSuffix(name,
		"_fromint") ||
		strings.HasPrefix(name, "MPI_Type_create_f90") || name == "MPI_Type_match_size" ||
		strings.HasPrefix(name, "MPI_Comm_idup") // commOf makes these live at their first use
}

// freed holds the calls by which a rank has freed objects, for the most recently freed objects.
type freed struct {
	sites map[object]*callSite
	order []object // keys of sites in the order of freeing, as a ring
	next  int
}

const maxFreed = 4096

func (f *freed) add(o object, s *callSite) {
	if f.sites == nil {
		f.sites = map[object]*callSite{}
	}
	if len(f.order) < maxFreed {
		f.order = append(f.order, o)
	} else {
		delete(f.sites, f.order[f.next])
		f.order[f.next] = o
		f.next = (f.next + 1) % maxFreed
	}
	f.sites[o] = s
}

// trackObjects records the objects that a call has made and freed.
func (c *Checker) trackObjects(k *rank, e *event) {
	if strings.HasSuffix(e.name, "_keyval") && strings.Contains(e.name, "_create_") {
		k.hasCallbacks = true
		return
	}
	frees := strings.HasSuffix(e.name, "_free") || e.name == "MPI_Comm_disconnect" || e.name == "MPI_File_close"
	for _, v := range e.Inputs {
		what := v.Item.Param.Kind.Name
		if frees && v.Item.Param.Dir == abi.InOut && objectNames[what] != "" && what != "REQUEST" &&
			v.Uint() >= firstDynamic {
			o := object{what, v.Uint()}
			delete(k.liveObjects, o)
			k.freed.add(o, k.newSite(e))
		}
	}
	if returnsBorrowed(e.name) {
		return
	}
	for i := range e.Outputs {
		v := &e.Outputs[i]
		what := v.Item.Param.Kind.Name
		if v.Item.Form != insight.List || v.Item.Param.Dir != abi.Out || objectNames[what] == "" ||
			what == "REQUEST" ||
			len(v.Words) != 1 || v.Uint() < firstDynamic {
			continue
		}
		o := object{what, v.Uint()}
		k.liveObjects[o] = k.newSite(e)
		delete(k.freed.sites, o)
	}
}

// reportFreedUse reports a finding if a failed call used a handle that had been freed before.
func (c *Checker) reportFreedUse(k *rank, e *event) {
	for _, v := range e.Inputs {
		what := v.Item.Param.Kind.Name
		if objectNames[what] == "" {
			continue
		}
		for _, h := range v.Words {
			o := object{what, h}
			free := k.freed.sites[o]
			if free == nil || k.liveObjects[o] != nil || what == "REQUEST" && k.requests[h] != nil {
				continue
			}
			use, frees, freed := k.newSite(e), "frees", "freed"
			if what == "FILE" {
				frees, freed = "closes", "closed"
			}
			c.report(&Finding{Kind: "freed", Target: k.number, Object: objectNames[what],
				Advice: "Do not use a handle after it has been " + freed + "."},
				callRole{free, frees + " the handle"}, callRole{use, "uses the handle"})
			return
		}
	}
}

// leaks reports the objects that a rank has not freed when it ends.
func (c *Checker) leaks(k *rank) {
	if !k.hasCallbacks { // callbacks that delete attributes may have freed objects
		for o, site := range k.liveObjects {
			c.leak(k, objectNames[o.kind], site)
		}
	}
	for _, r := range k.requests {
		c.leak(k, "request", r.site)
	}
	k.liveObjects = map[object]*callSite{}
}

func (c *Checker) leak(k *rank, what string, made *callSite) {
	creates := "creates"
	if what == "file" {
		creates = "opens"
	}
	c.report(&Finding{Kind: "leak", Target: k.number, Object: what,
		Advice: freeing[what] + " before MPI_Finalize."}, callRole{made, creates + " the " + what})
}

// freeing holds the advice for objects that have not been freed.
var freeing = map[string]string{"communicator": "Call MPI_Comm_free", "group": "Call MPI_Group_free",
	"info": "Call MPI_Info_free", "op": "Call MPI_Op_free", "datatype": "Call MPI_Type_free",
	"window": "Call MPI_Win_free", "file": "Call MPI_File_close",
	"request": "Complete the request (MPI_Wait) or call MPI_Request_free"}

// callRole is a call that a finding reports, with a text that says what the call did.
type callRole struct {
	*callSite
	what string
}

// report adds a finding with one or two calls. A finding that equals an earlier one at the same program locations is
// only counted.
func (c *Checker) report(f *Finding, spots ...callRole) {
	if c.follow != nil {
		return
	}
	key := findingKey{kind: f.Kind + f.Object + f.Name, b: c.locationNumber(spots[0].callSite)}
	if len(spots) > 1 {
		other := c.locationNumber(spots[1].callSite)
		key.a, key.b = min(key.b, other), max(key.b, other)
	}
	if old := c.findingsByKey[key]; old != nil {
		old.Times++
		return
	}
	c.addFinding(key, f, spots...)
}
