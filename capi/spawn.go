package main

/*
#include "comm/parent.h"
*/
import "C"

import (
	"strconv"
	"time"
	"unsafe"

	"gompirma/core"
	"gompirma/core/abi"
	"gompirma/core/boot/pmi1"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// Dynamic processes (MPI-5.0 11.8 to 11.10).

// storeParent creates the descriptor of the intercommunicator with the parents of this job, if there are any.
func storeParent(p *core.Instance) error {
	if p.Parent == nil {
		return nil
	}
	var h uintptr
	p.Parent.Errhandler = p.WorldComm.Errhandler
	if err := storeComm(p.Parent, uintptr(unsafe.Pointer(&h))); err != nil {
		return err
	}
	p.Parent = nil
	C.gompi_comm_set_parent(C.uintptr_t(h))
	return nil
}

// stringsOf returns the strings of an array of C that ends with NULL; none if the array is NULL.
func stringsOf(array uintptr) (all []string) {
	for at := array; at != 0; at += unsafe.Sizeof(at) {
		s := *out[uintptr](at)
		if s == 0 {
			break
		}
		all = append(all, cString(s))
	}
	return all
}

// rootError returns an error if root is not a rank of the communicator.
func rootError(c *comm.Comm, root int32) error {
	if root >= 0 && int(root) < c.Size() {
		return nil
	}
	return mpierr.New(abi.MPI_ERR_RANK, "root is %d; valid ranks are 0 to %d", root, c.Size()-1)
}

// spawnPart returns the description of the processes of one command, and checks the arguments of the call.
func spawnPart(command, argv uintptr, n int32, info uintptr) (part pmi1.SpawnPart, soft core.Soft, err error) {
	if err := checkInfo(info); err != nil {
		return part, nil, err
	}
	if command == 0 || cString(command) == "" {
		return part, nil, mpierr.New(abi.MPI_ERR_ARG, "the command is NULL or empty")
	}
	if n < 0 {
		return part, nil, mpierr.New(abi.MPI_ERR_ARG, "the number of processes is %d; it must not be negative",
			n)
	}
	part = pmi1.SpawnPart{Command: cString(command), Args: stringsOf(argv), N: int(n)}
	soft, err = core.ApplySpawnKeys(&part, func(key string) (string, error) { return infoValue(info, key) })
	return part, soft, err
}

// spawn executes MPI_Comm_spawn or MPI_Comm_spawn_multiple. The function add is called at the root only, and adds the
// commands. If the call fails, all elements of errcodes that this process can know are set.
func spawn(function string, root int32, h, intercomm, errcodes uintptr, add func(s *core.Spawning) error) int32 {
	return onComm(function, h, func(c *comm.Comm) error {
		if err := checkNotNull("intercomm", intercomm); err != nil {
			return err
		}
		*out[uintptr](intercomm) = abi.MPI_COMM_NULL
		if err := needIntra(c); err != nil {
			return err
		}
		if err := rootError(c, root); err != nil {
			return err
		}
		all := &core.Spawning{}
		failedPart := -1
		n, started, err := core.Self().Spawn(c, int(root), func() (*core.Spawning, error) {
			err := add(all)
			total := 0
			for _, p := range all.Parts {
				total += p.N
			}
			if err == nil && total == 0 {
				err = mpierr.New(abi.MPI_ERR_ARG, "the number of processes is 0; it must be at least 1")
			}
			return all, err
		}, &failedPart)
		if started == nil {
			for i, p := range all.Parts {
				one := core.SpawnCount{Requested: p.N}
				if failedPart >= 0 && i != failedPart {
					one.Count = p.N
				}
				started = append(started, one)
			}
		}
		putErrcodes(errcodes, started)
		if err != nil {
			return err
		}
		n.Errhandler = inheritErrhandler(c)
		return storeComm(n, intercomm)
	})
}

// putErrcodes stores the error code of each requested process: MPI_SUCCESS for those that have been started.
func putErrcodes(at uintptr, started []core.SpawnCount) {
	for _, part := range started {
		if at == abi.MPI_ERRCODES_IGNORE {
			break
		}
		codes := slice[int32](at, part.Requested)
		for i := range codes {
			codes[i] = abi.MPI_SUCCESS
			if i >= part.Count {
				codes[i] = abi.MPI_ERR_SPAWN
			}
		}
		at += uintptr(4 * part.Requested)
	}
}

//export gompi_comm_spawn
func gompi_comm_spawn(command, argv uintptr, n int32, info uintptr, root int32, h, intercomm, errcodes uintptr) int32 {
	return spawn("MPI_Comm_spawn", root, h, intercomm, errcodes, func(s *core.Spawning) error {
		part, soft, err := spawnPart(command, argv, n, info)
		s.Parts, s.Soft = []pmi1.SpawnPart{part}, []core.Soft{soft}
		return err
	})
}

//export gompi_comm_spawn_multiple
func gompi_comm_spawn_multiple(count int32, commands, argvs, numbers, infos uintptr, root int32, h, intercomm,
	errcodes uintptr) int32 {
	return spawn("MPI_Comm_spawn_multiple", root, h, intercomm, errcodes, func(s *core.Spawning) error {
		if count < 1 {
			return mpierr.New(abi.MPI_ERR_ARG, "count is %d; it must be at least 1", count)
		}
		if err := checkNotNull("array_of_commands, array_of_maxprocs or array_of_info", commands, numbers,
			infos); err != nil {
			return err
		}
		for i := range int(count) {
			argv := uintptr(0)
			if argvs != abi.MPI_ARGVS_NULL {
				argv = slice[uintptr](argvs, int(count))[i]
			}
			part, soft, err := spawnPart(slice[uintptr](commands, int(count))[i], argv,
				slice[int32](numbers, int(count))[i], slice[uintptr](infos, int(count))[i])
			if err != nil {
				return err
			}
			s.Parts, s.Soft = append(s.Parts, part), append(s.Soft, soft)
		}
		return nil
	})
}

//export gompi_open_port
func gompi_open_port(info, name uintptr) int32 {
	return runNoObject("MPI_Open_port", func() error {
		p, err := ensure()
		if err == nil {
			err = checkNotNull("port_name", name)
		}
		if err == nil {
			err = checkInfo(info)
		}
		if err != nil {
			return err
		}
		port, err := p.OpenPort()
		if err == nil {
			putString(name, port, abi.MPI_MAX_PORT_NAME)
		}
		return err
	})
}

//export gompi_close_port
func gompi_close_port(name uintptr) int32 {
	return runNoObject("MPI_Close_port", func() error {
		p, err := ensure()
		if err == nil {
			err = checkNotNull("port_name", name)
		}
		if err != nil {
			return err
		}
		return p.ClosePort(cString(name))
	})
}

// timeoutOf returns the value of the info key timeout, which is a number of seconds; 0 if the key is not set.
func timeoutOf(info uintptr) (time.Duration, error) {
	text, err := infoValue(info, "timeout")
	if text == "" || err != nil {
		return 0, err
	}
	seconds, err := strconv.ParseUint(text, 10, 31)
	if err != nil || seconds == 0 {
		return 0, mpierr.New(abi.MPI_ERR_INFO_VALUE, "timeout is %q; it must be a number of seconds above 0",
			text)
	}
	return time.Duration(seconds) * time.Second, nil
}

// acceptOrConnect executes MPI_Comm_accept or MPI_Comm_connect, with the method f of the instance.
func acceptOrConnect(function string, name, info uintptr, root int32, h, newcomm uintptr,
	f func(p *core.Instance, c *comm.Comm, root int, choose func() (core.PortChoice, error)) (*comm.Comm,
		error)) int32 {
	return newComm(function, h, abi.MPI_INFO_NULL, newcomm, func(c *comm.Comm) (*comm.Comm, error) {
		if err := needIntra(c); err != nil {
			return nil, err
		}
		if err := rootError(c, root); err != nil {
			return nil, err
		}
		return f(core.Self(), c, int(root), func() (core.PortChoice, error) {
			err := checkInfo(info)
			if err == nil {
				err = checkNotNull("port_name", name)
			}
			if err != nil {
				return core.PortChoice{}, err
			}
			limit, err := timeoutOf(info)
			return core.PortChoice{Name: cString(name), Timeout: limit}, err
		})
	})
}

//export gompi_comm_accept
func gompi_comm_accept(name, info uintptr, root int32, h, newcomm uintptr) int32 {
	return acceptOrConnect("MPI_Comm_accept", name, info, root, h, newcomm, (*core.Instance).Accept)
}

//export gompi_comm_connect
func gompi_comm_connect(name, info uintptr, root int32, h, newcomm uintptr) int32 {
	return acceptOrConnect("MPI_Comm_connect", name, info, root, h, newcomm, (*core.Instance).Connect)
}

//export gompi_comm_join
func gompi_comm_join(fd int32, intercomm uintptr) int32 {
	return runNoObject("MPI_Comm_join", func() error {
		p, err := ensure()
		if err == nil {
			err = checkNotNull("intercomm", intercomm)
		}
		if err != nil {
			return err
		}
		*out[uintptr](intercomm) = abi.MPI_COMM_NULL
		n, err := p.Join(int(fd))
		if err != nil {
			return err
		}
		n.Errhandler = abi.MPI_ERRORS_ARE_FATAL
		return storeComm(n, intercomm)
	})
}

// onNames executes an MPI call on published names. The function f receives the instance.
func onNames(function string, arguments []uintptr, info uintptr, f func(p *core.Instance) error) int32 {
	return runNoObject(function, func() error {
		p, err := ensure()
		if err == nil {
			err = checkNotNull("service_name or port_name", arguments...)
		}
		if err == nil {
			err = checkInfo(info)
		}
		if err != nil {
			return err
		}
		return f(p)
	})
}

//export gompi_publish_name
func gompi_publish_name(service, info, port uintptr) int32 {
	return onNames("MPI_Publish_name", []uintptr{service, port}, info, func(p *core.Instance) error {
		scope, err := infoValue(info, core.NameScopeKey)
		if err != nil {
			return err
		}
		return p.PublishName(cString(service), cString(port), scope)
	})
}

//export gompi_lookup_name
func gompi_lookup_name(service, info, port uintptr) int32 {
	return onNames("MPI_Lookup_name", []uintptr{service, port}, info, func(p *core.Instance) error {
		found, err := p.LookupName(cString(service))
		if err == nil {
			putString(port, found, abi.MPI_MAX_PORT_NAME)
		}
		return err
	})
}

//export gompi_unpublish_name
func gompi_unpublish_name(service, info, port uintptr) int32 {
	return onNames("MPI_Unpublish_name", []uintptr{service, port}, info, func(p *core.Instance) error {
		return p.UnpublishName(cString(service))
	})
}
