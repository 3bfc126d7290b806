package abi

// Dir is the direction of a parameter.
type Dir string

// The directions have the meaning that the standard's text gives them. For a handle or a buffer, they describe what
// happens to the object or the data, not to the handle or the address.
const (
	In    Dir = "in"
	Out   Dir = "out"
	InOut Dir = "inout"
)

// Form is a set of bindings.
type Form int

// The bindings from which a parameter may be absent.
const (
	C Form = 1 << iota
	F08
	F90
	F08Intent // the parameter exists in mpi_f08, but its INTENT attribute is omitted
)

// Kind is the semantic kind of a parameter, which determines its meaning and its type in each binding.
type Kind struct {
	Name string // as in the standard's binding tables, "RMA_DISPLACEMENT_NNI"
	// The C type of one element of the parameter. In the text "FUNC *", FUNC stands for the type of the parameter's
	// callback. A type that ends in * is the type of the whole parameter.
	C      string
	CLarge string // as C, in the large-count form
	// The Fortran type: integer, logical, character, aint, count, offset, handle, status, choice, c_ptr, procedure,
	// none
	Fortran string
	FLarge  string // as Fortran, in the large-count form
	Meaning string // a few words for documentation
}

// DiffersLarge reports whether the kind's type differs in the large-count form.
func (k *Kind) DiffersLarge() bool { return k.C != k.CLarge }

// Param is one parameter of a function or callback.
type Param struct {
	Name     string // name in the standard's text and in Fortran
	CName    string // name in the C prototype; differs from Name only if the standard's C binding uses another name
	Kind     *Kind
	Dir      Dir
	Const    bool
	Async    bool // the buffer may be accessed after the call returns: ASYNCHRONOUS in Fortran
	Optional bool // OPTIONAL in Fortran (ierror)
	// Length is empty for a scalar. For an array it has one entry per dimension: the name of a parameter, a
	// constant, or a number. An entry is "*" if only the standard's text defines the length.
	Length  []string
	Array   string // "hidden" if C passes an array although the standard describes one value
	Func    string // for a callback: the name of its prototype, without _c
	Hidden  Form   // the bindings that omit the parameter
	C       string // the C declaration, "const int recvcounts[]"
	Meaning string // a few words for documentation
}

// Handle returns whether the parameter is an MPI handle or an array of handles, and whether C passes the address of the
// handle.
func (p *Param) Handle() (is, pointer bool) {
	if p.Kind.Fortran != "handle" {
		return false, false
	}
	return true, p.Pointer()
}

// Pointer returns whether the C parameter is passed as an address.
func (p *Param) Pointer() bool {
	for _, c := range p.C {
		if c == '*' || c == '[' {
			return true
		}
	}
	return p.Kind.Name == "EVENT_CB_FUNCTION" || p.Kind.Name == "EVENT_FREE_CB_FUNCTION" ||
		p.Kind.Name == "EVENT_DROP_CB_FUNCTION"
}

// CType returns the C type of the parameter as a cast would write it, "const int *" for "const int recvcounts[]".
func (p *Param) CType() string { return cTypeOf(p.C, p.CName) }

// Function is one function of the standard ABI. A function with a large-count form is two Functions, MPI_Put and
// MPI_Put_c.
type Function struct {
	Name       string
	Returns    string // C type
	Params     []*Param
	Chapter    int
	Section    string // "12.3.1" of MPI 5.0, or empty where only the chapter is certain
	Purpose    string
	Deprecated string    // version that deprecated the function, such as "MPI-4.1"; "" if none
	ReplacedBy string    // for a removed function: the function that replaced it
	F08        bool      // exists in the mpi_f08 module
	F90        bool      // exists in the mpi module
	Large      bool      // this is the _c form
	OtherForm  *Function // the other of the two forms, MPI_Put_c for MPI_Put; nil if there is only one
}

// CParams returns the parameters of the C prototype.
func (f *Function) CParams() []*Param {
	params := make([]*Param, 0, len(f.Params))
	for _, p := range f.Params {
		if p.Hidden&C == 0 {
			params = append(params, p)
		}
	}
	return params
}

// CanWiden returns whether this function can be implemented by a call of its large-count form with its arguments
// converted to the larger types. This holds if the two forms differ only in parameters that are passed by value.
func (f *Function) CanWiden() bool {
	if f.Large || f.OtherForm == nil {
		return false
	}
	small, large := f.CParams(), f.OtherForm.CParams()
	if len(small) != len(large) {
		return false
	}
	for i, p := range small {
		if p.C != large[i].C && (p.Pointer() || large[i].Pointer()) {
			return false
		}
	}
	return true
}

// Callback is the prototype of a function that a program passes to MPI. A prototype with a large-count form is two
// Callbacks.
type Callback struct {
	Name       string
	Returns    string
	Params     []*Param
	Purpose    string
	Deprecated string
	Large      bool
}

// Constant is a constant of the standard ABI.
type Constant struct {
	Name string
	Type string // "int", "alias", or the C type to which the constant is cast
	// The text in the table: hexadecimal where the standard uses it; for an alias, the name of its target.
	Value string
	Text  string // for an error class: its meaning
	Group string // description of the group of constants that it belongs to
}

// Number returns the constant's value; an alias has the value of its target.
func (c *Constant) Number() int64 { return numbers()[c.Name] }
