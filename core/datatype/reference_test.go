package datatype_test

import (
	"gompirma/core/datatype"
	"gompirma/core/datatype/reference"
)

func init() {
	datatype.SetSegments(reference.Segments)
	datatype.Pack, datatype.Unpack = reference.Pack, reference.Unpack
}
