package main

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"sort"
)

// This file unwinds the stack of a thread of another process by the call frame information (.eh_frame) of the objects
// that the process has mapped, as debuggers do. It only reads memory and does not stop the thread, so the result is
// correct only for a sleeping thread. It supports only x86-64. Register numbers are those of DWARF.

const (
	regBP   = 6
	regSP   = 7
	regRA   = 16 // return address
	numRegs = 17
)

// registers holds the registers of a frame whose values are known.
type registers struct {
	value [numRegs]uint64
	known [numRegs]bool
}

func (r *registers) set(i int, value uint64) { r.value[i], r.known[i] = value, true }

// frameInfo is the call frame information of an object. Addresses are those in the file, without the load bias.
type frameInfo struct {
	frames []frameEntry // sorted by address
}

// frameEntry holds the unwind program for the functions in a range of addresses.
type frameEntry struct {
	low, high uint64
	common    *frameCommon
	program   []byte
}

// frameCommon holds the data that several entries share: a CIE.
type frameCommon struct {
	codeAlign uint64
	dataAlign int64
	encoding  byte // encoding (DW_EH_PE_) of the addresses in the FDEs that refer to this CIE
	augmented bool
	program   []byte
}

var errFrames = errors.New("the call frame information has an unsupported form")

// readFrames returns the call frame information of a file. The result is empty if the file has no such information.
func readFrames(name string) *frameInfo {
	f := &frameInfo{}
	e, err := elf.Open(name)
	if err != nil {
		return f
	}
	defer e.Close()
	section := e.Section(".eh_frame")
	if section == nil || e.Machine != elf.EM_X86_64 {
		return f
	}
	data, err := section.Data()
	if err != nil {
		return f
	}
	f.parse(data, section.Addr)
	sort.Slice(f.frames, func(a, b int) bool { return f.frames[a].low < f.frames[b].low })
	return f
}

// parse adds the entries of an .eh_frame section. It stops at the first damaged entry. The argument `at` is the address
// of the section.
func (f *frameInfo) parse(data []byte, at uint64) {
	commons := map[int]*frameCommon{}
	for next := 0; next+8 <= len(data); {
		start := next + 4
		length := int(binary.LittleEndian.Uint32(data[next:]))
		if length == 0 || length < 4 || start+length > len(data) {
			return // the end, or an entry of more than 4 GiB
		}
		next = start + length
		r := frameReader{data: data[:next], pos: start + 4, at: at}
		if back := int(binary.LittleEndian.Uint32(data[start:])); back == 0 {
			commons[start-4] = r.common()
		} else if c := commons[start-back]; c != nil {
			if entry, ok := r.entry(c); ok {
				f.frames = append(f.frames, entry)
			}
		}
	}
}

// at returns the entry for an address; nil if no entry covers the address.
func (f *frameInfo) at(address uint64) *frameEntry {
	i := sort.Search(len(f.frames), func(i int) bool { return f.frames[i].low > address })
	if i == 0 || address >= f.frames[i-1].high {
		return nil
	}
	return &f.frames[i-1]
}

// frameReader reads numbers from `data`. A read beyond the end returns zero and sets `failed`.
type frameReader struct {
	data   []byte
	pos    int
	at     uint64 // address of data
	failed bool
}

func (r *frameReader) bytes(n int) []byte {
	if n < 0 || n > len(r.data)-r.pos {
		r.failed = true
		return make([]byte, 8)
	}
	b := r.data[r.pos : r.pos+n]
	r.pos += n
	return b
}

func (r *frameReader) byte() byte { return r.bytes(1)[0] }

func (r *frameReader) uleb() (v uint64) {
	for shift := 0; ; shift += 7 {
		b := r.byte()
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			return v
		}
	}
}

func (r *frameReader) sleb() (v int64) {
	for shift := 0; ; {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		shift += 7
		if b&0x80 == 0 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// pointer reads an address with an encoding (DW_EH_PE_).
func (r *frameReader) pointer(encoding byte) (v uint64) {
	here := r.at + uint64(r.pos)
	switch encoding & 0x0f {
	case 0x00, 0x04, 0x0c:
		v = binary.LittleEndian.Uint64(r.bytes(8))
	case 0x03:
		v = uint64(binary.LittleEndian.Uint32(r.bytes(4)))
	case 0x0b:
		v = uint64(int64(int32(binary.LittleEndian.Uint32(r.bytes(4)))))
	default:
		r.failed = true
	}
	switch encoding & 0x70 {
	case 0x00:
	case 0x10:
		v += here
	default:
		r.failed = true
	}
	return v
}

// common reads a CIE (common information entry). It returns nil if the CIE has an unsupported form.
func (r *frameReader) common() *frameCommon {
	version := r.byte()
	from := r.pos
	for r.byte() != 0 {
	}
	if r.failed {
		return nil
	}
	augmentation := string(r.data[from : r.pos-1])
	c := &frameCommon{codeAlign: r.uleb(), dataAlign: r.sleb()}
	// the number of the return address register; in version 1 it is one byte, which uleb decodes to the same value
	if ra := r.uleb(); version != 1 && version != 3 || ra != regRA {
		return nil
	}
	if augmentation != "" && augmentation[0] == 'z' {
		c.augmented = true
		length := int(r.uleb())
		if length < 0 || length > len(r.data)-r.pos {
			return nil
		}
		end := r.pos + length
		for _, letter := range augmentation[1:] {
			switch letter {
			case 'R':
				c.encoding = r.byte()
			case 'P':
				r.pointer(r.byte() & 0x0f)
			case 'L':
				r.byte()
			case 'S': // a signal frame: its address does not follow a call instruction
			default:
				return nil
			}
		}
		r.pos = end
	} else if augmentation != "" {
		return nil
	}
	if r.failed {
		return nil
	}
	c.program = r.data[r.pos:]
	return c
}

// entry reads an FDE (frame description entry), which holds the unwind program of one function.
func (r *frameReader) entry(c *frameCommon) (e frameEntry, ok bool) {
	e.common = c
	e.low = r.pointer(c.encoding)
	e.high = e.low + r.pointer(c.encoding&0x0f)
	if c.augmented {
		n := int(r.uleb())
		r.bytes(n)
	}
	if r.failed {
		return e, false
	}
	e.program = r.data[r.pos:]
	return e, true
}

// A rule describes where the caller's value of a register is stored. CFA is the canonical frame address of DWARF: the
// stack pointer before the call.
type rule struct {
	kind  ruleKind
	value int64
}

type ruleKind uint8

const (
	ruleSame ruleKind = iota
	ruleUndefined
	ruleAtOffset // the value is in memory, at the address CFA plus `value`
	ruleOffset   // the value is the CFA plus `value`
	ruleRegister
)

// frameRules holds the rules at an address of a function.
type frameRules struct {
	cfaReg    uint64
	cfaOffset int64
	reg       [numRegs]rule
}

// rules executes the unwind program and returns the rules at an address.
func (e *frameEntry) rules(address uint64) (frameRules, error) {
	var now, first frameRules
	if _, err := e.run(e.common.program, e.low, &now, &first); err != nil {
		return now, err
	}
	first = now
	_, err := e.run(e.program, address, &now, &first)
	return now, err
}

// run executes an unwind program up to an address in the entry's range, and updates the rules `now`. `first` holds the
// rules that DW_CFA_restore restores. It returns the address that it has reached.
func (e *frameEntry) run(program []byte, address uint64, now, first *frameRules) (at uint64, err error) {
	r := frameReader{data: program}
	at = e.low
	var kept []frameRules
	set := func(reg uint64, to rule) {
		if reg < numRegs {
			now.reg[reg] = to
		}
	}
	restore := func(reg uint64) {
		if reg < numRegs {
			now.reg[reg] = first.reg[reg]
		}
	}
	advance := func(by uint64) bool { at += by * e.common.codeAlign; return at > address }
	for r.pos < len(program) {
		op := r.byte()
		low := uint64(op & 0x3f)
		past := false
		switch op & 0xc0 {
		case 0x40: // DW_CFA_advance_loc
			past = advance(low)
		case 0x80: // DW_CFA_offset
			set(low, rule{ruleAtOffset, int64(r.uleb()) * e.common.dataAlign})
		case 0xc0: // DW_CFA_restore
			restore(low)
		default:
			switch op {
			case 0x00: // DW_CFA_nop
			case 0x02:
				past = advance(uint64(r.byte()))
			case 0x03:
				past = advance(uint64(binary.LittleEndian.Uint16(r.bytes(2))))
			case 0x04:
				past = advance(uint64(binary.LittleEndian.Uint32(r.bytes(4))))
			case 0x05: // DW_CFA_offset_extended
				reg := r.uleb()
				set(reg, rule{ruleAtOffset, int64(r.uleb()) * e.common.dataAlign})
			case 0x06:
				restore(r.uleb())
			case 0x07:
				set(r.uleb(), rule{kind: ruleUndefined})
			case 0x08:
				set(r.uleb(), rule{kind: ruleSame})
			case 0x09:
				reg := r.uleb()
				set(reg, rule{ruleRegister, int64(r.uleb())})
			case 0x0a: // DW_CFA_remember_state
				kept = append(kept, *now)
			case 0x0b:
				if len(kept) == 0 {
					return at, errFrames
				}
				*now = kept[len(kept)-1]
				kept = kept[:len(kept)-1]
			case 0x0c: // DW_CFA_def_cfa
				now.cfaReg = r.uleb()
				now.cfaOffset = int64(r.uleb())
			case 0x0d:
				now.cfaReg = r.uleb()
			case 0x0e:
				now.cfaOffset = int64(r.uleb())
			case 0x0f: // DW_CFA_def_cfa_expression
				r.bytes(int(r.uleb()))
				now.cfaReg = numRegs
			case 0x10, 0x16: // DW_CFA_expression, DW_CFA_val_expression
				reg := r.uleb()
				r.bytes(int(r.uleb()))
				set(reg, rule{kind: ruleUndefined})
			case 0x11:
				reg := r.uleb()
				set(reg, rule{ruleAtOffset, r.sleb() * e.common.dataAlign})
			case 0x12:
				now.cfaReg = r.uleb()
				now.cfaOffset = r.sleb() * e.common.dataAlign
			case 0x13:
				now.cfaOffset = r.sleb() * e.common.dataAlign
			case 0x14, 0x15: // DW_CFA_val_offset
				reg := r.uleb()
				offset := int64(r.uleb())
				if op == 0x15 {
					return at, errFrames
				}
				set(reg, rule{ruleOffset, offset * e.common.dataAlign})
			case 0x2e: // DW_CFA_GNU_args_size
				r.uleb()
			default:
				return at, errFrames
			}
		}
		if r.failed {
			return at, errFrames
		}
		if past {
			break
		}
	}
	return at, nil
}

// caller returns the registers of the calling frame. The argument `regs` holds those of the frame that e describes;
// `word` reads the thread's memory. The result ok is false if the registers cannot be determined.
func (e *frameEntry) caller(address uint64, regs *registers, word func(uint64) (uint64, bool)) (c registers, ok bool) {
	rules, err := e.rules(address)
	if err != nil || rules.cfaReg >= numRegs || !regs.known[rules.cfaReg] {
		return c, false
	}
	cfa := regs.value[rules.cfaReg] + uint64(rules.cfaOffset)
	for i, rule := range rules.reg {
		switch rule.kind {
		case ruleSame:
			c.value[i], c.known[i] = regs.value[i], regs.known[i]
		case ruleAtOffset:
			if value, ok := word(cfa + uint64(rule.value)); ok {
				c.set(i, value)
			}
		case ruleOffset:
			c.set(i, cfa+uint64(rule.value))
		case ruleRegister:
			if from := rule.value; from >= 0 && from < numRegs {
				c.value[i], c.known[i] = regs.value[from], regs.known[from]
			}
		}
	}
	if rules.reg[regRA].kind != ruleAtOffset || !c.known[regRA] || c.value[regRA] == 0 {
		return c, false // the outermost frame
	}
	c.set(regSP, cfa)
	return c, true
}
