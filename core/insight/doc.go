// Package insight is gompirun's side of libgompirma-insight.so (capi/insight), which is preloaded into the ranks and
// records what they call. It owns the layout of the memory that both share, the form of a record, and how it is read.
// What a record means for anybody's analysis it does not know, and neither does the C: that writes down arguments as
// core/abi's table describes them.
//
// The memory is one memfd for the job: a page for all (job words), then a part for each rank, which holds words, the
// objects that the process has loaded, and a ring of 64-bit words. A record in the ring:
//
//	0  function | flags << 16 | number of words << 32     the function's index in abi.Functions()
//	1  number of the thread, from 0
//	2  time of entry, CLOCK_MONOTONIC in ns
//	3  time of return; 0 in a record of the entry
//	4  address that the call returns to
//	5  what the call returned, extended by its sign; 0 in a record of the entry
//	6  the inputs in the order of the table, then, unless it is a record of the entry, the outputs
//
// A parameter that is both stands in both: before and after. Which form a parameter has in which of the two, Plan says
// for both languages: the generator in core/abi/gen writes the wrappers by it, and the decoder reads by it. A word is a
// number, a handle, an address. A list is a word with the number of its elements, and in its upper half a State, and
// then the elements: each a word, those of statuses four. A text is a list whose number is that of bytes, which follow
// eight to a word.
//
// Calls that wait have a record when they are entered if the mode asks for it, which ends before the outputs. A record
// is complete when its first word is not zero: that is stored last, and what has been read is made zero again.
package insight
