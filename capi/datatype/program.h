// The nodes of a type's program (datatype.h), for the files of this directory. core/datatype/format.go explains the
// kinds of nodes, and defines the same numbers for Go.
#ifndef GOMPI_PROGRAM_H
#define GOMPI_PROGRAM_H

enum { NODE_BLOCK = 1, NODE_LOOP, NODE_LIST, NODE_BLOCKS, NODE_SEQ };

// Word indices in a node. Word 0 is the kind of the node. NODE_STRIDE and LOOP_CHILD belong to NODE_LOOP, LIST_CHILD
// and LIST_DISP (first displacement) to NODE_LIST, and NODE_DISP (first displacement) to NODE_BLOCKS and NODE_SEQ.
enum { NODE_SIZE = 1, NODE_N = 2, NODE_STRIDE = 3, LOOP_CHILD = 4, LIST_CHILD = 3, LIST_DISP = 4, NODE_DISP = 3 };

// Number of words of a node. LIST_WORDS does not include the displacements.
enum { BLOCK_WORDS = 2, LOOP_WORDS = 5, LIST_WORDS = 4 };

#endif
