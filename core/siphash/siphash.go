// Package siphash owns the keyed hash siphash-2-4 of 64-bit words. Only a holder of the key can compute it. The file
// capi/base/siphash.h has the same function for C. Unlike the hashes of package crypto, it needs no static memory,
// which would count against a limit on the data segment. It must not depend on the use of the hash.
package siphash

import "math/bits"

// Sum returns the hash of fewer than 32 words.
func Sum(key [2]uint64, words ...uint64) uint64 {
	v := [4]uint64{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
		key[1] ^ 0x7465646279746573}
	round := func() {
		v[0] += v[1]
		v[1] = bits.RotateLeft64(v[1], 13) ^ v[0]
		v[0] = bits.RotateLeft64(v[0], 32)
		v[2] += v[3]
		v[3] = bits.RotateLeft64(v[3], 16) ^ v[2]
		v[0] += v[3]
		v[3] = bits.RotateLeft64(v[3], 21) ^ v[0]
		v[2] += v[1]
		v[1] = bits.RotateLeft64(v[1], 17) ^ v[2]
		v[2] = bits.RotateLeft64(v[2], 32)
	}
	add := func(word uint64) {
		v[3] ^= word
		round()
		round()
		v[0] ^= word
	}
	for _, w := range words {
		add(w)
	}
	add(uint64(8*len(words)) << 56)
	v[2] ^= 0xff
	for range 4 {
		round()
	}
	return v[0] ^ v[1] ^ v[2] ^ v[3]
}
