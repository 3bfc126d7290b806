// Package random owns the access to random bytes of the system. Unlike crypto/rand, it returns an error if the system
// provides no random bytes. It also works if getrandom(2) alone is denied, for example by the seccomp profile of a
// container. It must not depend on the use of the bytes.
package random

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Read fills b with random bytes. Precondition: len(b) <= 256.
func Read(b []byte) error {
	n, denied := unix.Getrandom(b, 0)
	if denied == nil && n == len(b) {
		return nil
	}
	device, err := os.Open("/dev/urandom")
	if err == nil {
		defer device.Close()
		_, err = io.ReadFull(device, b)
	}
	if err != nil {
		return fmt.Errorf("cannot read random bytes: getrandom: %v, and %w", denied, err)
	}
	return nil
}

// Text returns a string of 128 random bits in hexadecimal, which cannot be guessed.
func Text() (string, error) {
	var b [16]byte
	err := Read(b[:])
	return hex.EncodeToString(b[:]), err
}
