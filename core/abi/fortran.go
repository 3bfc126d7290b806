package abi

import "strings"

// A FortranConversion is a C function that converts a handle or a status from or to Fortran (MPI-5.0 19.3.4, 19.3.5).
// It is not part of the standard ABI, which does not define Fortran's types.
type FortranConversion struct {
	Name, Returns, Params string
	// The ABI's function with the same effect if Fortran's INTEGER is a C int; "" if the ABI has no such function.
	Same string
}

// FortranConversions returns all functions that convert handles and statuses from or to Fortran.
func FortranConversions() []FortranConversion {
	var out []FortranConversion
	for _, f := range Functions() {
		if object, ok := strings.CutSuffix(f.Name, "_toint"); ok {
			out = append(out, FortranConversion{object + "_c2f", "MPI_Fint", f.Params[0].C, f.Name})
		}
	}
	for _, f := range Functions() {
		if object, ok := strings.CutSuffix(f.Name, "_fromint"); ok {
			p := f.Params[0]
			out = append(out, FortranConversion{object + "_f2c", f.Returns, "MPI_Fint " + p.CName, f.Name})
		}
	}
	statuses := []struct{ name, param string }{{"c", "MPI_Status *c_status"}, {"f", "MPI_Fint *f_status"},
		{"f08", "MPI_F08_status *f08_status"}}
	for _, from := range statuses {
		for _, to := range statuses {
			if from != to {
				out = append(out, FortranConversion{"MPI_Status_" + from.name + "2" + to.name, "int",
					"const " + from.param + ", " + to.param, ""})
			}
		}
	}
	return out
}
