package datatype

import (
	"gompirma/core/abi"
)

// Class groups predefined types by the operations that are defined for them (MPI-5.0 6.9.2).
type Class uint8

// The classes.
const (
	NoClass       Class = iota
	Signed              // two's complement integers, of C and Fortran
	Unsigned            // unsigned integers of C
	Floating            // IEEE 754 binary formats of 2, 4, 8 and 16 bytes, and C's long double
	Complex             // a pair of Floating numbers
	Logical             // C's bool and Fortran's LOGICAL
	Byte                // MPI_BYTE
	Character           // MPI_CHAR, MPI_CHARACTER: text. As an extension, operations treat it as MPI_SIGNED_CHAR
	WideCharacter       // MPI_WCHAR: text, no arithmetic
	Address             // MPI_AINT, MPI_COUNT, MPI_OFFSET: signed integers of any language
	Pair                // a value and an index, for MPI_MINLOC and MPI_MAXLOC
	Packed              // MPI_PACKED
	numClasses
)

// Language is the language to which a predefined type belongs: MPI's operations treat integers of C and of Fortran
// differently.
type Language uint8

// The languages.
const (
	AnyLanguage Language = iota
	C
	CXX
	Fortran
)

// Basic is the description of a predefined type.
type Basic struct {
	Handle   uintptr
	Name     string
	Class    Class
	Language Language
	Size     int64 // bytes of data
	Align    int64
	Extent   int64 // sizeof the C or Fortran object, which may include padding
	// Long is true for C's long double (x86's format of 80 bits in 16 bytes), and for pair types with a long
	// double. Go has no type for this format.
	Long bool
	// For a pair type: handles of the types of its value and its index, and the offset of the index in bytes.
	Value, Index uintptr
	IndexAt      int64
}

// Numbers returns how many basic elements an element consists of, and their size in bytes. A pair has two basic
// elements; if their sizes differ, the result `bytes` is 0.
func (b *Basic) Numbers() (count, bytes int64) {
	switch {
	case b.Class != Pair:
		return 1, b.Size
	case BasicOf(b.Value).Size == BasicOf(b.Index).Size:
		return 2, b.Size / 2
	}
	return 2, 0
}

// End returns the offset of the end of the data, without padding.
func (b *Basic) End() int64 {
	if b.Class == Pair {
		return b.IndexAt + BasicOf(b.Index).Size
	}
	return b.Size
}

// External returns the bytes of an element in external32 (MPI-5.0 14.5.2).
func (b *Basic) External() int64 {
	switch {
	case b.Class == Pair:
		return BasicOf(b.Value).External() + BasicOf(b.Index).External()
	case b.Handle == abi.MPI_LONG || b.Handle == abi.MPI_UNSIGNED_LONG:
		return 4
	case b.Handle == abi.MPI_WCHAR:
		return 2
	}
	return b.Size
}

// Reversed returns the size in bytes of the units that must be reversed to convert an element to external32. For a
// complex type these are its two parts. It returns 0 if a reversal of bytes is not enough.
func (b *Basic) Reversed() int32 {
	switch {
	case b.Class == Pair || b.Long || b.External() != b.Size:
		return 0
	case b.Class == Complex:
		return int32(b.Size / 2)
	}
	return int32(b.Size)
}

// row returns an entry of the table of predefined types. The alignment equals the size, or half of the size for complex
// types.
func row(h uintptr, name string, class Class, lang Language, size int64) Basic {
	align := size
	if class == Complex {
		align /= 2
	}
	return Basic{Handle: h, Name: name, Class: class, Language: lang, Size: size, Align: align, Extent: size}
}

func long(h uintptr, name string, class Class, lang Language, size int64) Basic {
	b := row(h, name, class, lang, size)
	b.Long = true
	return b
}

// pair returns an entry for a pair type with the layout of the C struct { value; index }. Fortran's pairs, which are
// arrays of two elements, have the same layout.
func pair(h uintptr, name string, lang Language, value, index uintptr) Basic {
	v, i := basics[value-firstBasic], basics[index-firstBasic]
	align := max(v.Align, i.Align)
	at := roundUp(v.Size, i.Align)
	return Basic{
		Handle: h, Name: name, Class: Pair, Language: lang, Size: v.Size + i.Size, Align: align,
		Extent: roundUp(at+i.Size, align),
		Long:   v.Long, Value: value, Index: index, IndexAt: at,
	}
}

func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

// The predefined types have the handles [firstBasic, endBasic); firstBasic itself is MPI_DATATYPE_NULL.
const (
	firstBasic = abi.MPI_DATATYPE_NULL
	endBasic   = 0x300
)

// TwoInteger8 is the handle of a pair of two INTEGER8s, for which the ABI has no name. The value is one that the ABI
// leaves unused among the handles of Fortran's pairs. The type stands for MPI_2INTEGER if Fortran's INTEGERs have 8
// bytes.
const TwoInteger8 = 0x233

// basics holds the predefined types at handle - firstBasic; Size is 0 where no type has the handle. The sizes are those
// of the LP64 ABI and of gfortran's default kinds.
var basics [endBasic - firstBasic]Basic

func init() {
	for _, b := range []Basic{
		row(abi.MPI_AINT, "MPI_AINT", Address, AnyLanguage, 8),
		row(abi.MPI_COUNT, "MPI_COUNT", Address, AnyLanguage, 8),
		row(abi.MPI_OFFSET, "MPI_OFFSET", Address, AnyLanguage, 8),
		row(abi.MPI_PACKED, "MPI_PACKED", Packed, AnyLanguage, 1),
		row(abi.MPI_BYTE, "MPI_BYTE", Byte, AnyLanguage, 1),

		row(abi.MPI_SHORT, "MPI_SHORT", Signed, C, 2),
		row(abi.MPI_INT, "MPI_INT", Signed, C, 4),
		row(abi.MPI_LONG, "MPI_LONG", Signed, C, 8),
		row(abi.MPI_LONG_LONG, "MPI_LONG_LONG_INT", Signed, C, 8),
		row(abi.MPI_UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT", Unsigned, C, 2),
		row(abi.MPI_UNSIGNED, "MPI_UNSIGNED", Unsigned, C, 4),
		row(abi.MPI_UNSIGNED_LONG, "MPI_UNSIGNED_LONG", Unsigned, C, 8),
		row(abi.MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG", Unsigned, C, 8),
		row(abi.MPI_SIGNED_CHAR, "MPI_SIGNED_CHAR", Signed, C, 1),
		row(abi.MPI_UNSIGNED_CHAR, "MPI_UNSIGNED_CHAR", Unsigned, C, 1),
		row(abi.MPI_INT8_T, "MPI_INT8_T", Signed, C, 1),
		row(abi.MPI_UINT8_T, "MPI_UINT8_T", Unsigned, C, 1),
		row(abi.MPI_INT16_T, "MPI_INT16_T", Signed, C, 2),
		row(abi.MPI_UINT16_T, "MPI_UINT16_T", Unsigned, C, 2),
		row(abi.MPI_INT32_T, "MPI_INT32_T", Signed, C, 4),
		row(abi.MPI_UINT32_T, "MPI_UINT32_T", Unsigned, C, 4),
		row(abi.MPI_INT64_T, "MPI_INT64_T", Signed, C, 8),
		row(abi.MPI_UINT64_T, "MPI_UINT64_T", Unsigned, C, 8),

		row(abi.MPI_FLOAT, "MPI_FLOAT", Floating, C, 4),
		row(abi.MPI_DOUBLE, "MPI_DOUBLE", Floating, C, 8),
		long(abi.MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", Floating, C, 16),
		row(abi.MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX", Complex, C, 8),
		row(abi.MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", Complex, C, 16),
		long(abi.MPI_C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX", Complex, C, 32),
		row(abi.MPI_CXX_FLOAT_COMPLEX, "MPI_CXX_FLOAT_COMPLEX", Complex, CXX, 8),
		row(abi.MPI_CXX_DOUBLE_COMPLEX, "MPI_CXX_DOUBLE_COMPLEX", Complex, CXX, 16),
		long(abi.MPI_CXX_LONG_DOUBLE_COMPLEX, "MPI_CXX_LONG_DOUBLE_COMPLEX", Complex, CXX, 32),

		row(abi.MPI_C_BOOL, "MPI_C_BOOL", Logical, C, 1),
		row(abi.MPI_CXX_BOOL, "MPI_CXX_BOOL", Logical, CXX, 1),
		row(abi.MPI_CHAR, "MPI_CHAR", Character, C, 1),
		row(abi.MPI_WCHAR, "MPI_WCHAR", WideCharacter, C, 4),

		row(abi.MPI_LOGICAL, "MPI_LOGICAL", Logical, Fortran, 4),
		row(abi.MPI_INTEGER, "MPI_INTEGER", Signed, Fortran, 4),
		row(abi.MPI_REAL, "MPI_REAL", Floating, Fortran, 4),
		row(abi.MPI_COMPLEX, "MPI_COMPLEX", Complex, Fortran, 8),
		row(abi.MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION", Floating, Fortran, 8),
		row(abi.MPI_DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX", Complex, Fortran, 16),
		row(abi.MPI_CHARACTER, "MPI_CHARACTER", Character, Fortran, 1),

		row(abi.MPI_LOGICAL1, "MPI_LOGICAL1", Logical, Fortran, 1),
		row(abi.MPI_LOGICAL2, "MPI_LOGICAL2", Logical, Fortran, 2),
		row(abi.MPI_LOGICAL4, "MPI_LOGICAL4", Logical, Fortran, 4),
		row(abi.MPI_LOGICAL8, "MPI_LOGICAL8", Logical, Fortran, 8),
		row(abi.MPI_LOGICAL16, "MPI_LOGICAL16", Logical, Fortran, 16),
		row(abi.MPI_INTEGER1, "MPI_INTEGER1", Signed, Fortran, 1),
		row(abi.MPI_INTEGER2, "MPI_INTEGER2", Signed, Fortran, 2),
		row(abi.MPI_INTEGER4, "MPI_INTEGER4", Signed, Fortran, 4),
		row(abi.MPI_INTEGER8, "MPI_INTEGER8", Signed, Fortran, 8),
		row(abi.MPI_INTEGER16, "MPI_INTEGER16", Signed, Fortran, 16),
		row(abi.MPI_REAL2, "MPI_REAL2", Floating, Fortran, 2),
		row(abi.MPI_REAL4, "MPI_REAL4", Floating, Fortran, 4),
		row(abi.MPI_REAL8, "MPI_REAL8", Floating, Fortran, 8),
		row(abi.MPI_REAL16, "MPI_REAL16", Floating, Fortran, 16),
		row(abi.MPI_COMPLEX4, "MPI_COMPLEX4", Complex, Fortran, 4),
		row(abi.MPI_COMPLEX8, "MPI_COMPLEX8", Complex, Fortran, 8),
		row(abi.MPI_COMPLEX16, "MPI_COMPLEX16", Complex, Fortran, 16),
		row(abi.MPI_COMPLEX32, "MPI_COMPLEX32", Complex, Fortran, 32),
	} {
		basics[b.Handle-firstBasic] = b
	}
	for _, b := range []Basic{
		pair(abi.MPI_FLOAT_INT, "MPI_FLOAT_INT", C, abi.MPI_FLOAT, abi.MPI_INT),
		pair(abi.MPI_DOUBLE_INT, "MPI_DOUBLE_INT", C, abi.MPI_DOUBLE, abi.MPI_INT),
		pair(abi.MPI_LONG_INT, "MPI_LONG_INT", C, abi.MPI_LONG, abi.MPI_INT),
		pair(abi.MPI_2INT, "MPI_2INT", C, abi.MPI_INT, abi.MPI_INT),
		pair(abi.MPI_SHORT_INT, "MPI_SHORT_INT", C, abi.MPI_SHORT, abi.MPI_INT),
		pair(abi.MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", C, abi.MPI_LONG_DOUBLE, abi.MPI_INT),
		pair(abi.MPI_2REAL, "MPI_2REAL", Fortran, abi.MPI_REAL, abi.MPI_REAL),
		pair(abi.MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", Fortran, abi.MPI_DOUBLE_PRECISION,
			abi.MPI_DOUBLE_PRECISION),
		pair(abi.MPI_2INTEGER, "MPI_2INTEGER", Fortran, abi.MPI_INTEGER, abi.MPI_INTEGER),
		pair(TwoInteger8, "MPIX_2INTEGER8", Fortran, abi.MPI_INTEGER8, abi.MPI_INTEGER8),
	} {
		basics[b.Handle-firstBasic] = b
	}
	for i := range basics {
		if basics[i].Size != 0 {
			predefined[i] = New(basics[i].Handle, &basics[i], basics[i].program())
		}
	}
}

// BasicOf returns the description of the predefined type with handle h, or nil for other handles (derived types and
// MPI_DATATYPE_NULL included).
func BasicOf(h uintptr) *Basic {
	if h-firstBasic >= uintptr(len(basics)) || basics[h-firstBasic].Size == 0 {
		return nil
	}
	return &basics[h-firstBasic]
}

// program returns the flattened form of a predefined type. Its first node describes the element with its gaps.
func (b *Basic) program() []int64 {
	p := make([]int64, HeadWords, HeadWords+10)
	p[HeadMagic], p[HeadFlags] = Magic, FlagElemContiguous
	p[HeadElem], p[HeadElemSize], p[HeadElements], p[HeadElemRoot] = int64(b.Handle), b.Extent, 1, HeadWords
	p[HeadSize], p[HeadExtent], p[HeadTrueUB], p[HeadDepth] = b.Size, b.Extent, b.End(), 1
	p[HeadRoot], p[HeadSegments] = HeadWords, 1
	p = append(p, NodeBlock, b.Extent)
	switch {
	case b.Size == b.Extent:
		p[HeadFlags] |= FlagContiguous
	case BasicOf(b.Value).Size == b.IndexAt: // the gap is at the end
		p[HeadRoot] = HeadWords + 2
		p = append(p, NodeBlock, b.Size)
	default: // two blocks: the value and the index
		p[HeadRoot], p[HeadSegments] = HeadWords+2, 2
		p = append(p, NodeBlocks, b.Size, 2, 0, b.IndexAt, 0, BasicOf(b.Value).Size, b.Size)
	}
	if p[HeadSegments] == 1 {
		p[HeadFlags] |= FlagStrided
		p[HeadBlock], p[HeadRepeat] = b.Size, 1
	}
	p[HeadProgramWords] = int64(len(p))
	return p
}

// Predefined calls f for every predefined type in the order of the handles.
func Predefined(f func(*Type)) {
	for _, t := range predefined {
		if t != nil {
			f(t)
		}
	}
}
