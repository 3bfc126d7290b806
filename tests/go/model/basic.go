package model

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"runtime"
)

// kind is the class of arithmetic of a predefined type.
type kind uint8

const (
	signed kind = iota
	unsigned
	bits      // MPI_BYTE: bitwise operations only
	character // MPI_WCHAR: MPI_REPLACE and MPI_NO_OP only
	logical   // values 0 and 1
	floating
	cmplx
	pair // a value and an index (MINLOC, MAXLOC)
)

// span is a range of bytes, [from, to).
type span struct{ from, to int }

// Basic is a predefined datatype: its kind of arithmetic, and the bytes that carry its value. All other bytes are
// padding.
type Basic struct {
	Name   string // name of the MPI handle
	Kind   kind
	Extent int    // extent in bytes
	Spans  []span // bytes that carry the value
	part   *Basic // the real type of a complex type, or the value's type of a pair
	index  *Basic // the index's type of a pair
	at     int    // offset of the index in a value-index pair, in bytes
}

// align returns the alignment of the type in C.
func (b *Basic) align() int {
	if b.part != nil {
		if b.Kind == pair {
			return max(b.part.align(), b.index.align())
		}
		return b.part.align()
	}
	return b.Extent
}

// typed reports whether arithmetic on the type needs memory that was initialized with values of this type. Other bits
// may be an invalid value, or a value whose sums are inexact.
func (b *Basic) typed() bool { return b.Kind >= logical }

func simple(name string, k kind, size int) *Basic {
	return &Basic{Name: name, Kind: k, Extent: size, Spans: []span{{0, size}}}
}

func complexOf(name string, part *Basic) *Basic {
	b := &Basic{Name: name, Kind: cmplx, Extent: 2 * part.Extent, part: part}
	for i := range 2 {
		for _, s := range part.Spans {
			b.Spans = append(b.Spans, span{i*part.Extent + s.from, i*part.Extent + s.to})
		}
	}
	return b
}

func pairOf(name string, part, index *Basic) *Basic {
	at := (part.Extent + index.align() - 1) / index.align() * index.align()
	b := &Basic{Name: name, Kind: pair, part: part, index: index, at: at}
	b.Extent = (at + index.Extent + b.align() - 1) / b.align() * b.align()
	b.Spans = append(b.Spans, part.Spans...)
	for _, s := range index.Spans {
		b.Spans = append(b.Spans, span{at + s.from, at + s.to})
	}
	return b
}

// longDouble is an x87 number of 80 bits in 16 bytes on x86. On other processors it is a number of IEEE quadruple
// precision.
var longDouble = func() *Basic {
	b := simple("MPI_LONG_DOUBLE", floating, 16)
	if x87 {
		b.Spans = []span{{0, 10}}
	}
	return b
}()

const x87 = runtime.GOARCH == "amd64"

var (
	float32Type = simple("MPI_FLOAT", floating, 4)
	float64Type = simple("MPI_DOUBLE", floating, 8)
	shortType   = simple("MPI_SHORT", signed, 2)
	intType     = simple("MPI_INT", signed, 4)
	longType    = simple("MPI_LONG", signed, 8)
	int64Type   = simple("MPI_INT64_T", signed, 8)
	byteType    = simple("MPI_BYTE", bits, 1)
	doubleInt   = pairOf("MPI_DOUBLE_INT", float64Type, intType)
)

// basics lists the predefined types that programs use.
var basics = []*Basic{
	byteType, shortType, intType, longType, int64Type, float32Type, float64Type, longDouble,
	simple("MPI_SIGNED_CHAR", signed, 1), simple("MPI_UNSIGNED_CHAR", unsigned, 1),
	simple("MPI_UNSIGNED_SHORT", unsigned, 2),
	simple("MPI_UNSIGNED", unsigned, 4), simple("MPI_UNSIGNED_LONG", unsigned, 8),
	simple("MPI_LONG_LONG", signed, 8),
	simple("MPI_UNSIGNED_LONG_LONG", unsigned, 8), simple("MPI_INT8_T", signed, 1),
	simple("MPI_INT16_T", signed, 2),
	simple("MPI_INT32_T", signed, 4), simple("MPI_UINT8_T", unsigned, 1), simple("MPI_UINT16_T", unsigned, 2),
	simple("MPI_UINT32_T", unsigned, 4), simple("MPI_UINT64_T", unsigned, 8), simple("MPI_AINT", signed, 8),
	simple("MPI_COUNT", signed, 8), simple("MPI_OFFSET", signed, 8), simple("MPI_CHAR", signed, 1),
	simple("MPI_WCHAR", character, 4),
	simple("MPI_C_BOOL", logical, 1),
	complexOf("MPI_C_FLOAT_COMPLEX", float32Type), complexOf("MPI_C_DOUBLE_COMPLEX", float64Type),
	complexOf("MPI_C_LONG_DOUBLE_COMPLEX", longDouble),
	pairOf("MPI_FLOAT_INT", float32Type, intType), doubleInt, pairOf("MPI_LONG_INT", longType, intType),
	pairOf("MPI_2INT", intType, intType), pairOf("MPI_SHORT_INT", shortType, intType),
	pairOf("MPI_LONG_DOUBLE_INT", longDouble, intType),
}

// Op is a predefined operation, named after its MPI handle, or compare-and-swap.
type Op string

const (
	opSum     Op = "MPI_SUM"
	opProd    Op = "MPI_PROD"
	opMin     Op = "MPI_MIN"
	opMax     Op = "MPI_MAX"
	opBand    Op = "MPI_BAND"
	opBor     Op = "MPI_BOR"
	opBxor    Op = "MPI_BXOR"
	opLand    Op = "MPI_LAND"
	opLor     Op = "MPI_LOR"
	opLxor    Op = "MPI_LXOR"
	opMinloc  Op = "MPI_MINLOC"
	opMaxloc  Op = "MPI_MAXLOC"
	opReplace Op = "MPI_REPLACE"
	opNoOp    Op = "MPI_NO_OP"
	opSwap    Op = "compare and swap"
)

// ops returns the operations that MPI permits for b (MPI-5.0 6.9.2, 6.9.4), without MPI_NO_OP and compare-and-swap.
// MPI_CHAR counts as MPI_SIGNED_CHAR. The operations for MPI_AINT include the logical operations.
func (b *Basic) ops() []Op {
	switch b.Kind {
	case signed, unsigned:
		return []Op{opSum, opProd, opMin, opMax, opBand, opBor, opBxor, opLand, opLor, opLxor, opReplace}
	case bits:
		return []Op{opBand, opBor, opBxor, opReplace}
	case logical:
		return []Op{opLand, opLor, opLxor, opReplace}
	case floating:
		return []Op{opSum, opProd, opMin, opMax, opReplace}
	case cmplx:
		return []Op{opSum, opProd, opReplace}
	case pair:
		return []Op{opMinloc, opMaxloc, opReplace}
	}
	return []Op{opReplace}
}

// swappable reports whether MPI_Compare_and_swap permits b.
func (b *Basic) swappable() bool { return b.Kind <= bits || b.Kind == logical }

// copy copies one value. It does not change the padding of `to`.
func (b *Basic) copy(to, from []byte) {
	for _, s := range b.Spans {
		copy(to[s.from:s.to], from[s.from:s.to])
	}
}

func (b *Basic) equal(x, y []byte) bool {
	for _, s := range b.Spans {
		if !bytes.Equal(x[s.from:s.to], y[s.from:s.to]) {
			return false
		}
	}
	return true
}

// loadInt returns an integer as 64 bits. It sign-extends signed types.
func (b *Basic) loadInt(p []byte) uint64 {
	var v uint64
	for i := b.Extent - 1; i >= 0; i-- {
		v = v<<8 | uint64(p[i])
	}
	if b.Kind == signed {
		shift := 64 - 8*b.Extent
		v = uint64(int64(v<<shift) >> shift)
	}
	return v
}

func (b *Basic) storeInt(p []byte, v uint64) {
	for i := range b.Extent {
		p[i] = byte(v >> (8 * i))
	}
}

// loadFloat returns a floating-point value with the precision of its type. So arithmetic on the result rounds like the
// hardware, to nearest even.
func (b *Basic) loadFloat(p []byte) *big.Float {
	switch {
	case b.Extent == 4:
		return new(big.Float).SetPrec(24).SetFloat64(
			float64(math.Float32frombits(binary.LittleEndian.Uint32(p))))
	case b.Extent == 8:
		return new(big.Float).SetPrec(53).SetFloat64(math.Float64frombits(binary.LittleEndian.Uint64(p)))
	}
	f, mantissa := new(big.Float).SetPrec(113), new(big.Int)
	lo, hi := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
	var exponent, bits int
	if x87 {
		f.SetPrec(64)
		exponent, bits = int(hi&0x7fff), 63
		mantissa.SetUint64(lo)
		hi <<= 48
	} else {
		exponent, bits = int(hi>>48&0x7fff), 112
		mantissa.SetUint64(hi&(1<<48-1) | 1<<48)
		mantissa.Or(mantissa.Lsh(mantissa, 64), new(big.Int).SetUint64(lo))
	}
	if exponent != 0 { // exponent 0 means zero, because programs have no denormal numbers
		f.SetInt(mantissa)
		f.SetMantExp(f, exponent-16383-bits)
	}
	if hi>>63 != 0 {
		f.Neg(f)
	}
	return f
}

func (b *Basic) storeFloat(p []byte, f *big.Float) {
	switch {
	case b.Extent == 4:
		v, _ := f.Float32()
		binary.LittleEndian.PutUint32(p, math.Float32bits(v))
		return
	case b.Extent == 8:
		v, _ := f.Float64()
		binary.LittleEndian.PutUint64(p, math.Float64bits(v))
		return
	}
	clear(p[:b.Spans[0].to])
	if f.Sign() == 0 {
		if f.Signbit() {
			p[b.Spans[0].to-1] = 0x80
		}
		return
	}
	m := new(big.Float)
	exponent := uint64(f.MantExp(m) - 1 + 16383)
	if f.Sign() < 0 {
		exponent |= 0x8000
	}
	bits := 64
	if !x87 {
		bits = 113
	}
	mantissa, _ := m.SetMantExp(m.Abs(m), bits).Int(nil)
	if x87 {
		binary.LittleEndian.PutUint64(p, mantissa.Uint64())
		binary.LittleEndian.PutUint16(p[8:], uint16(exponent))
		return
	}
	binary.LittleEndian.PutUint64(p, new(big.Int).And(mantissa, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
	binary.LittleEndian.PutUint64(p[8:], new(big.Int).Rsh(mantissa, 64).Uint64()&(1<<48-1)|exponent<<48)
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// reduce computes inout = inout op in for one value. The argument `compare` is used only for opSwap (compare-and-swap).
func (b *Basic) reduce(op Op, inout, in, compare []byte) {
	switch op {
	case opNoOp:
		return
	case opReplace:
		b.copy(inout, in)
		return
	case opSwap:
		if b.equal(inout, compare) {
			b.copy(inout, in)
		}
		return
	}
	switch b.Kind {
	case floating:
		switch b.Extent { // fast path for float and double
		case 4:
			x, y := math.Float32frombits(binary.LittleEndian.Uint32(inout)),
				math.Float32frombits(binary.LittleEndian.Uint32(in))
			binary.LittleEndian.PutUint32(inout, math.Float32bits(reduceNative(op, x, y)))
		case 8:
			x, y := math.Float64frombits(binary.LittleEndian.Uint64(inout)),
				math.Float64frombits(binary.LittleEndian.Uint64(in))
			binary.LittleEndian.PutUint64(inout, math.Float64bits(reduceNative(op, x, y)))
		default:
			b.storeFloat(inout, reduceFloat(op, b.loadFloat(inout), b.loadFloat(in)))
		}
	case cmplx:
		b.reduceComplex(op, inout, in)
	case pair:
		b.reducePair(op, inout, in)
	default:
		b.storeInt(inout, b.reduceInt(op, b.loadInt(inout), b.loadInt(in)))
	}
}

func (b *Basic) reduceInt(op Op, x, y uint64) uint64 {
	less := y < x
	if b.Kind == signed {
		less = int64(y) < int64(x)
	}
	switch op {
	case opSum:
		return x + y
	case opProd:
		return x * y
	case opMin:
		if less {
			return y
		}
		return x
	case opMax:
		if !less {
			return y
		}
		return x
	case opBand:
		return x & y
	case opBor:
		return x | y
	case opBxor:
		return x ^ y
	case opLand:
		return truth(x != 0 && y != 0)
	case opLor:
		return truth(x != 0 || y != 0)
	case opLxor:
		return truth((x != 0) != (y != 0))
	}
	panic("no integer operation: " + op)
}

func reduceNative[F float32 | float64](op Op, x, y F) F {
	switch op {
	case opSum:
		return x + y
	case opProd:
		return x * y
	case opMin:
		if y < x {
			return y
		}
		return x
	case opMax:
		if y > x {
			return y
		}
		return x
	}
	panic("no floating-point operation: " + op)
}

func reduceFloat(op Op, x, y *big.Float) *big.Float {
	switch op {
	case opSum:
		return x.Add(x, y)
	case opProd:
		return x.Mul(x, y)
	case opMin:
		if y.Cmp(x) < 0 {
			return y
		}
		return x
	case opMax:
		if y.Cmp(x) > 0 {
			return y
		}
		return x
	}
	panic("no floating-point operation: " + op)
}

func (b *Basic) reduceComplex(op Op, inout, in []byte) {
	half := b.part.Extent
	p := b.part
	x, xi, y, yi := p.loadFloat(inout), p.loadFloat(inout[half:]), p.loadFloat(in), p.loadFloat(in[half:])
	f := func() *big.Float { return new(big.Float).SetPrec(x.Prec()) }
	re, im := f(), f()
	if op == opSum {
		re.Add(x, y)
		im.Add(xi, yi)
	} else {
		re.Sub(f().Mul(x, y), f().Mul(xi, yi))
		im.Add(f().Mul(x, yi), f().Mul(xi, y))
	}
	p.storeFloat(inout, re)
	p.storeFloat(inout[half:], im)
}

func (b *Basic) reducePair(op Op, inout, in []byte) {
	var order int
	if b.part.Kind == floating {
		order = b.part.loadFloat(in).Cmp(b.part.loadFloat(inout))
	} else {
		x, y := int64(b.part.loadInt(inout)), int64(b.part.loadInt(in))
		order = int(truth(y > x)) - int(truth(y < x))
	}
	if op == opMinloc {
		order = -order
	}
	switch {
	case order > 0:
		b.copy(inout, in)
	case order == 0 && int64(b.index.loadInt(in[b.at:])) < int64(b.index.loadInt(inout[b.at:])):
		b.index.copy(inout[b.at:], in[b.at:])
	}
}
