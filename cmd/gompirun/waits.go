package main

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"

	"gompirma/core/abi"
	"gompirma/core/handle"
	"gompirma/core/shm"
)

// This file describes in words what ranks do. A thread's wait is known while the thread sleeps in a call of MPI
// (shm.Waiting).

// doing is the state of a rank.
type doing struct {
	rank int
	is   string // as text, if the rank is not in MPI
	gone bool   // it has ended, so it will do nothing more
	ws   []shm.Waiting
	more int // number of waiting threads without a wait record
	// Number of threads of the application in a blocking call of MPI. Some of them may not have slept yet.
	blocked int
}

// look returns the state of each rank.
func (j *job) look() picture {
	p := make(picture, len(j.ranks))
	for r := range p {
		p[r] = j.lookAt(r)
	}
	return p
}

func (j *job) lookAt(rank int) doing {
	d := doing{rank: rank}
	st := j.pmi.State(rank)
	switch {
	case j.ranks[rank].ended:
		d.is, d.gone = "has ended", true
	case st.Finalized:
		d.is = "has called MPI_Finalize"
	default:
		node := j.nodeOf(rank)
		d.ws, d.more = node.memory.Waits(rank - node.first)
		d.blocked = node.memory.Blocked(rank - node.first)
		if !st.Initialized && len(d.ws) == 0 {
			d.is = "has not called MPI_Init"
		}
	}
	return d
}

// picture is the state of all ranks, by rank.
type picture []doing

// key identifies an object in the same way at all its members. Handles differ between processes, and two groups without
// a common member may have given the same id to different objects.
type key struct {
	kind  handle.Kind
	id    uint64
	first int32
}

// keyOf returns the key of a wait's object, if its members are known.
func keyOf(w *shm.Waiting) (k key, ok bool) {
	k = key{handle.KindOf(uintptr(w.Object)), w.ID, w.Members.First[0]}
	return k, w.ID != 0 && w.Members.N > 0
}

// meeting holds the synchronizing collectives: no member leaves before all have called them.
var meeting = map[string]bool{
	"MPI_Barrier": true, "MPI_Allreduce": true, "MPI_Allgather": true, "MPI_Alltoall": true, "MPI_Win_fence": true,
	"MPI_Win_create": true, "MPI_Win_allocate": true, "MPI_Win_allocate_shared": true,
	"MPI_Win_create_dynamic": true,
	"MPI_Win_free":           true, "MPI_Comm_dup": true, "MPI_Comm_dup_with_info": true, "MPI_Comm_split": true,
	"MPI_Comm_split_type": true, "MPI_Comm_create": true, "MPI_Dist_graph_create": true,
	"MPI_Dist_graph_create_adjacent": true,
}

// rooted holds the collectives in which a member may complete its part before others have called them.
var rooted = map[string]bool{
	"MPI_Bcast": true, "MPI_Gather": true, "MPI_Gatherv": true, "MPI_Scatter": true, "MPI_Scatterv": true,
	"MPI_Allgatherv": true, "MPI_Alltoallv": true, "MPI_Alltoallw": true, "MPI_Reduce": true, "MPI_Scan": true,
	"MPI_Exscan": true, "MPI_Reduce_scatter": true, "MPI_Reduce_scatter_block": true,
	"MPI_Neighbor_allgather": true, "MPI_Neighbor_allgatherv": true, "MPI_Neighbor_alltoall": true,
	"MPI_Neighbor_alltoallv": true, "MPI_Neighbor_alltoallw": true,
}

// persistent reports whether a function makes a request for a persistent collective.
func persistent(function string) bool {
	return strings.HasSuffix(strings.TrimSuffix(function, "_c"), "_init")
}

// collective reports whether a wait is for the other members to make the same call.
func collective(w *shm.Waiting) bool {
	call := strings.TrimSuffix(w.Call, "_c")
	return w.Reason == shm.ForUnsaid && (meeting[call] || rooted[call])
}

func meets(w *shm.Waiting) bool { return collective(w) && meeting[strings.TrimSuffix(w.Call, "_c")] }

// missing returns the members that a wait in a collective certainly needs: those that are not in the same call, have
// not started it, or have data for this member.
func (p picture) missing(w *shm.Waiting) (ranks []int) {
	if !w.Members.Known() {
		return nil
	}
	if w.Reason == shm.ForUnsaid || w.Reason == shm.ForCollective {
		for _, i := range w.Missing {
			if i < w.Members.N {
				ranks = append(ranks, w.Members.At(i))
			}
		}
	}
	if len(ranks) > 0 {
		slices.Sort(ranks)
		return ranks
	}
	if !meets(w) {
		return nil
	}
	for i := range w.Members.N {
		if rank := w.Members.At(i); !p.isIn(rank, w) {
			ranks = append(ranks, rank)
		}
	}
	slices.Sort(ranks)
	return ranks
}

// isIn reports whether a rank waits in the same call on the same object. It returns true if that is unknown.
func (p picture) isIn(rank int, w *shm.Waiting) bool {
	k, ok := keyOf(w)
	if rank < 0 || rank >= len(p) || !ok {
		return true
	}
	return slices.ContainsFunc(p[rank].ws, func(other shm.Waiting) bool {
		o, known := keyOf(&other)
		return other.Call == w.Call && known && o == k
	})
}

// ofMembers returns the ranks of a wait's members; nil if they are not all known.
func ofMembers(m *shm.Members) (ranks []int) {
	if !m.Known() {
		return nil
	}
	for i := range m.N {
		ranks = append(ranks, m.At(i))
	}
	slices.Sort(ranks)
	return ranks
}

// says returns text on what a rank does.
func (p picture) says(d *doing) string {
	switch {
	case d.is != "":
		return d.is
	case len(d.ws) == 0 && d.more == 0:
		return "is not blocked in MPI (computing, or polling with MPI_Test)"
	case len(d.ws) == 1 && d.more == 0 && d.ws[0].Call == finalize && d.ws[0].Reason == shm.ForUnsaid:
		return p.inFinalize(d)
	}
	threads := map[string]int{}
	var whats []string
	for i := range d.ws {
		what := p.wait(&d.ws[i])
		if threads[what]++; threads[what] == 1 {
			whats = append(whats, what)
		}
	}
	sort.Strings(whats)
	for i, what := range whats {
		if n := threads[what]; n > 1 {
			whats[i] = fmt.Sprintf("%s (%d threads)", what, n)
		}
	}
	if d.more > 0 {
		whats = append(whats, fmt.Sprintf("and %d more", d.more))
	}
	return "waits " + strings.Join(whats, ", ")
}

// inFinalize returns text on a rank in MPI_Finalize, and on the ranks that wait for it.
func (p picture) inFinalize(d *doing) string {
	text := "is in " + finalize
	for _, other := range p.notIn(finalize) {
		if what := p.withholds(d.rank, other); strings.HasPrefix(what, "will ") {
			text += " and " + what
		}
	}
	if text == "is in "+finalize {
		text = "waits in " + finalize
		if others := p.notIn(finalize); len(others) > 0 {
			text += " for " + ranksOf(others)
		}
	}
	return text
}

// wait returns text on what a thread waits for.
func (p picture) wait(w *shm.Waiting) string {
	who, some := "", w.Object != 0
	switch missing := p.missing(w); {
	case len(w.Parts) > 0:
		return inCall(w) + " for " + p.alternatives(w)
	case w.Reason == shm.ForSelf:
		return toward(w, "")
	case w.Peer >= 0 && !w.All:
		who = "rank " + fmt.Sprint(w.Peer)
	case len(missing) > 0:
		who = ranksOf(missing)
	case w.Reason == shm.ForComplete:
		who = completers(w)
	case w.Peer == shm.PeersAny && some:
		return inCall(w) + " for any rank of " + object(w)
	case w.Peer == shm.PeersAll && some, w.Peer >= 0 && some:
		return inCall(w) + " for the ranks of " + object(w)
	}
	return toward(w, who)
}

// mostAlternatives is the largest number of listed events any of which may end a wait.
const mostAlternatives = 6

// alternatives returns text on the events any of which ends a wait.
func (p picture) alternatives(w *shm.Waiting) string {
	of := func(part *shm.Waiting) string { return " (" + tag(part) + ")" + onOther(part) }
	ranks := map[string][]int{} // by what they may do, with %s in place of their names
	var whats []string
	for i := range w.Parts {
		part := &w.Parts[i]
		what, who := "the completion of another operation", []int{}
		switch {
		case part.Reason == shm.ForSelf:
			what = printable(part.Operation) + " by another thread of this rank"
		case part.Reason == shm.ForCollective:
			what, who = printable(part.Operation)+onOther(part)+" of %s", p.missing(part)
		case part.Peer < 0:
			who = nil
		case part.Reason == shm.ForMessage:
			what, who = "a message from %s"+of(part), []int{int(part.Peer)}
		case part.Reason == shm.ForReceipt:
			what, who = "%s to receive"+of(part), []int{int(part.Peer)}
		case part.Reason == shm.ForPartitions:
			what, who = "partitions from %s"+of(part), []int{int(part.Peer)}
		}
		if part.Reason == shm.ForMessage && part.Peer == shm.PeersAny {
			what = "a message from any rank" + of(part)
		}
		if len(who) == 0 {
			what = strings.NewReplacer(" of %s", "", " from %s", "").Replace(what)
		}
		if _, seen := ranks[what]; !seen {
			whats = append(whats, what)
		}
		ranks[what] = append(ranks[what], who...)
	}
	if !w.AllParts {
		whats = append(whats, "the completion of another operation")
	}
	if len(whats) > mostAlternatives {
		whats = append(whats[:mostAlternatives], "the completion of another operation")
	}
	for i, what := range whats {
		if strings.Contains(what, "%s") {
			slices.Sort(ranks[what])
			whats[i] = strings.ReplaceAll(what, "%s", ranksOf(slices.Compact(ranks[what])))
		}
	}
	return strings.Join(slices.Compact(whats), " or ")
}

// completers returns text on the ranks whose MPI_Win_complete is awaited.
func completers(w *shm.Waiting) string {
	who := fmt.Sprintf("%d ranks", w.Members.N)
	if ranks := ofMembers(&w.Members); ranks != nil {
		who = ranksOf(ranks)
	}
	if w.Lacks != w.Members.N {
		who = fmt.Sprintf("%d more of %s", w.Lacks, who)
	}
	return who
}

// toward returns text on a wait that needs the given ranks.
func toward(w *shm.Waiting, who string) string {
	if who == "" && w.Reason != shm.ForSelf {
		return inCall(w)
	}
	text := inCall(w)
	switch w.Reason {
	case shm.ForPartitions:
		return text + onOther(w) + " for partitions from " + who
	case shm.ForSelf:
		return text + " for " + printable(w.Operation) + ", which another thread of this rank must call"
	case shm.ForMessage:
		return text + onOther(w) + " for " + who
	case shm.ForReceipt:
		return text + onOther(w) + " for " + who + " to receive"
	case shm.ForPost:
		return text + " for " + who + " to call MPI_Win_post on " + object(w)
	case shm.ForComplete:
		return text + " for " + who + " to call MPI_Win_complete on " + object(w)
	case shm.ForLock:
		return text + fmt.Sprintf(" for the lock of target %d in %s", w.Tag, object(w))
	}
	if w.Object == 0 {
		return text + " for " + who
	}
	return text + " on " + object(w) + " for " + who
}

// inCall returns the name of the call, with the tag if there is one.
func inCall(w *shm.Waiting) string {
	text := "in " + printable(w.Call)
	switch w.Reason {
	case shm.ForMessage, shm.ForReceipt, shm.ForPartitions:
		text += " (" + tag(w) + ")"
	case shm.ForCollective:
		text += fmt.Sprintf(" (%s, ", printable(w.Operation))
		switch {
		case !persistent(w.Operation):
			text += fmt.Sprintf("nonblocking collective %d)", w.Tag)
		case w.Lacks < 0:
			text += fmt.Sprintf("collective %d)", w.Tag)
		default:
			text += fmt.Sprintf("round %d)", w.Tag)
		}
	}
	return text
}

func tag(w *shm.Waiting) string {
	if int(w.Tag) == abi.MPI_ANY_TAG {
		return "any tag"
	}
	return fmt.Sprintf("tag %d", w.Tag)
}

// onOther returns the communicator of a message unless it is MPI_COMM_WORLD.
func onOther(w *shm.Waiting) string {
	if w.Object == 0 || uintptr(w.Object) == abi.MPI_COMM_WORLD {
		return ""
	}
	return " on " + object(w)
}

// object returns the name of the object of a wait.
func object(w *shm.Waiting) string {
	switch uintptr(w.Object) {
	case abi.MPI_COMM_WORLD:
		return "MPI_COMM_WORLD"
	case abi.MPI_COMM_SELF:
		return "MPI_COMM_SELF"
	}
	kind := "handle"
	switch handle.KindOf(uintptr(w.Object)) {
	case handle.Comm:
		kind = "communicator"
	case handle.Win:
		kind = "window"
	}
	if name := printableName(w.Name); name != "" {
		return fmt.Sprintf("%s '%s'", kind, name)
	}
	return fmt.Sprintf("%s %#x", kind, w.Object)
}

// printable replaces all characters that a function's name cannot have: the text comes from memory that ranks write.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '?'
	}, name)
}

// printableName replaces characters of a name from the program that a terminal cannot show. It marks a name that may
// have been cut.
func printableName(name string) string {
	cut := len(name) >= shm.ToldName
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return '?'
	}, name)
	if cut {
		name += "..."
	}
	return name
}

// lines returns a line for each state, with the ranks in that state, and lines with the places of the calls in which
// they wait.
func (p picture) lines(traces map[int][]string) (lines []string) {
	ranks := map[string][]int{}
	for r := range p {
		what := p.says(&p[r])
		ranks[what] = append(ranks[what], r)
	}
	var whats []string
	for what := range ranks {
		whats = append(whats, what)
	}
	sort.Slice(whats, func(a, b int) bool { return ranks[whats[a]][0] < ranks[whats[b]][0] })
	for _, what := range whats {
		of := ranks[what]
		if len(of) > 1 {
			what = several(what)
		}
		lines = append(lines, ranksOf(of)+" "+what)
		lines = append(lines, placesOf(of, traces)...)
	}
	return lines
}

// placesOf returns a line for each place where ranks wait, with the ranks unless all of them wait there.
func placesOf(ranks []int, traces map[int][]string) (lines []string) {
	at := map[string][]int{}
	var places []string
	for _, r := range ranks {
		for _, place := range traces[r] {
			if at[place] = append(at[place], r); len(at[place]) == 1 {
				places = append(places, place)
			}
		}
	}
	for _, place := range places {
		who := ""
		if of := slices.Compact(at[place]); len(of) < len(ranks) {
			who = ranksOf(of) + ": "
		}
		lines = append(lines, "  "+who+place)
	}
	return lines
}

// verbs holds the first words of states, for one rank and for several.
var verbs = [][2]string{{"waits ", "wait "}, {"has ", "have "},
	{"is ", "are "}}

func several(what string) string  { return verb(what, 0, 1) }
func singular(what string) string { return verb(what, 1, 0) }

func verb(what string, from, to int) string {
	for _, v := range verbs {
		if rest, ok := strings.CutPrefix(what, v[from]); ok {
			return v[to] + rest
		}
	}
	return what
}

// ranksOf returns text that names ranks; numbers must be in ascending order.
func ranksOf(numbers []int) string {
	if len(numbers) == 1 {
		return fmt.Sprintf("rank %d", numbers[0])
	}
	return "ranks " + ranges(numbers)
}
