// Package random reads random bytes of the system. Unlike crypto/rand it returns an error where there are none, and
// finds them where getrandom(2) alone is denied, as by the seccomp profile of a container.
package random

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Read fills b, of at most 256 bytes.
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
		return fmt.Errorf("no random bytes: getrandom: %v, and %w", denied, err)
	}
	return nil
}

// Text returns a string that nobody can guess.
func Text() (string, error) {
	var b [16]byte
	err := Read(b[:])
	return hex.EncodeToString(b[:]), err
}
