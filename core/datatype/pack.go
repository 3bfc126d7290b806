package datatype

// Memory is the application's memory around a buffer: Mem[Base] is the byte at the buffer's address, and Mem covers
// Bounds of what is read or written.
type Memory struct {
	Mem  []byte
	Base int64
}

// Pack copies the next bytes of c from m to dst until dst is full or nothing is left, and returns how many.
func (c *Cursor) Pack(dst []byte, m Memory) int64 {
	done := int64(0)
	for {
		rest := int64(len(dst)) - done
		r := c.Run(rest)
		if r.N == 0 {
			if rest == 0 {
				return done
			}
			off, n := c.Next(rest)
			if n == 0 {
				return done
			}
			done += int64(copy(dst[done:done+n], m.Mem[m.Base+off:]))
			continue
		}
		copyRun(dst, done, r.Block, m.Mem, m.Base+r.Offset, r.Stride, r.Block, r.N)
		done += r.N * r.Block
	}
}

// Unpack copies src to the next bytes of c in m until src is used up or nothing is left, and returns how many.
func (c *Cursor) Unpack(m Memory, src []byte) int64 {
	done := int64(0)
	for {
		rest := int64(len(src)) - done
		r := c.Run(rest)
		if r.N == 0 {
			if rest == 0 {
				return done
			}
			off, n := c.Next(rest)
			if n == 0 {
				return done
			}
			done += int64(copy(m.Mem[m.Base+off:m.Base+off+n], src[done:]))
			continue
		}
		copyRun(m.Mem, m.Base+r.Offset, r.Stride, src, done, r.Block, r.Block, r.N)
		done += r.N * r.Block
	}
}

// Pack packs count copies from m into dst, which is large enough, and returns the bytes.
func (l Layout) Pack(dst []byte, m Memory, count int64) int64 {
	var c Cursor
	c.Reset(l.prog, count, Bytes)
	return c.Pack(dst, m)
}

// Unpack unpacks src, which may end early, into count copies in m and returns the bytes.
func (l Layout) Unpack(m Memory, src []byte, count int64) int64 {
	var c Cursor
	c.Reset(l.prog, count, Bytes)
	return c.Unpack(m, src)
}
