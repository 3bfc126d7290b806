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

// This file describes in words what each rank does. A wait record (shm.Waiting) states what a thread that sleeps in a
// call of MPI waits for.

type rankState struct {
	rank       int
	world      *world
	text       string // what the rank does, if that is known without wait records; else ""
	ended      bool   // the process has ended
	finalized  bool   // the process has called MPI_Finalize, and has not ended
	waits      []shm.Waiting
	unrecorded int // number of waiting threads without a wait record
	// Number of threads of the application in a blocking call of MPI, including those that do not sleep yet.
	blocked int
}

// snapshot returns the state of each rank.
func (j *job) snapshot() snapshot {
	p := make(snapshot, len(j.ranks))
	for r := range p {
		p[r] = j.stateOf(r)
	}
	return p
}

// localize translates the process numbers in the waits of a rank of node n to gompirun's rank numbers. A rank numbers
// the processes of other jobs itself, so gompirun cannot identify them: a wait for such a process gets the peer
// PeersAny and the flag Foreign.
func (j *job) localize(waits []shm.Waiting, n *node) {
	first, end := 0, len(j.ranks)
	if n.apart {
		first, end = n.first, n.size
	} else if len(j.nodes) > 1 {
		end = j.worlds[0].size
	}
	for i := range waits {
		w := &waits[i]
		j.localize(w.Events, n)
		if int(w.Peer) >= end {
			w.Peer, w.Foreign = shm.PeersAny, true
		} else if w.Peer >= 0 {
			w.Peer += int32(first)
		}
		for k := range min(w.Members.N, len(w.Members.First)) {
			if int(w.Members.First[k]) >= end {
				w.Members, w.Foreign = shm.Members{}, true
				break
			}
			w.Members.First[k] += int32(first)
		}
	}
}

func (j *job) stateOf(rank int) rankState {
	d := rankState{rank: rank, world: j.ranks[rank].world}
	st := j.pmiState(rank)
	switch {
	case j.ranks[rank].ended:
		d.text, d.ended = "has ended", true
	case st.Finalized:
		d.text, d.finalized = "has called MPI_Finalize", true
	default:
		node := j.nodeOf(rank)
		d.waits, d.unrecorded = node.memory.Waits(rank - node.first)
		j.localize(d.waits, node)
		d.blocked = node.memory.Blocked(rank - node.first)
		if !st.Initialized && len(d.waits) == 0 {
			d.text = "has not called MPI_Init"
		}
	}
	return d
}

// snapshot is the state of all ranks, by rank.
type snapshot []rankState

// objectKey identifies a communicator or window by the same value at all its members. Handles differ between processes.
// An id alone is not enough, since two groups without a common member may have given the same id to different objects.
type objectKey struct {
	kind  handle.Kind
	id    uint64
	first int32
}

// objectKeyOf returns the key of a wait's object, if its members are known.
func objectKeyOf(w *shm.Waiting) (k objectKey, ok bool) {
	k = objectKey{handle.KindOf(uintptr(w.Object)), w.ID, w.Members.First[0]}
	return k, w.ID != 0 && w.Members.N > 0
}

// synchronizing holds the synchronizing collectives: no member leaves before all have called them.
var synchronizing = map[string]bool{
	"MPI_Barrier": true, "MPI_Allreduce": true, "MPI_Allgather": true, "MPI_Alltoall": true, "MPI_Win_fence": true,
	"MPI_Win_create": true, "MPI_Win_allocate": true, "MPI_Win_allocate_shared": true,
	"MPI_Win_create_dynamic": true,
	"MPI_Win_free":           true, "MPI_Comm_dup": true, "MPI_Comm_dup_with_info": true, "MPI_Comm_split": true,
	"MPI_Comm_split_type": true, "MPI_Comm_create": true, "MPI_Dist_graph_create": true,
	"MPI_Dist_graph_create_adjacent": true,
}

// nonSynchronizing holds the collectives in which a member may complete its part before other members have made the
// call.
var nonSynchronizing = map[string]bool{
	"MPI_Bcast": true, "MPI_Gather": true, "MPI_Gatherv": true, "MPI_Scatter": true, "MPI_Scatterv": true,
	"MPI_Allgatherv": true, "MPI_Alltoallv": true, "MPI_Alltoallw": true, "MPI_Reduce": true, "MPI_Scan": true,
	"MPI_Exscan": true, "MPI_Reduce_scatter": true, "MPI_Reduce_scatter_block": true,
	"MPI_Neighbor_allgather": true, "MPI_Neighbor_allgatherv": true, "MPI_Neighbor_alltoall": true,
	"MPI_Neighbor_alltoallv": true, "MPI_Neighbor_alltoallw": true,
}

// isPersistent reports whether a function creates the request of a persistent collective (MPI_Bcast_init).
func isPersistent(function string) bool {
	return strings.HasSuffix(strings.TrimSuffix(function, "_c"), "_init")
}

// isCollective reports whether a thread waits in a blocking collective for other members to call it too.
func isCollective(w *shm.Waiting) bool {
	call := strings.TrimSuffix(w.Call, "_c")
	return w.Reason == shm.ForCall && (synchronizing[call] || nonSynchronizing[call])
}

func isSynchronizing(w *shm.Waiting) bool {
	return isCollective(w) && synchronizing[strings.TrimSuffix(w.Call, "_c")]
}

// missing returns ranks for which a thread with the wait `w` in a collective certainly waits. The waiting thread may
// have recorded them: they have not started the collective, or have not sent data to this member. Otherwise, in a
// synchronizing collective, they are the members that are not in the same call.
func (p snapshot) missing(w *shm.Waiting) (ranks []int) {
	if !w.Members.Known() {
		return nil
	}
	if w.Reason == shm.ForCall || w.Reason == shm.ForCollective {
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
	if !isSynchronizing(w) {
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

// isIn reports whether a rank waits in the same call on the same object. It also returns true if this is unknown.
func (p snapshot) isIn(rank int, w *shm.Waiting) bool {
	k, ok := objectKeyOf(w)
	if rank < 0 || rank >= len(p) || !ok {
		return true
	}
	return slices.ContainsFunc(p[rank].waits, func(other shm.Waiting) bool {
		o, known := objectKeyOf(&other)
		return other.Call == w.Call && known && o == k
	})
}

// memberRanks returns the ranks of a wait's members; nil if they are not all known.
func memberRanks(m *shm.Members) (ranks []int) {
	if !m.Known() {
		return nil
	}
	for i := range m.N {
		ranks = append(ranks, m.At(i))
	}
	slices.Sort(ranks)
	return ranks
}

// stateText returns text on what a rank does.
func (p snapshot) stateText(d *rankState) string {
	switch {
	case d.text != "":
		return d.text
	case len(d.waits) == 0 && d.unrecorded == 0:
		return "is not blocked in MPI (computing, or polling with MPI_Test)"
	case len(d.waits) == 1 && d.unrecorded == 0 && d.waits[0].Call == finalize && d.waits[0].Reason == shm.ForCall:
		return p.finalizeText(d)
	}
	threads := map[string]int{}
	var whats []string
	for i := range d.waits {
		what := p.waitText(&d.waits[i])
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
	threadWord := plural(d.unrecorded, "thread")
	switch {
	case d.unrecorded == 0:
	case len(whats) == 0:
		whats = append(whats, fmt.Sprintf("in MPI (%d %s)", d.unrecorded, threadWord))
	default:
		whats = append(whats, fmt.Sprintf("and %d more %s", d.unrecorded, threadWord))
	}
	return "waits " + strings.Join(whats, ", ")
}

// finalizeText returns text on a rank in MPI_Finalize. If other ranks wait for this rank, the text says what it will no
// longer do for them. Otherwise it names the ranks for which it waits.
func (p snapshot) finalizeText(d *rankState) string {
	text := "is in " + finalize
	for _, other := range p.notIn(finalize) {
		if what := p.withheldText(d.rank, other); strings.HasPrefix(what, "will ") {
			text += " and " + what
		}
	}
	if text == "is in "+finalize {
		text = "waits in " + finalize
		if others := p.notIn(finalize); len(others) > 0 {
			text += " for " + p.names(others)
		}
	}
	return text
}

// waitText returns text on what a thread waits for.
func (p snapshot) waitText(w *shm.Waiting) string {
	who, some := "", w.Object != 0
	switch missing := p.missing(w); {
	case len(w.Events) > 0:
		return callText(w) + " for " + p.alternativesText(w)
	case w.Reason == shm.ForSelf:
		return waitForText(w, "")
	case w.Foreign:
		who = "a process of another job"
	case w.Peer >= 0 && !w.All:
		who = p.name(int(w.Peer))
	case len(missing) > 0:
		who = p.names(missing)
	case w.Reason == shm.ForComplete:
		who = p.completersText(w)
	case w.Peer == shm.PeersAny && some:
		return callText(w) + " for any rank of " + objectText(w)
	case w.Peer == shm.PeersAll && some, w.Peer >= 0 && some:
		return callText(w) + " for the ranks of " + objectText(w)
	}
	return waitForText(w, who)
}

// maxAlternatives is the largest number of events that alternativesText lists.
const maxAlternatives = 6

// alternativesText returns text on a wait that any one of several events ends, as in MPI_Waitany.
func (p snapshot) alternativesText(w *shm.Waiting) string {
	of := func(part *shm.Waiting) string { return " (" + tag(part) + ")" + onCommText(part) }
	ranks := map[string][]int{} // the key is text on what the ranks may do, in which %s stands for the ranks
	var whats []string
	for i := range w.Events {
		part := &w.Events[i]
		what, who := "the completion of another operation", []int{}
		switch {
		case part.Reason == shm.ForSelf:
			what = printable(part.Operation) + " by another thread of this rank"
		case part.Reason == shm.ForCollective:
			what, who = printable(part.Operation)+onCommText(part)+" of %s", p.missing(part)
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
	if !w.HasAllEvents {
		whats = append(whats, "the completion of another operation")
	}
	if len(whats) > maxAlternatives {
		whats = append(whats[:maxAlternatives], "the completion of another operation")
	}
	for i, what := range whats {
		if strings.Contains(what, "%s") {
			slices.Sort(ranks[what])
			whats[i] = strings.ReplaceAll(what, "%s", p.names(slices.Compact(ranks[what])))
		}
	}
	return strings.Join(slices.Compact(whats), " or ")
}

// completersText returns text on the ranks whose MPI_Win_complete is awaited.
func (p snapshot) completersText(w *shm.Waiting) string {
	who := fmt.Sprintf("%d ranks", w.Members.N)
	if ranks := memberRanks(&w.Members); ranks != nil {
		who = p.names(ranks)
	}
	if w.PendingCount != w.Members.N {
		who = fmt.Sprintf("%d more of %s", w.PendingCount, who)
	}
	return who
}

// waitForText returns text on a wait. The argument `who` names the ranks that the thread waits for.
func waitForText(w *shm.Waiting, who string) string {
	if who == "" && w.Reason != shm.ForSelf {
		return callText(w)
	}
	text := callText(w)
	switch w.Reason {
	case shm.ForPartitions:
		return text + onCommText(w) + " for partitions from " + who
	case shm.ForSelf:
		return text + " for " + printable(w.Operation) + ", which another thread of this rank must call"
	case shm.ForMessage:
		return text + onCommText(w) + " for " + who
	case shm.ForReceipt:
		return text + onCommText(w) + " for " + who + " to receive"
	case shm.ForPost:
		return text + " for " + who + " to call MPI_Win_post on " + objectText(w)
	case shm.ForComplete:
		return text + " for " + who + " to call MPI_Win_complete on " + objectText(w)
	case shm.ForLock:
		return text + fmt.Sprintf(" for the lock of target %d in %s", w.Tag, objectText(w))
	}
	if w.Object == 0 {
		return text + " for " + who
	}
	return text + " on " + objectText(w) + " for " + who
}

// callText returns the name of the call in which a thread waits. For messages it adds the tag. For nonblocking and
// persistent collectives it adds the operation and its number or round.
func callText(w *shm.Waiting) string {
	text := "in " + printable(w.Call)
	switch w.Reason {
	case shm.ForMessage, shm.ForReceipt, shm.ForPartitions:
		text += " (" + tag(w) + ")"
	case shm.ForCollective:
		text += fmt.Sprintf(" (%s, ", printable(w.Operation))
		switch {
		case !isPersistent(w.Operation):
			text += fmt.Sprintf("nonblocking collective %d)", w.Tag)
		case w.PendingCount < 0:
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

// onCommText returns the communicator of a message unless it is MPI_COMM_WORLD.
func onCommText(w *shm.Waiting) string {
	if w.Object == 0 || uintptr(w.Object) == abi.MPI_COMM_WORLD {
		return ""
	}
	return " on " + objectText(w)
}

// objectText returns the name of the object of a wait.
func objectText(w *shm.Waiting) string {
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

// printable replaces all characters that the name of a C function cannot contain. The argument may hold any bytes,
// since it comes from memory that ranks write.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '?'
	}, name)
}

// printableName replaces characters that a terminal cannot show in a name that the program has set. It marks a name
// that may have been truncated.
func printableName(name string) string {
	cut := len(name) >= shm.WaitRecordNameBytes
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

// lines returns a line for each state, with the ranks in that state. Each line is followed by lines with the source
// locations of the calls in which these ranks wait.
func (p snapshot) lines(traces map[int][]string) (lines []string) {
	ranks := map[string][]int{}
	for r := range p {
		what := p.stateText(&p[r])
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
			what = pluralVerb(what)
		}
		lines = append(lines, p.names(of)+" "+what)
		lines = append(lines, p.placesOf(of, traces)...)
	}
	return lines
}

// placesOf returns a line for each source location at which ranks wait. The line names the ranks unless all ranks wait
// there.
func (p snapshot) placesOf(ranks []int, traces map[int][]string) (lines []string) {
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
			who = p.names(of) + ": "
		}
		lines = append(lines, "  "+who+place)
	}
	return lines
}

// verbs holds the verbs with which a state's text begins, in the form for one rank and in the form for several.
var verbs = [][2]string{{"waits ", "wait "}, {"has ", "have "},
	{"is ", "are "}}

func pluralVerb(what string) string   { return verb(what, 0, 1) }
func singularVerb(what string) string { return verb(what, 1, 0) }

func verb(what string, from, to int) string {
	for _, v := range verbs {
		if rest, ok := strings.CutPrefix(what, v[from]); ok {
			return v[to] + rest
		}
	}
	return what
}

// name returns the name of a rank in messages.
func (p snapshot) name(rank int) string { return p.worldOf(rank).label(rank) }

// names returns text that names ranks, whose numbers must be in ascending order.
func (p snapshot) names(ranks []int) string {
	return namesOf(ranks, func(rank int) (job, inJob int) {
		if w := p.worldOf(rank); w != nil {
			return w.number, rank - w.first
		}
		return 0, rank
	})
}

// worldOf returns the job of a rank; nil if there is no such rank.
func (p snapshot) worldOf(rank int) *world {
	if rank < 0 || rank >= len(p) {
		return nil
	}
	return p[rank].world
}

// namesOf returns text that names ranks of several jobs: "ranks 0-1 and job 1 rank 2". The function jobOf returns the
// job of a rank, and the rank in this job.
func namesOf(ranks []int, jobOf func(rank int) (job, inJob int)) string {
	var texts []string
	for len(ranks) > 0 {
		job, _ := jobOf(ranks[0])
		var numbers []int
		for ; len(ranks) > 0; ranks = ranks[1:] {
			of, number := jobOf(ranks[0])
			if of != job {
				break
			}
			numbers = append(numbers, number)
		}
		text := ranksOf(numbers)
		if job > 0 {
			text = fmt.Sprintf("job %d %s", job, text)
		}
		texts = append(texts, text)
	}
	if last := len(texts) - 1; last > 0 {
		return strings.Join(texts[:last], ", ") + " and " + texts[last]
	}
	return strings.Join(texts, "")
}

// ranksOf returns text that names ranks; numbers must be in ascending order.
func ranksOf(numbers []int) string {
	if len(numbers) == 1 {
		return fmt.Sprintf("rank %d", numbers[0])
	}
	return "ranks " + ranges(numbers)
}
