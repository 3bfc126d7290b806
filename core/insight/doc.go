// Package insight is gompirun's side of libgompirma-insight.so (capi/insight), which is preloaded into the ranks and
// records their calls. The package owns the layout of the memory that gompirun and the ranks share, the format of a
// record, and the decoder. It does not depend on how an analysis interprets a record. Neither does the C side: it
// records arguments as core/abi's table describes them.
//
// The memory is one memfd for the job: a page for the job as a whole (job words), then one part for each rank. A part
// contains single words, the table of the objects that the process has loaded, counters, and a ring of 64-bit words. A
// record in the ring consists of these words:
//
//	0  function | flags << 16 | number of words << 32     the function's index in abi.Functions()
//	1  number of the thread, from 0
//	2  time of entry, CLOCK_MONOTONIC in ns
//	3  time of return; 0 in a record of the entry
//	4  return address of the call
//	5  the return value, sign-extended; 0 in a record of the entry
//	6  the inputs in the order of the table, then the outputs; a record of the entry has no outputs
//
// A parameter that is both input and output is recorded twice: among the inputs with its value before the call, among
// the outputs with its value after the call. RecordItems defines the form of each parameter for both languages: the
// generator in core/abi/gen writes the wrappers from it, and the decoder uses it to read. A word is a number, a handle
// or an address. A list begins with a word that has the number of elements in its lower half and a State in its upper
// half. The elements follow: one word each, four for a status. A text is a list whose length is in bytes; the bytes
// follow, eight to a word.
//
// If the mode asks for it, a call that may wait has an additional record of its entry, which has no outputs. A record
// is complete when its first word is not zero: the writer stores that word last. The reader zeroes the words that it
// has read.
package insight
