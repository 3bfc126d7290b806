// The nodes of a type's program, for the files of this directory.
//
// A program is a flat, relocatable array of 64-bit words without addresses, so that a process can send it to another
// process to describe a target datatype. It consists of a head (struct gompi_type) and of nodes, one after another. A
// node refers only to nodes before it, so there are no cycles. A reference is the index of the node's first word.
//
// A node describes bytes relative to an address, its base. The first byte in typemap order is at the base. The packed
// size is the number of bytes that a node yields.
//
//     block    NODE_BLOCK  size                                        size bytes at base
//     loop     NODE_LOOP   size  count  stride  child                  child at base + i*stride, i < count
//     list     NODE_LIST   size  n  child  disp[n]                     child at base + disp[i]
//     blocks   NODE_BLOCKS size  n  disp[n]  prefix[n+1]               prefix[i+1]-prefix[i] bytes at base + disp[i]
//     seq      NODE_SEQ    size  n  disp[n]  prefix[n+1]  child[n]     child[i] at base + disp[i]
//
// The packed size before entry i is prefix[i], that of the node prefix[n]. Every node yields at least one byte and
// every n is at least 2. Each loop and list at least doubles the packed size. A child of a seq that is a list, and
// holds more than half of the packed size of the seq, is inlined: the seq gets the entries of the child. Therefore the
// depth is less than GOMPI_TYPE_MAX_DEPTH for any type.
//
// Adjacent bytes are merged into one block, whatever their element types, so that a copy moves as many bytes at once as
// possible. The nodes describe bytes; only the head has element types, which accumulates need.
//
// Elements of MPI_SHORT_INT, MPI_DOUBLE_INT and other pair types contain gaps, that is, bytes without data. So a type
// with such elements has two roots: `root` describes the bytes, and `elem_root` describes the elements including their
// gaps. For all other types with a common element type, both are the same node.
//
// GOMPI_TYPE_MAGIC is the first word of every program of a committed type; it changes with the format.
#ifndef GOMPI_PROGRAM_H
#define GOMPI_PROGRAM_H

enum { NODE_BLOCK = 1, NODE_LOOP, NODE_LIST, NODE_BLOCKS, NODE_SEQ };

// Word indices in a node. Word 0 is the kind of the node. NODE_STRIDE and LOOP_CHILD belong to NODE_LOOP, LIST_CHILD
// and LIST_DISP (first displacement) to NODE_LIST, and NODE_DISP (first displacement) to NODE_BLOCKS and NODE_SEQ.
enum { NODE_SIZE = 1, NODE_N = 2, NODE_STRIDE = 3, LOOP_CHILD = 4, LIST_CHILD = 3, LIST_DISP = 4, NODE_DISP = 3 };

// Number of words of a node. LIST_WORDS does not include the displacements.
enum { BLOCK_WORDS = 2, LOOP_WORDS = 5, LIST_WORDS = 4 };

#endif
