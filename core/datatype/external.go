package datatype

import (
	"encoding/binary"
	"slices"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

// The canonical representation external32 (MPI-5.0 14.5.2) is big-endian and has no gaps. A long has 4 bytes and a wide
// character 2 bytes; a long double is an IEEE binary128 number.

// external returns the bytes of an element in external32.
func (b *Basic) external() int64 {
	switch {
	case b.Class == Pair:
		return BasicOf(b.Value).external() + BasicOf(b.Index).external()
	case b.Handle == abi.MPI_LONG || b.Handle == abi.MPI_UNSIGNED_LONG:
		return 4
	case b.Handle == abi.MPI_WCHAR:
		return 2
	}
	return b.Size
}

// reversed returns the size in bytes of the units that must be reversed to convert an element to external32. For a
// complex type these are its two parts. It returns 0 if a reversal of bytes is not enough.
func (b *Basic) reversed() int32 {
	switch {
	case b.Class == Pair || b.Long || b.external() != b.Size:
		return 0
	case b.Class == Complex:
		return int32(b.Size / 2)
	}
	return int32(b.Size)
}

// ExternalSize returns the number of bytes of `count` copies in external32. The result ok is false if this number does
// not fit 64 bits, or if `count` is negative.
func (t *Type) ExternalSize(count int64) (n int64, ok bool) {
	var a arith
	n = a.mul(count, t.external)
	return n, !a.overflow && count >= 0
}

// PackExternal writes count copies of the type at an address to dst in external32. dst has ExternalSize bytes. Errors:
// MPI_ERR_CONVERSION if a long or a wide character does not fit; dst is then filled up to this element. Precondition:
// InMemory has returned nil.
func (t *Type) PackExternal(dst []byte, address uintptr, count int64) error {
	x := t.newConverter(dst, address, count, true)
	x.next()
	return x.run(t, count)
}

// UnpackExternal reads count copies in the form of PackExternal from src and stores them at an address.
func (t *Type) UnpackExternal(address uintptr, src []byte, count int64) {
	x := t.newConverter(src, address, count, false)
	x.run(t, count) // no error is possible, since every external32 value fits
	x.next()
}

// converter converts between memory and external32 in the order of the signature.
type converter struct {
	address  uintptr
	count    int64
	program  []int64
	external []byte // the part that is not converted yet
	pack     bool
	native   []byte // segment of the packed data that begins at `position`; the first `used` bytes are converted
	position int64
	used     int64
}

func (t *Type) newConverter(external []byte, address uintptr, count int64, pack bool) *converter {
	return &converter{address: address, count: count, program: t.Program(), external: external, pack: pack,
		native: make([]byte, min(count*t.Size(), 4096))}
}

// next advances to the segment after the converted data. It stores the converted data (unpacking) or loads the new
// segment (packing).
func (x *converter) next() {
	if !x.pack {
		Unpack(x.address, x.count, x.program, x.position, x.native[:x.used])
	}
	x.position, x.used = x.position+x.used, 0
	if x.pack {
		Pack(x.native, x.address, x.count, x.program, x.position)
	}
}

func (x *converter) run(t *Type, n int64) error {
	if t.basic != nil {
		return x.elements(t.basic, n)
	}
	if len(t.sig) == 1 {
		return x.run(t.sig[0].t, n*t.sig[0].n)
	}
	for ; n > 0 && len(t.sig) > 0; n-- {
		for _, p := range t.sig {
			if err := x.run(p.t, p.n); err != nil {
				return err
			}
		}
	}
	return nil
}

// elements converts n elements of a predefined type.
func (x *converter) elements(b *Basic, n int64) error {
	for size := b.external(); n > 0; {
		if x.used+b.Size > int64(len(x.native)) {
			x.next()
		}
		native, external := x.native[x.used:], x.external
		for ; n > 0 && int64(len(native)) >= b.Size; n-- {
			if err := b.convert(native, external, x.pack); err != nil {
				return err
			}
			native, external = native[b.Size:], external[size:]
		}
		x.used, x.external = int64(len(x.native)-len(native)), external
	}
	return nil
}

// convert converts one element, without gaps, between native memory and external32.
func (b *Basic) convert(native, external []byte, pack bool) error {
	switch {
	case b.Class == Pair:
		v, i := BasicOf(b.Value), BasicOf(b.Index)
		if err := v.convert(native, external, pack); err != nil {
			return err
		}
		return i.convert(native[v.Size:], external[v.external():], pack)
	case b.Class == Complex:
		half := b.Size / 2
		part := Basic{Class: Floating, Size: half, Long: b.Long}
		part.convert(native, external, pack)
		part.convert(native[half:], external[half:], pack)
	case b.Long && pack:
		external := external[:16]
		toQuad(external, native)
		slices.Reverse(external)
	case b.Long:
		var quad [16]byte
		copy(quad[:], external)
		slices.Reverse(quad[:])
		fromQuad(native[:16], quad[:])
	case b.external() < b.Size:
		return b.narrow(native, external, pack)
	case pack:
		reverse(external[:b.Size], native)
	default:
		reverse(native[:b.Size], external)
	}
	return nil
}

func reverse(dst, src []byte) {
	for i := range dst {
		dst[i] = src[len(dst)-1-i]
	}
}

// narrow converts integers of types that have fewer bytes in external32 than in memory.
func (b *Basic) narrow(native, external []byte, pack bool) error {
	switch {
	case b.Handle == abi.MPI_WCHAR && pack:
		w := binary.NativeEndian.Uint32(native)
		if w > 0xffff {
			return mpierr.New(abi.MPI_ERR_CONVERSION,
				"wide character %#x does not fit into the 2 bytes of external32", w)
		}
		binary.BigEndian.PutUint16(external, uint16(w))
	case b.Handle == abi.MPI_WCHAR:
		binary.NativeEndian.PutUint32(native, uint32(binary.BigEndian.Uint16(external)))
	case pack:
		u := binary.NativeEndian.Uint64(native)
		if b.Class == Signed && int64(u) != int64(int32(u)) {
			return mpierr.New(abi.MPI_ERR_CONVERSION,
				"%s value %d does not fit into the 4 bytes of external32", b.Name, int64(u))
		}
		if b.Class == Unsigned && u>>32 != 0 {
			return mpierr.New(abi.MPI_ERR_CONVERSION,
				"%s value %d does not fit into the 4 bytes of external32", b.Name, u)
		}
		binary.BigEndian.PutUint32(external, uint32(u))
	case b.Class == Signed:
		binary.NativeEndian.PutUint64(native, uint64(int64(int32(binary.BigEndian.Uint32(external)))))
	default:
		binary.NativeEndian.PutUint64(native, uint64(binary.BigEndian.Uint32(external)))
	}
	return nil
}

// toQuad converts x86's 80-bit format (in 16 bytes) to IEEE binary128, both little-endian. It is exact.
func toQuad(quad, x87 []byte) {
	m, se := binary.LittleEndian.Uint64(x87), binary.LittleEndian.Uint16(x87[8:])
	if se&0x7fff == 0 && m>>63 != 0 {
		se++ // a pseudo-denormal: the same value as a normal number
	}
	m &^= 1 << 63 // binary128 does not store the leading one
	binary.LittleEndian.PutUint64(quad, m<<49)
	binary.LittleEndian.PutUint64(quad[8:], uint64(se)<<48|m>>15)
}

// fromQuad converts binary128 to the 80-bit format, rounding to nearest, ties to even.
func fromQuad(x87, quad []byte) {
	lo, hi := binary.LittleEndian.Uint64(quad), binary.LittleEndian.Uint64(quad[8:])
	se := uint16(hi >> 48)
	m := hi<<16>>1 | lo>>49 // the upper 63 bits of the fraction
	rest := lo << 15        // the remaining bits below them
	switch exp := se & 0x7fff; {
	case exp == 0x7fff: // infinity, NaN
		if m == 0 && rest != 0 {
			m = 1 << 62
		}
		m |= 1 << 63
	default:
		if exp != 0 {
			m |= 1 << 63
		}
		if rest > 1<<63 || rest == 1<<63 && m&1 != 0 {
			m++
			if m == 0 {
				m, se = 1<<63, se+1
			} else if exp == 0 && m>>63 != 0 {
				se++
			}
		}
	}
	clear(x87)
	binary.LittleEndian.PutUint64(x87, m)
	binary.LittleEndian.PutUint16(x87[8:], se)
}
