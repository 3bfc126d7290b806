package fuzz

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"gompirma/core/abi"
)

// Layout of the memory that the ranks share with this process, as in tests/c/fuzz/lockstep.c.
const (
	textSize   = 4080
	memberHead = 16
	words      = 2 * 72
)

// stages describes each stage of a rank, for messages.
var stages = []string{"before its first call", "in a call", "between calls", "waiting for the other ranks",
	"at its end"}

const inCall, ended = 1, 4

type rankState struct {
	stage, function  uint32
	call             uint64
	text             string
	made, done, held []uint32
}

func members(file []byte, ranks int) []rankState {
	functions := len(abi.Functions())
	size := memberHead + textSize + 12*functions + words
	if len(file) < size*ranks {
		return nil
	}
	list := make([]rankState, ranks)
	for r := range list {
		b := file[r*size : (r+1)*size]
		m := &list[r]
		m.stage, m.function = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		m.call = binary.LittleEndian.Uint64(b[8:])
		text := b[memberHead : memberHead+textSize]
		m.text = string(text[:bytes.IndexByte(append(text[:len(text):len(text)], 0), 0)])
		for k, counts := range []*[]uint32{&m.made, &m.done, &m.held} {
			for i := range functions {
				*counts = append(*counts, binary.LittleEndian.Uint32(b[memberHead+textSize+
					4*(k*functions+i):]))
			}
		}
	}
	return list
}

func (m *rankState) String() string {
	stage := "?"
	if int(m.stage) < len(stages) {
		stage = stages[m.stage]
	}
	return fmt.Sprintf("%s, call %d: %s", stage, m.call, m.text)
}
