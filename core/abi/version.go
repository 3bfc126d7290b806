package abi

import "strconv"

// The version of gompirma: the one place it is written. The generator copies it into the header, the build into soname and pkg-config.
const (
	VersionMajor = 0
	VersionMinor = 1
	VersionPatch = 0
)

// Version returns the version of gompirma as MAJOR.MINOR.PATCH.
func Version() string {
	return strconv.Itoa(VersionMajor) + "." + strconv.Itoa(VersionMinor) + "." + strconv.Itoa(VersionPatch)
}
