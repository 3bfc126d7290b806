package comm

import (
	"gompirma/core/abi"
	"gompirma/core/group"
	"gompirma/core/mpierr"
)

func (c *Comm) dupInter(x Context, tag int32) (*Comm, error) { return nil, notYet() }
func (c *Comm) splitInter(color, key int32) (*Comm, error)   { return nil, notYet() }
func (c *Comm) createInter(g *group.Group) (*Comm, error)    { return nil, notYet() }

func notYet() error {
	return mpierr.New(abi.MPI_ERR_UNSUPPORTED_OPERATION, "on an intercommunicator")
}
