package main

import (
	"bytes"
	"fmt"
	"strings"

	"gompirma/core/abi"
)

// symbolsTest returns a C program that assigns every function, under its names MPI_X and PMPI_X, to a pointer of its
// type.
func symbolsTest() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* %s */\n", notice)
	/* Every function of the standard ABI links under both of its names and has the type of the standard. */
	b.WriteString(`
#include <mpi.h>
#include <stdio.h>

typedef void (*any)(void);

static struct {
    const char *name;
    any address;
} symbols[2 * ` + fmt.Sprint(len(abi.Functions())) + `];
static int filled;

static void add(const char *name, any address)
{
    symbols[filled].name = name;
    symbols[filled].address = address;
    filled++;
}

static void fill(void)
{
`)
	for _, f := range abi.Functions() {
		for _, prefix := range []string{"", "P"} {
			var types []string
			for _, p := range f.CParams() {
				types = append(types, p.CType())
			}
			if len(types) == 0 {
				types = []string{"void"}
			}
			fmt.Fprintf(&b, "    { %s = %s%s; add(\"%s%s\", (any)p); }\n",
				wrap(f.Returns+" (*p)(", types, ")"), prefix, f.Name, prefix, f.Name)
		}
	}
	b.WriteString(`}

int main(void)
{
    int missing = 0;

    fill();
    for (int i = 0; i < filled; i++) {
        /* volatile: a compiler knows that a function is never null, the linker of a weak one does not */
        any volatile address = symbols[i].address;
        if (!address) {
            printf("%s is missing\n", symbols[i].name);
            missing++;
        }
    }
    if (filled != (int)(sizeof symbols / sizeof symbols[0])) {
        printf("%d symbols instead of %d\n", filled, (int)(sizeof symbols / sizeof symbols[0]));
        missing++;
    }
    printf("%d symbols, %d missing\n", filled, missing);
    return missing != 0;
}
`)
	return b.Bytes()
}

// constantsTest returns a C program that compares every constant and the layout of every type with the table.
func constantsTest() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* %s */\n", notice)
	/* Every constant of the standard ABI has its value and its type, every type its size and layout. */
	b.WriteString(`
#include <mpi.h>
#include <stdio.h>

_Static_assert(sizeof(MPI_Aint) == sizeof(void *), "MPI_Aint");
_Static_assert(sizeof(MPI_Count) == 8, "MPI_Count");
_Static_assert(sizeof(MPI_Offset) == 8, "MPI_Offset");
_Static_assert((MPI_Aint)-1 < 0 && (MPI_Count)-1 < 0 && (MPI_Offset)-1 < 0, "MPI_Aint, MPI_Count and MPI_Offset are signed");
_Static_assert(sizeof(MPI_Fint) == sizeof(int), "MPI_Fint");
_Static_assert(sizeof(MPI_Status) == 32, "MPI_Status");
_Static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint), "MPI_F_STATUS_SIZE");
_Static_assert(offsetof(MPI_Status, MPI_SOURCE) == MPI_F_SOURCE * sizeof(MPI_Fint), "MPI_SOURCE");
_Static_assert(offsetof(MPI_Status, MPI_TAG) == MPI_F_TAG * sizeof(MPI_Fint), "MPI_TAG");
_Static_assert(offsetof(MPI_Status, MPI_ERROR) == MPI_F_ERROR * sizeof(MPI_Fint), "MPI_ERROR");
_Static_assert(offsetof(MPI_Status, MPI_internal) == 12, "MPI_internal");
_Static_assert(sizeof(MPI_F08_status) == sizeof(MPI_Status), "MPI_F08_status");
_Static_assert(sizeof(MPI_T_cb_safety) == sizeof(int), "MPI_T_cb_safety");
_Static_assert(sizeof(MPI_T_source_order) == sizeof(int), "MPI_T_source_order");
`)
	for _, f := range abi.Functions() {
		if object, ok := strings.CutSuffix(f.Name, "_toint"); ok {
			t := f.CParams()[0].CType()
			fmt.Fprintf(&b, "_Static_assert(sizeof(%s) == sizeof(void *), \"%s\");\n", t, object)
		}
	}
	b.WriteString("\n/* Known to the preprocessor. */\n#if MPI_VERSION != 5 || MPI_SUBVERSION != 0 || " +
		"MPI_ABI_VERSION != 1\n#error \"MPI_VERSION\"\n#endif\n\n")
	var casts []*abi.Constant
	for _, c := range abi.Constants() {
		if c.Type == "int" {
			fmt.Fprintf(&b, "_Static_assert(%s == %s, \"%s\");\n", c.Name, c.Value, c.Name)
		} else {
			casts = append(casts, c)
		}
	}
	b.WriteString("\n/* Those of other types: assigned to a variable of that type, which also checks the type. " +
		"*/\nint main(void)\n{\n    int wrong = 0;\n\n")
	for _, c := range casts {
		fmt.Fprintf(&b, "    { %s v = %s; if ((intptr_t)v != (intptr_t)%d) { printf(\"%s is %%ld\\n\", "+
			"(long)(intptr_t)v); wrong++; } }\n",
			typeOf(c), c.Name, c.Number(), c.Name)
	}
	fmt.Fprintf(&b, "    printf(\"%d constants, %%d of those with a type of their own wrong\\n\", wrong);\n    "+
		"return wrong != 0;\n}\n", len(abi.Constants()))
	return b.Bytes()
}

// typeOf returns the C type of a constant. An alias has the type of its target.
func typeOf(c *abi.Constant) string {
	if c.Type == "alias" {
		for _, of := range abi.Constants() {
			if of.Name == c.Value {
				return typeOf(of)
			}
		}
	}
	return strings.Replace(c.Type, "*", " *", 1)
}

// constantsTestCXX returns the test in C++ of the constants that are not ints.
func constantsTestCXX() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* %s */\n", notice)
	/* In C++ every constant has its value and its type too. A constexpr function may return the constant. With
	 * clang, the constant may also be the value of a constexpr variable. */
	b.WriteString(`
#include <mpi.h>
#include <cstdio>
#include <type_traits>

#ifdef __clang__
#define VARIABLE(name, type) constexpr type variable = MPI_##name; static_assert(variable == returned() && variable == MPI_##name, "");
#else
#define VARIABLE(name, type)
#endif
#define CONSTANT(name, type, number)                                                                                                       \
    namespace in_##name {                                                                                                                  \
    constexpr type returned() { return MPI_##name; }                                                                                       \
    static_assert(std::is_same<decltype(MPI_##name), type>::value, "the type of " #name);                                                  \
    VARIABLE(name, type)                                                                                                                   \
    type stored = MPI_##name;                                                                                                              \
    bool wrong() { return (intptr_t)returned() != number || (intptr_t)MPI_##name != number || (intptr_t)stored != number; }                 \
    }

`)
	var names []string
	for _, c := range abi.Constants() {
		if t := typeOf(c); t != "int" {
			names = append(names, strings.TrimPrefix(c.Name, "MPI_"))
			fmt.Fprintf(&b, "CONSTANT(%s, %s, %d)\n", names[len(names)-1], t, c.Number())
		}
	}
	b.WriteString("\nint main()\n{\n    int wrong = 0;\n")
	for _, name := range names {
		fmt.Fprintf(&b, "    if (in_%s::wrong()) { std::printf(\"MPI_%s is wrong\\n\"); wrong++; }\n", name,
			name)
	}
	b.WriteString("    return wrong != 0;\n}\n")
	return b.Bytes()
}
