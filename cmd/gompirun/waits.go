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

// What ranks do, in words. What a thread waits for is known while it sleeps in a call of MPI (shm.Waiting).

// doing is what a rank does.
type doing struct {
	rank int
	is   string // in words, if it is not in MPI
	gone bool   // it has ended, so nothing will ever come of it
	ws   []shm.Waiting
	more int // threads that wait and have not said what for
	// Threads of the application that are in a blocking call of MPI, some of which may have not slept yet.
	blocked int
}

// look returns what each rank does.
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

// picture is what all ranks do, by rank.
type picture []doing

// key tells an object from others in the same way at all its members: handles are numbers of each process, and what two
// groups without a common member have made may have the same number.
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

// meeting are the collectives that no member leaves before all have called them.
var meeting = map[string]bool{
	"MPI_Barrier": true, "MPI_Allreduce": true, "MPI_Allgather": true, "MPI_Alltoall": true, "MPI_Win_fence": true,
	"MPI_Win_create": true, "MPI_Win_allocate": true, "MPI_Win_allocate_shared": true,
	"MPI_Win_create_dynamic": true,
	"MPI_Win_free":           true, "MPI_Comm_dup": true, "MPI_Comm_split": true, "MPI_Comm_create": true,
}

// rooted are those in which a member may have done its part and gone on.
var rooted = map[string]bool{
	"MPI_Bcast": true, "MPI_Gather": true, "MPI_Gatherv": true, "MPI_Scatter": true, "MPI_Scatterv": true,
	"MPI_Allgatherv": true, "MPI_Alltoallv": true, "MPI_Alltoallw": true, "MPI_Reduce": true, "MPI_Scan": true,
	"MPI_Exscan": true, "MPI_Reduce_scatter": true, "MPI_Reduce_scatter_block": true,
}

// collective returns whether a wait is for the other members to make the same call.
func collective(w *shm.Waiting) bool {
	call := strings.TrimSuffix(w.Call, "_c")
	return w.Reason == shm.ForUnsaid && (meeting[call] || rooted[call])
}

func meets(w *shm.Waiting) bool { return collective(w) && meeting[strings.TrimSuffix(w.Call, "_c")] }

// missing returns the members that a wait in a collective needs for certain: those that are not in the same call.
func (p picture) missing(w *shm.Waiting) (ranks []int) {
	if !meets(w) || !w.Members.Known() {
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

// isIn returns whether a rank waits in the same call on the same object; also for one that is not known.
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

// ofMembers returns the ranks that a wait's members are, nil if it is not known who they all are.
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

// says returns what a rank does.
func (p picture) says(d *doing) string {
	switch {
	case d.is != "":
		return d.is
	case len(d.ws) == 0 && d.more == 0:
		return "runs outside MPI or does not wait"
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

// wait says what a thread waits for.
func (p picture) wait(w *shm.Waiting) string {
	who, some := "", w.Object != 0
	switch missing := p.missing(w); {
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

// completers says whose MPI_Win_complete is waited for.
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

// toward says what a thread waits for that needs somebody.
func toward(w *shm.Waiting, who string) string {
	if who == "" {
		return inCall(w)
	}
	text := inCall(w)
	switch w.Reason {
	case shm.ForMessage:
		return text + onOther(w) + " for " + who
	case shm.ForReceipt:
		return text + onOther(w) + " for " + who + " to receive"
	case shm.ForPost:
		return text + " for " + who + " to post " + object(w)
	case shm.ForComplete:
		return text + " for " + who + " to complete an epoch on " + object(w)
	case shm.ForLock:
		return text + fmt.Sprintf(" for the lock of %s at target %d", object(w), w.Tag)
	}
	if w.Object == 0 {
		return text + " for " + who
	}
	return text + " on " + object(w) + " for " + who
}

// inCall names the call, and the tag where there is one.
func inCall(w *shm.Waiting) string {
	text := "in " + printable(w.Call)
	switch {
	case w.Reason != shm.ForMessage && w.Reason != shm.ForReceipt:
	case int(w.Tag) == abi.MPI_ANY_TAG:
		text += " (any tag)"
	default:
		text += fmt.Sprintf(" (tag %d)", w.Tag)
	}
	return text
}

// onOther names the communicator of a message if it is not the usual one.
func onOther(w *shm.Waiting) string {
	if w.Object == 0 || uintptr(w.Object) == abi.MPI_COMM_WORLD {
		return ""
	}
	return " on " + object(w)
}

// object names what a wait is about.
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

// printable leaves only what a name may consist of: the text comes from memory that ranks write.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '?'
	}, name)
}

// printableName leaves what a terminal shows of a name that the program has given, which may go on.
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

// lines gives a line for each thing that ranks do, with the ranks that do it.
func (p picture) lines() (lines []string) {
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
		if len(ranks[what]) > 1 {
			what = several(what)
		}
		lines = append(lines, ranksOf(ranks[singular(what)])+" "+what)
	}
	return lines
}

// verbs are how what a rank does begins, for one and for several.
var verbs = [][2]string{{"waits ", "wait "}, {"has ", "have "},
	{"runs outside MPI or does not ", "run outside MPI or do not "}}

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

// ranksOf names ranks, which ascend.
func ranksOf(numbers []int) string {
	if len(numbers) == 1 {
		return fmt.Sprintf("rank %d", numbers[0])
	}
	return "ranks " + ranges(numbers)
}
