// Package attr owns cached attributes and their keyvals (MPI-5.0 7.7) for communicators, windows and datatypes alike.
// It knows nothing of those objects: each has a Table, and calls it when it is duplicated or freed. The application's
// copy and delete functions are numbers here, run through Copy and Delete, which the C side sets. They are called with
// no lock held, since they may call MPI.
package attr

import (
	"slices"
	"sync"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
	"gompirma/core/trim"
)

// Kind is what a keyval is for.
type Kind uint8

// The kinds. The deprecated MPI_Keyval_create makes keyvals of communicators.
const (
	Comm Kind = 1 + iota
	Win
	Type
)

func (k Kind) String() string {
	return [...]string{"", "communicators", "windows", "datatypes"}[k]
}

// The predefined functions: MPI_NULL_COPY_FN and so on copy nothing or delete nothing, MPI_DUP_FN copies the value.
const (
	nullFunction = abi.MPI_COMM_NULL_COPY_FN
	dupFunction  = abi.MPI_COMM_DUP_FN
)

// Copy runs an application's copy function for an attribute of object: the value for the new object, whether there is
// to be one, and the error code it returned.
var Copy func(function, object uintptr, keyval int32, extra, value uintptr) (copied uintptr, keep bool, code int32)

// Delete runs an application's delete function and returns its error code.
var Delete func(function, object uintptr, keyval int32, value, extra uintptr) (code int32)

// keyval is a key. It lives until it is freed and no attribute has it.
type keyval struct {
	number       int32
	kind         Kind
	copy, delete uintptr
	extra        uintptr
	uses         int  // attributes that have it; guarded by keyvals.mu
	freed        bool // guarded by keyvals.mu
}

// keyvals are those that live, by number. Numbers are not used again before 2^31 of them have been.
var keyvals = struct {
	mu    sync.Mutex
	live  map[int32]*keyval
	last  int32
	watch trim.Watch
}{live: map[int32]*keyval{}, last: firstKeyval}

func init() { keyvals.watch = trim.NewWatch(settle) }

// settle makes the map as small as what is in it.
func settle() {
	keyvals.mu.Lock()
	defer keyvals.mu.Unlock()
	if keyvals.watch.Over(len(keyvals.live)) {
		keyvals.live = trim.Map(keyvals.live)
	}
}

// firstKeyval is above the predefined attributes.
const firstKeyval = 1000

// Create makes a keyval (MPI-5.0 7.7.2).
func Create(kind Kind, copy, delete, extra uintptr) int32 {
	keyvals.mu.Lock()
	defer keyvals.mu.Unlock()
	for {
		if keyvals.last++; keyvals.last < firstKeyval {
			keyvals.last = firstKeyval
		}
		if keyvals.live[keyvals.last] == nil {
			break
		}
	}
	keyvals.live[keyvals.last] = &keyval{number: keyvals.last, kind: kind, copy: copy, delete: delete, extra: extra}
	keyvals.watch.Count(len(keyvals.live))
	return keyvals.last
}

// Free ends the life of a keyval; attributes that have it keep it until they go, and until then freeing it again
// changes nothing: MPI says that it is then that it goes, and delete functions free the keyval of each attribute they
// are called for. MPI_ERR_KEYVAL: there is no such keyval of that kind.
func Free(kind Kind, number int32) error {
	keyvals.mu.Lock()
	defer keyvals.mu.Unlock()
	k, err := findLocked(kind, number)
	if err != nil {
		return err
	}
	k.freed = true
	k.useLocked(0)
	return nil
}

// useLocked counts attributes that have k. keyvals.mu is held.
func (k *keyval) useLocked(more int) {
	if k.uses += more; k.freed && k.uses == 0 {
		delete(keyvals.live, k.number)
		keyvals.watch.Count(len(keyvals.live))
	}
}

func (k *keyval) use(more int) {
	keyvals.mu.Lock()
	defer keyvals.mu.Unlock()
	k.useLocked(more)
}

// find finds a keyval to look an attribute up with, or to delete it: one that was freed too while an attribute has it.
func find(kind Kind, number int32) (*keyval, error) {
	keyvals.mu.Lock()
	defer keyvals.mu.Unlock()
	return findLocked(kind, number)
}

// findToSet finds a keyval to set an attribute with: none that was freed.
func findToSet(kind Kind, number int32) (*keyval, error) {
	keyvals.mu.Lock()
	defer keyvals.mu.Unlock()
	k, err := findLocked(kind, number)
	if err == nil && k.freed {
		return nil, mpierr.New(abi.MPI_ERR_KEYVAL, "keyval %d was freed", number)
	}
	return k, err
}

func findLocked(kind Kind, number int32) (*keyval, error) {
	k := keyvals.live[number]
	switch {
	case number == abi.MPI_KEYVAL_INVALID:
		return nil, mpierr.New(abi.MPI_ERR_KEYVAL, "MPI_KEYVAL_INVALID is no keyval")
	case k == nil && number < firstKeyval && number > 0:
		return nil, mpierr.New(abi.MPI_ERR_KEYVAL, "keyval %d is predefined, or none of %s", number, kind)
	case k == nil:
		return nil, mpierr.New(abi.MPI_ERR_KEYVAL, "keyval %d was freed or never made", number)
	case k.kind != kind:
		return nil, mpierr.New(abi.MPI_ERR_KEYVAL, "keyval %d is for %s, not for %s", number, k.kind, kind)
	}
	return k, nil
}

// Table holds the attributes of one object. The zero value is ready. Safe for concurrent use, as far as the
// application's functions are.
type Table struct {
	mu      sync.Mutex
	entries []entry // in the order in which they were set first
}

type entry struct {
	key   *keyval
	value uintptr
}

// Get returns the value of an attribute; ok is false if it is not set. MPI_ERR_KEYVAL: there is no such keyval of that
// kind.
func (t *Table) Get(kind Kind, number int32) (value uintptr, ok bool, err error) {
	k, err := find(kind, number)
	if err != nil {
		return 0, false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := t.index(k); i >= 0 {
		return t.entries[i].value, true, nil
	}
	return 0, false, nil
}

// Set gives object an attribute, after the delete function was called for the value that it had. MPI_ERR_KEYVAL: there
// is no such keyval of that kind. An error of the delete function: nothing was changed.
func (t *Table) Set(kind Kind, object uintptr, number int32, value uintptr) error {
	k, err := findToSet(kind, number)
	if err != nil {
		return err
	}
	if old, ok := t.value(k); ok {
		if err := k.remove(object, old); err != nil {
			return err
		}
	}
	t.put(k, value)
	return nil
}

// Delete removes an attribute of object, after its delete function was called. MPI_ERR_KEYVAL: there is no such keyval
// of that kind, or the attribute is not set. An error of the delete function: nothing was changed.
func (t *Table) Delete(kind Kind, object uintptr, number int32) error {
	k, err := find(kind, number)
	if err != nil {
		return err
	}
	old, ok := t.value(k)
	if !ok {
		return mpierr.New(abi.MPI_ERR_KEYVAL, "attribute %d is not set", number)
	}
	if err := k.remove(object, old); err != nil {
		return err
	}
	t.drop(k)
	return nil
}

// CopyTo copies the attributes of object to the table of its duplicate, as their copy functions say, in the order in
// which they were set. An error of a copy function ends it; to is then empty again, its attributes deleted as those of
// newObject.
func (t *Table) CopyTo(to *Table, object, newObject uintptr) error {
	for _, e := range t.snapshot() {
		value, keep := e.value, true
		switch e.key.copy {
		case nullFunction:
			keep = false
		case dupFunction:
		default:
			var code int32
			if value, keep, code = Copy(e.key.copy, object, e.key.number, e.key.extra,
				e.value); code != abi.MPI_SUCCESS {
				to.DeleteAll(newObject)
				return mpierr.New(code, "the copy function of attribute %d returned %d", e.key.number,
					code)
			}
		}
		if keep {
			to.put(e.key, value)
		}
	}
	return nil
}

// DeleteAll deletes the attributes of an object that is freed, those set last first. An error of a delete function ends
// it; that attribute and those set before it are still there.
func (t *Table) DeleteAll(object uintptr) error {
	for {
		all := t.snapshot()
		if len(all) == 0 {
			return nil
		}
		last := all[len(all)-1]
		if err := last.key.remove(object, last.value); err != nil {
			return err
		}
		t.drop(last.key)
	}
}

// remove calls the delete function for a value.
func (k *keyval) remove(object, value uintptr) error {
	if k.delete == nullFunction {
		return nil
	}
	if code := Delete(k.delete, object, k.number, value, k.extra); code != abi.MPI_SUCCESS {
		return mpierr.New(code, "the delete function of attribute %d returned %d", k.number, code)
	}
	return nil
}

func (t *Table) snapshot() []entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.entries)
}

func (t *Table) value(k *keyval) (uintptr, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := t.index(k); i >= 0 {
		return t.entries[i].value, true
	}
	return 0, false
}

func (t *Table) put(k *keyval, value uintptr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := t.index(k); i >= 0 {
		t.entries[i].value = value
		return
	}
	t.entries = append(t.entries, entry{k, value})
	k.use(1)
}

func (t *Table) drop(k *keyval) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := t.index(k); i >= 0 {
		t.entries = slices.Delete(t.entries, i, i+1)
		k.use(-1)
	}
}

// index returns the place of an attribute, -1 if it is not set. mu is held.
func (t *Table) index(k *keyval) int {
	return slices.IndexFunc(t.entries, func(e entry) bool { return e.key == k })
}
