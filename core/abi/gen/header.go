package main

import (
	"bytes"
	"fmt"
	"strings"

	"gompirma/core/abi"
	"gompirma/core/version"
)

// header returns include/mpi_rma.h: the public interface with documentation.
func header() []byte {
	var b bytes.Buffer
	number := strings.SplitN(version.String, ".", 3)
	fmt.Fprintf(&b, headerTop, notice, number[0], number[1], number[2], version.String)
	writeConstants(&b)
	writeCallbacks(&b)
	writeFunctions(&b)
	writeRemoved(&b)
	fmt.Fprintf(&b, headerBottom, fortranDeclarations(), fortranHandles(), fortranStatuses())
	return b.Bytes()
}

// forward returns include/mpi.h.
func forward() []byte {
	return []byte(`/* ` + notice + ` */
#ifndef GOMPIRMA_MPI_H
#define GOMPIRMA_MPI_H
#include "mpi_rma.h"
#endif
`)
}

const headerTop = `/* %s */
/*
 * gompirma: the C interface of MPI, as defined by the standard ABI of MPI 5.0 (chapter 20).
 *
 * A program compiled with this header runs with every MPI library that has the standard ABI. All types, constants and
 * functions of the ABI are declared. A function that gompirma does not implement raises MPI_ERR_UNSUPPORTED_OPERATION.
 *
 * Conventions of all functions, unless their comment states otherwise:
 *   - They return MPI_SUCCESS or an error code. Before an error code is returned, the error handler of the call's
 *     communicator, window, file or session is called; without one of these, that of MPI_COMM_SELF (of MPI_COMM_WORLD
 *     until the program sets the former). The initial handler ends the program.
 *   - A refused call changes nothing and writes none of its output parameters, with one exception: a blocking call that
 *     fails to create a communicator from another one stores MPI_COMM_NULL as the new communicator.
 *   - Counts are numbers of datatype elements, sizes are bytes. Ranks are in the group of the communicator or window.
 *   - Parameters are marked in, out or inout; for a buffer or an object this refers to its contents.
 *   - PMPI_X is the same function as MPI_X: a profiling library may define MPI_X and call PMPI_X.
 *   - X_c is the large-count form of X: counts are MPI_Count, or MPI_Aint according to the prototype.
 * "MPI-5.0 12.5.3" is the section of the standard that defines the function.
 */
#ifndef GOMPIRMA_MPI_RMA_H
#define GOMPIRMA_MPI_RMA_H

/* Headers of other MPI libraries declare the same names. */
#if defined(MPI_VERSION)
#error "mpi_rma.h: another MPI library's header was included before; use one of them"
#endif

#include <stddef.h>
#include <stdint.h>

/* The version of gompirma. */
#define GOMPIRMA_VERSION_MAJOR %s
#define GOMPIRMA_VERSION_MINOR %s
#define GOMPIRMA_VERSION_PATCH %s
#define GOMPIRMA_VERSION "%s"

/*
 * A constant of a pointer type. In C++ a constexpr function may return it, although it is an integer that is cast; with
 * clang, constexpr variables and static_assert may use it too.
 */
#if defined(__cplusplus) && __cplusplus >= 201103L && defined(__GNUC__)
extern "C++" template <typename type> constexpr type gompirma_constant(intptr_t value) { return value ? (type)value : type(); }
#define GOMPIRMA_CONSTANT(type, value) (__builtin_constant_p((type)value) ? (type)value : gompirma_constant<type>(value))
#else
#define GOMPIRMA_CONSTANT(type, value) ((type)value)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ======== Types ======== */

/* An address, a difference of addresses, a displacement in bytes. */
typedef intptr_t MPI_Aint;

/* An offset in a file. */
typedef int64_t MPI_Offset;

/* A number of elements or bytes that may be large. */
typedef int64_t MPI_Count;

/* The result of a message: its source and tag, and, from calls that complete several requests, its error code. */
typedef struct MPI_Status {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;

/* Handles. The predefined ones are small integers, see the constants. */
typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_File *MPI_File;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Session *MPI_Session;
typedef struct MPI_ABI_Win *MPI_Win;

/* Handles of the tool interface. */
typedef struct MPI_T_enum_t *MPI_T_enum;
typedef struct MPI_T_cvar_handle_t *MPI_T_cvar_handle;
typedef struct MPI_T_pvar_handle_t *MPI_T_pvar_handle;
typedef struct MPI_T_pvar_session_t *MPI_T_pvar_session;
typedef struct MPI_T_event_registration_t *MPI_T_event_registration;
typedef struct MPI_T_event_instance_t *MPI_T_event_instance;
`

const headerBottom = `
/* ======== C and Fortran (MPI-5.0 chapter 19) ======== */

/*
 * These are not part of the standard ABI, which does not know the Fortran compiler. An INTEGER of Fortran is an int; with
 * GOMPIRMA_FORTRAN_I8 it has 8 bytes, as in a program that was compiled with -fdefault-integer-8. A handle's integer
 * is the same in C (MPI_Comm_toint) and in Fortran (MPI_VAL).
 */
#ifdef GOMPIRMA_FORTRAN_I8
typedef int64_t MPI_Fint;
#else
typedef int MPI_Fint;
#endif

/* TYPE(MPI_Status) of mpi_f08. */
typedef struct MPI_F08_status {
    MPI_Fint MPI_SOURCE;
    MPI_Fint MPI_TAG;
    MPI_Fint MPI_ERROR;
    MPI_Fint MPI_internal[5];
} MPI_F08_status;

/* The statuses that Fortran ignores. They are in the library of the Fortran bindings, libgompirma_fortran. */
extern MPI_Fint *MPI_F_STATUS_IGNORE;
extern MPI_Fint *MPI_F_STATUSES_IGNORE;
extern MPI_F08_status *MPI_F08_STATUS_IGNORE;
extern MPI_F08_status *MPI_F08_STATUSES_IGNORE;

/*
 * Inline, each takes one instruction; a call takes ten times as long. A profiling library may still define them, but
 * sees no call of a program that is compiled with optimization, as MPI allows (MPI-5.0 2.6.4). With GOMPIRMA_NO_INLINE
 * they are calls.
 */
#if defined(__GNUC__) && !(defined(__clang__) && defined(__cplusplus)) && !defined(GOMPIRMA_NO_INLINE)
extern __inline __attribute__((__gnu_inline__)) MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

extern __inline __attribute__((__gnu_inline__)) MPI_Aint MPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}
#endif

%s#else
%s
/*
 * The statuses of C, of mpi and mpif.h (an INTEGER array of MPI_F_STATUS_SIZE), and of mpi_f08 have the same words in
 * the same order. A null pointer, which MPI_STATUS_IGNORE is too, is MPI_ERR_ARG.
 */
static inline int MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
    int i;
    if (!c_status || !f_status)
        return MPI_ERR_ARG;
    f_status[MPI_F_SOURCE] = c_status->MPI_SOURCE;
    f_status[MPI_F_TAG] = c_status->MPI_TAG;
    f_status[MPI_F_ERROR] = c_status->MPI_ERROR;
    for (i = 0; i < MPI_F_STATUS_SIZE - 3; i++)
        f_status[3 + i] = c_status->MPI_internal[i];
    return MPI_SUCCESS;
}

static inline int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
    int i;
    if (!f_status || !c_status)
        return MPI_ERR_ARG;
    c_status->MPI_SOURCE = f_status[MPI_F_SOURCE];
    c_status->MPI_TAG = f_status[MPI_F_TAG];
    c_status->MPI_ERROR = f_status[MPI_F_ERROR];
    for (i = 0; i < MPI_F_STATUS_SIZE - 3; i++)
        c_status->MPI_internal[i] = f_status[3 + i];
    return MPI_SUCCESS;
}

static inline int MPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)
{
    int i;
    if (!c_status || !f08_status)
        return MPI_ERR_ARG;
    f08_status->MPI_SOURCE = c_status->MPI_SOURCE;
    f08_status->MPI_TAG = c_status->MPI_TAG;
    f08_status->MPI_ERROR = c_status->MPI_ERROR;
    for (i = 0; i < MPI_F_STATUS_SIZE - 3; i++)
        f08_status->MPI_internal[i] = c_status->MPI_internal[i];
    return MPI_SUCCESS;
}

static inline int MPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)
{
    int i;
    if (!f08_status || !c_status)
        return MPI_ERR_ARG;
    c_status->MPI_SOURCE = f08_status->MPI_SOURCE;
    c_status->MPI_TAG = f08_status->MPI_TAG;
    c_status->MPI_ERROR = f08_status->MPI_ERROR;
    for (i = 0; i < MPI_F_STATUS_SIZE - 3; i++)
        c_status->MPI_internal[i] = f08_status->MPI_internal[i];
    return MPI_SUCCESS;
}

static inline int MPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
    MPI_Status status;
    int code = MPI_Status_f2c(f_status, &status);
    return code != MPI_SUCCESS ? code : MPI_Status_c2f08(&status, f08_status);
}

static inline int MPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
{
    MPI_Status status;
    int code = MPI_Status_f082c(f08_status, &status);
    return code != MPI_SUCCESS ? code : MPI_Status_c2f(&status, f_status);
}


%s#endif

#ifdef __cplusplus
}
#endif

#endif
`

// writeConstants writes the constants as macros, so that #if and #ifdef see them. It writes the constants of the tool
// interface's two enum types as enumerators.
func writeConstants(b *bytes.Buffer) {
	b.WriteString("\n/* ======== Constants ======== */\n")
	group := ""
	inEnum := false
	for i, c := range abi.Constants() {
		if needsCallback(c) {
			continue
		}
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(b, "\n/* %s. */\n", group)
			if enumType(c.Name) != "" {
				b.WriteString("typedef enum " + enumType(c.Name) + " {\n")
				inEnum = true
			}
		}
		if inEnum {
			comma := ","
			last := i+1 == len(abi.Constants()) || abi.Constants()[i+1].Group != group
			if last {
				comma = ""
			}
			fmt.Fprintf(b, "    %s = %s%s\n", c.Name, c.Value, comma)
			if last {
				b.WriteString("} " + enumType(c.Name) + ";\n")
				inEnum = false
			}
			continue
		}
		writeConstant(b, c)
	}
}

func writeConstant(b *bytes.Buffer, c *abi.Constant) {
	value := c.Value
	switch {
	case c.Type == "alias":
	case c.Type == "MPI_Offset", c.Type != "int" && c.Number() == 0: // casts that C++ accepts as constants
		value = "((" + strings.Replace(c.Type, "*", " *", 1) + ")" + c.Value + ")"
	case c.Type != "int":
		value = "GOMPIRMA_CONSTANT(" + strings.Replace(c.Type, "*", " *", 1) + ", " + c.Value + ")"
	case value[0] == '-':
		value = "(" + value + ")"
	}
	line := fmt.Sprintf("#define %-34s %s", c.Name, value)
	if c.Text != "" {
		line += " /* " + c.Text + " */"
	}
	b.WriteString(line + "\n")
}

// needsCallback returns whether a constant has the type of a callback, so that it must come after the callbacks' types.
func needsCallback(c *abi.Constant) bool {
	return strings.Contains(c.Type, "function")
}

// enumType returns the enum that a constant of the tool interface belongs to, or "".
func enumType(constant string) string {
	switch {
	case strings.HasPrefix(constant, "MPI_T_CB_REQUIRE_"):
		return "MPI_T_cb_safety"
	case strings.HasPrefix(constant, "MPI_T_SOURCE_"):
		return "MPI_T_source_order"
	}
	return ""
}

func writeCallbacks(b *bytes.Buffer) {
	b.WriteString("\n/* ======== Callbacks: functions that a program hands to MPI ======== */\n")
	for _, c := range abi.Callbacks() {
		var list []string
		for _, p := range c.Params {
			list = append(list, p.C)
		}
		purpose := c.Purpose
		if c.Large {
			purpose = "The large-count form of " + strings.TrimSuffix(c.Name, "_c") + "."
		}
		if c.Deprecated != "" {
			purpose += " Deprecated since " + c.Deprecated + "."
		}
		fmt.Fprintf(b, "\n/* %s */\n%s;\n", purpose, wrap("typedef "+c.Returns+" "+c.Name+"(", list, ")"))
	}
	b.WriteString("\n/* Older names of the error handlers' types. */\n")
	for _, o := range []string{"Comm", "Win", "File", "Session"} {
		fmt.Fprintf(b, "typedef MPI_%s_errhandler_function MPI_%s_errhandler_fn;\n", o, o)
	}
	group := ""
	for _, c := range abi.Constants() {
		if !needsCallback(c) {
			continue
		}
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(b, "\n/* %s. */\n", group)
		}
		writeConstant(b, c)
	}
}

func writeFunctions(b *bytes.Buffer) {
	chapter := 0
	for _, f := range abi.Functions() {
		if f.Chapter != chapter {
			chapter = f.Chapter
			fmt.Fprintf(b, "\n/* ======== %s (MPI-5.0 chapter %d) ======== */\n", abi.Chapters()[chapter],
				chapter)
		}
		b.WriteString("\n")
		writeDoc(b, f)
		fmt.Fprintf(b, "%s;\n%s;\n", prototype(f, ""), prototype(f, "P"))
	}
}

// writeDoc writes the comment above a function: purpose, section, parameters.
func writeDoc(b *bytes.Buffer, f *abi.Function) {
	if f.Large {
		small := f.OtherForm
		text := "The large-count form of " + small.Name + "."
		var more []string
		for _, p := range f.CParams() {
			if !hasParamNamed(small.CParams(), p.Name) {
				more = append(more, paramDoc(p, 0))
			}
		}
		if len(more) == 0 {
			fmt.Fprintf(b, "/* %s */\n", text)
			return
		}
		fmt.Fprintf(b, "/*\n * %s It has further parameters:\n", text)
		for _, m := range more {
			b.WriteString(m)
		}
		b.WriteString(" */\n")
		return
	}
	text := f.Purpose
	if f.Deprecated != "" {
		text += " Deprecated since " + f.Deprecated + "."
	}
	if f.Section != "" {
		text += " (MPI-5.0 " + f.Section + ")"
	}
	text = strings.TrimSpace(text)
	if text == "" {
		text = f.Name
	}
	if len(f.CParams()) == 0 {
		lines := wrapText(text, 116)
		if len(lines) == 1 {
			fmt.Fprintf(b, "/* %s */\n", text)
			return
		}
	}
	b.WriteString("/*\n")
	for _, l := range wrapText(text, 116) {
		b.WriteString(" * " + l + "\n")
	}
	width := 0
	for _, p := range f.CParams() {
		width = max(width, len(p.CName))
	}
	for _, p := range f.CParams() {
		b.WriteString(paramDoc(p, width))
	}
	b.WriteString(" */\n")
}

// paramDoc returns the line that documents a parameter.
func paramDoc(p *abi.Param, width int) string {
	meaning := p.Meaning
	if len(p.Length) > 0 && p.Length[0] != "*" && p.Kind.Fortran != "character" {
		meaning += " (array of " + strings.Join(p.Length, " x ") + ")"
	} else if len(p.Length) > 0 && p.Kind.Fortran != "character" {
		meaning += " (array)"
	} else if len(p.Length) == 1 && p.Length[0] != "*" {
		meaning += ", at most " + p.Length[0] + " long"
	}
	return fmt.Sprintf(" *   %-*s  %-5s  %s\n", width, p.CName, p.Dir, meaning)
}

// declaration returns a parameter as the header's prototypes declare it. This is the standard's declaration, except
// that weights are pointers instead of arrays. Compilers assume that an array argument is valid memory, and would warn
// about the constant MPI_UNWEIGHTED.
func declaration(p *abi.Param) string {
	if p.Kind.Name == "WEIGHT" && strings.HasSuffix(p.C, "[]") {
		return p.CType() + p.CName
	}
	return p.C
}

func hasParamNamed(params []*abi.Param, name string) bool {
	for _, p := range params {
		if p.Name == name {
			return true
		}
	}
	return false
}

// wrapText breaks text into lines of at most `width` characters.
func wrapText(text string, width int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(text) {
		if line != "" && len(line)+1+len(w) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	return append(lines, line)
}

// fortranDeclarations returns declarations of the conversions from and to Fortran as functions of the library, for
// programs that do not want macros.
func fortranDeclarations() string {
	var b strings.Builder
	b.WriteString("/*\n * Conversions. For INTEGERs that are ints the library also has them as functions: for " +
		"other languages, and for\n * programs that define GOMPIRMA_NO_INLINE. Other libraries of the " +
		"standard ABI may lack them.\n */\n" +
		"#if defined(GOMPIRMA_NO_INLINE) && !defined(GOMPIRMA_FORTRAN_I8)\n")
	for _, prefix := range []string{"", "P"} {
		for _, c := range abi.FortranConversions() {
			fmt.Fprintf(&b, "%s %s%s(%s);\n", c.Returns, prefix, c.Name, c.Params)
		}
	}
	return b.String()
}

// fortranHandles returns macros that map the conversions of handles to functions of the ABI, which use the same
// integers.
func fortranHandles() string {
	var b strings.Builder
	for _, prefix := range []string{"", "P"} {
		for _, c := range abi.FortranConversions() {
			if c.Same != "" {
				fmt.Fprintf(&b, "#define %s%s %s%s\n", prefix, c.Name, prefix, c.Same)
			}
		}
	}
	return b.String()
}

// fortranStatuses returns macros that define the PMPI_ names of the conversions of statuses.
func fortranStatuses() string {
	var b strings.Builder
	for _, c := range abi.FortranConversions() {
		if c.Same == "" {
			fmt.Fprintf(&b, "#define P%s %s\n", c.Name, c.Name)
		}
	}
	return b.String()
}
