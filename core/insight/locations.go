package insight

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sort"
)

// Location is a location in the program.
type Location struct {
	File     string `json:"file,omitempty"` // source file
	Line     int    `json:"line,omitempty"`
	Function string `json:"function,omitempty"` // with Offset, if there is no debug information
	Offset   uint64 `json:"offset,omitempty"`   // offset in the function, or in the object
	Object   string `json:"object,omitempty"`   // file name of the program or library
}

// String returns file and line, or the most precise location that is known.
func (p Location) String() string {
	switch {
	case p.Line > 0:
		return fmt.Sprintf("%s:%d", filepath.Base(p.File), p.Line)
	case p.Function != "":
		return fmt.Sprintf("%s+%#x in %s", p.Function, p.Offset, filepath.Base(p.Object))
	case p.Object != "":
		return fmt.Sprintf("%s+%#x", filepath.Base(p.Object), p.Offset)
	}
	return "an unknown place"
}

// Locator finds the program locations of addresses. It caches the debug information that it has read.
type Locator struct {
	files map[string]*debugFile
}

type lineAt struct {
	address uint64
	file    string
	line    int // 0: end of a sequence, after which no code follows
}

type debugFile struct {
	lines   []lineAt     // by address
	symbols []elf.Symbol // functions by address
}

// Location returns the location of the call with the given return address, in a process that has loaded the given
// objects.
func (l *Locator) Location(objects []Object, address uint64) Location {
	f, o, at := l.find(objects, address)
	if f == nil {
		return Location{Offset: address}
	}
	p := Location{Object: o.Name, Offset: at + 1}
	if i := sort.Search(len(f.lines), func(i int) bool { return f.lines[i].address > at }); i > 0 &&
		f.lines[i-1].line > 0 {
		return Location{File: f.lines[i-1].file, Line: f.lines[i-1].line}
	}
	if s := f.function(at); s != nil {
		p.Function, p.Offset = s.Name, at+1-s.Value
	}
	return p
}

// Function returns the name of the function that contains the call with the given return address; "" if unknown.
func (l *Locator) Function(objects []Object, address uint64) string {
	if f, _, at := l.find(objects, address); f != nil {
		if s := f.function(at); s != nil {
			return s.Name
		}
	}
	return ""
}

// find returns the debug information of the object that contains a return address, and the address of the call in the
// object's file. The result f is nil if no object contains the address.
func (l *Locator) find(objects []Object, address uint64) (f *debugFile, o Object, at uint64) {
	for _, o := range slices.Backward(objects) {
		if address >= o.Low && address < o.High {
			// minus 1: an address inside the call instruction
			return l.file(o.Name), o, address - o.Bias - 1
		}
	}
	return nil, o, 0
}

// function returns the symbol of the function that contains an address, or nil.
func (f *debugFile) function(at uint64) *elf.Symbol {
	i := sort.Search(len(f.symbols), func(i int) bool { return f.symbols[i].Value > at })
	if i > 0 && at < f.symbols[i-1].Value+f.symbols[i-1].Size {
		return &f.symbols[i-1]
	}
	return nil
}

func (l *Locator) file(name string) *debugFile {
	if f := l.files[name]; f != nil {
		return f
	}
	f := &debugFile{}
	if l.files == nil {
		l.files = map[string]*debugFile{}
	}
	l.files[name] = f
	e, err := elf.Open(name)
	if err != nil {
		return f
	}
	defer e.Close()
	symbols, _ := e.Symbols()
	dynamic, _ := e.DynamicSymbols()
	for _, s := range append(symbols, dynamic...) {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 {
			f.symbols = append(f.symbols, s)
		}
	}
	slices.SortStableFunc(f.symbols, func(a, b elf.Symbol) int {
		switch {
		case a.Value < b.Value:
			return -1
		case a.Value > b.Value:
			return 1
		}
		return 0
	})
	if d, err := e.DWARF(); err == nil {
		f.read(d)
	}
	return f
}

// read appends all line entries and sorts them by address.
func (f *debugFile) read(d *dwarf.Data) {
	units := d.Reader()
	for {
		unit, err := units.Next()
		if err != nil || unit == nil {
			break
		}
		units.SkipChildren()
		if unit.Tag != dwarf.TagCompileUnit {
			continue
		}
		lines, err := d.LineReader(unit)
		if err != nil || lines == nil {
			continue
		}
		var e dwarf.LineEntry
		for lines.Next(&e) != io.EOF {
			at := lineAt{address: e.Address, line: e.Line}
			if e.EndSequence {
				at.line = 0
			} else if e.File != nil {
				at.file = e.File.Name
			}
			f.lines = append(f.lines, at)
		}
	}
	// The end of a sequence sorts before an entry at the same address. If several entries have the same address,
	// the last one is used.
	sort.SliceStable(f.lines, func(a, b int) bool {
		x, y := f.lines[a], f.lines[b]
		return x.address < y.address || x.address == y.address && x.line == 0 && y.line != 0
	})
}
