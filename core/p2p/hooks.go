package p2p

import "sync/atomic"

// Hook is work done at every progress; see AddHook.
type Hook struct{ f func() bool }

// AddHook has f called whenever the process makes progress, without any lock, by one thread at a time or several. It
// returns whether it found something to do and must not block. For operations made of several messages, such as
// non-blocking collectives.
func (e *Engine) AddHook(f func() bool) *Hook {
	h := &Hook{f}
	e.changeHooks(func(hs []*Hook) []*Hook { return append(hs, h) })
	return h
}

// RemoveHook ends what AddHook began; f may be called once more by a thread that is at it.
func (e *Engine) RemoveHook(h *Hook) {
	e.changeHooks(func(hs []*Hook) []*Hook {
		for i, x := range hs {
			if x == h {
				return append(hs[:i], hs[i+1:]...)
			}
		}
		return hs
	})
}

func (e *Engine) changeHooks(change func([]*Hook) []*Hook) {
	e.hooksMu.Lock()
	defer e.hooksMu.Unlock()
	var hs []*Hook
	if old := e.hooks.Load(); old != nil {
		hs = append(hs, *old...)
	}
	hs = change(hs)
	e.m.Hooks(len(hs))
	if len(hs) == 0 {
		e.hooks.Store(nil)
		return
	}
	e.hooks.Store(&hs)
}

// runHooks runs the hooks, again if something completes meanwhile that they may go on with. Of several threads the
// first does that.
func (e *Engine) runHooks() bool {
	worked, stepped := false, e.m.Stepped()
	for {
		hs := e.hooks.Load()
		if hs == nil {
			atomic.StoreUint32(stepped, 0)
			return worked
		}
		first := e.hooking.CompareAndSwap(false, true)
		if first { // for another thread's hooks may have been skipped because the first one was at them
			atomic.StoreUint32(stepped, 0)
		}
		for _, h := range *hs {
			worked = h.f() || worked
		}
		if !first {
			return worked
		}
		e.hooking.Store(false)
		worked = e.m.Progress() || worked // a hook may have started a receive whose data is there
		if atomic.LoadUint32(stepped) == 0 {
			return worked
		}
	}
}

// step makes progress if something has completed that hooks may go on with and nobody runs them. For calls that would
// make none: they may have taken it out of the ring before the progress thread that was rung for it looked.
func (e *Engine) step() {
	if atomic.LoadUint32(e.m.Stepped()) != 0 && !e.hooking.Load() {
		e.Progress()
	}
}
