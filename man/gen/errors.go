package main

import (
	"slices"
	"strings"

	"gompirma/core/abi"
)

// handleErrors has the error class of an invalid handle of each kind.
var handleErrors = map[string]string{
	"COMMUNICATOR": "MPI_ERR_COMM", "WINDOW": "MPI_ERR_WIN", "FILE": "MPI_ERR_FILE", "GROUP": "MPI_ERR_GROUP",
	"SESSION": "MPI_ERR_SESSION", "DATATYPE": "MPI_ERR_TYPE", "OPERATION": "MPI_ERR_OP", "INFO": "MPI_ERR_INFO",
	"REQUEST": "MPI_ERR_REQUEST", "MESSAGE": "MPI_ERR_REQUEST", "ERRHANDLER": "MPI_ERR_ERRHANDLER",
	"KEYVAL": "MPI_ERR_KEYVAL",
}

// objects has the word for each kind of handle.
var objects = map[string]string{
	"COMMUNICATOR": "a communicator", "WINDOW": "a window", "FILE": "an open file", "GROUP": "a group",
	"SESSION": "a session", "OPERATION": "a reduction operation", "INFO": "an info object", "REQUEST": "a request",
	"MESSAGE": "a message of a matching probe", "ERRHANDLER": "an error handler", "KEYVAL": "an attribute key",
}

// derived returns the errors that follow from the kinds of a function's parameters.
func derived(f *abi.Function) (list []entry) {
	add := func(class, text string) { list = append(list, entry{class, text}) }
	tool := strings.HasPrefix(f.Name, "MPI_T_")
	pointer := false // a pointer that must not be NULL
	for _, p := range f.CParams() {
		name := "`" + p.CName + "`"
		kind := p.Kind.Name
		if p.Pointer() && !slices.Contains([]string{"STATUS", "BUFFER", "FUNCTION", "POLYFUNCTION"}, kind) {
			pointer = true
		}
		if p.Dir == abi.Out && kind != "BUFFER" || tool {
			continue
		}
		switch {
		case kind == "DATATYPE" && communicates(f):
			add("MPI_ERR_TYPE", name+" is not a datatype, or has not been committed.")
		case kind == "DATATYPE":
			add("MPI_ERR_TYPE", name+" is not a datatype.")
		case handleErrors[kind] != "" && len(p.Length) > 0:
			add(handleErrors[kind], "An element of "+name+" is not "+objects[kind]+".")
		case handleErrors[kind] != "":
			add(handleErrors[kind], name+" is not "+objects[kind]+".")
		case kind == "BUFFER":
			add("MPI_ERR_BUFFER", name+" is NULL although the count is above 0.")
		case kind == "TAG":
			add("MPI_ERR_TAG", name+" is negative or above the attribute `MPI_TAG_UB`.")
		case p.CName == "root":
			add("MPI_ERR_ROOT", name+" is not a rank of the communicator.")
		case kind == "RANK", kind == "RANK_NNI":
			add("MPI_ERR_RANK", name+" is not a rank of the group.")
		case kind == "ASSERT":
			add("MPI_ERR_ASSERT", name+" contains a value that is not defined for this function.")
		case strings.HasPrefix(kind, "ARRAY_LENGTH") && strings.HasSuffix(p.CName, "count"):
			add("MPI_ERR_COUNT", name+" is negative.")
		case strings.HasSuffix(p.CName, "count"), strings.HasSuffix(p.CName, "counts"):
			add("MPI_ERR_COUNT", name+" is negative, or the data exceeds the address space.")
		}
	}
	if pointer && !tool {
		add("MPI_ERR_ARG", "A required pointer is NULL.")
	}
	return list
}

// communicates reports whether a function needs committed datatypes.
func communicates(f *abi.Function) bool {
	for _, p := range f.Params {
		if p.Kind.Name == "BUFFER" && f.Chapter != 5 {
			return true
		}
	}
	return strings.HasPrefix(f.Name, "MPI_Pack") || strings.HasPrefix(f.Name, "MPI_Unpack")
}

// errors returns the errors of a page: those that its text has, and the derived ones of classes that it has not.
func (p *page) errors() (list []entry) {
	own := map[string]bool{}
	for _, e := range p.errs {
		own[e.name] = true
	}
	list = slices.Clone(p.errs)
	for _, e := range p.family.errs {
		if !own[e.name] && !slices.Contains(p.noErrs, e.name) {
			list = append(list, e)
			own[e.name] = true
		}
	}
	at := map[string]int{}
	for _, name := range p.names {
		f, _ := describable(name)
		if f == nil {
			continue
		}
		for _, e := range derived(f) {
			if own[e.name] || slices.Contains(slices.Concat(p.noErrs, p.family.noErrs), e.name) {
				continue
			}
			i, seen := at[e.name]
			if !seen {
				at[e.name] = len(list)
				list = append(list, e)
			} else if !strings.Contains(list[i].text, e.text) {
				list[i].text = merged(list[i].text, e.text)
			}
		}
	}
	return list
}

// merged combines two texts "`a` is X." and "`b` is X." to "`a` or `b` is X."
func merged(a, b string) string {
	subject, rest, _ := strings.Cut(strings.Replace(b, "An element", "an element", 1), "` ")
	if before, ok := strings.CutSuffix(a, "` "+rest); ok {
		if strings.Contains(before, subject+"`") || strings.HasSuffix(before, subject) {
			return a
		}
		return strings.Replace(before, "` or ", "`, ", 1) + "` or " + subject + "` " + rest
	}
	return a + " " + b
}
