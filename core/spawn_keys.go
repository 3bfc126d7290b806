package core

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"gompirma/core/abi"
	"gompirma/core/boot"
	"gompirma/core/boot/pmi1"
	"gompirma/core/mpierr"
)

// InfoLookup returns the value of an info key; "" if the key is not set.
type InfoLookup func(key string) (string, error)

// withFile returns a function that looks up a key by `lookup` and then in the file that the info key `file` names.
func (lookup InfoLookup) withFile() (InfoLookup, error) {
	path, err := lookup("file")
	if err != nil || path == "" {
		return lookup, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, mpierr.New(abi.MPI_ERR_INFO_VALUE, "file: %v", err)
	}
	inFile := map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok || key == "" {
			return nil, mpierr.New(abi.MPI_ERR_INFO_VALUE, "file: line %d of %s is not KEY=VALUE", i+1,
				path)
		}
		if before, isRepeated := inFile[key]; isRepeated {
			if key != "env" {
				return nil, mpierr.New(abi.MPI_ERR_INFO_VALUE, "file: line %d of %s repeats the key %s",
					i+1, path, key)
			}
			value = before + "\n" + value
		}
		inFile[key] = value
	}
	return func(key string) (string, error) {
		value, err := lookup(key)
		return cmp.Or(value, inFile[key]), err
	}, nil
}

// ApplySpawnKeys sets the fields of `part` that info keys of MPI_Comm_spawn determine (MPI-5.0 11.8.4). It returns the
// value of the key soft. Errors: MPI_ERR_INFO_VALUE, and those of `lookup`.
func ApplySpawnKeys(part *pmi1.SpawnPart, lookup InfoLookup) (soft Soft, err error) {
	if lookup, err = lookup.withFile(); err != nil {
		return nil, err
	}
	var hosts, mapBy, errhandler, env, allowed string
	for key, into := range map[string]*string{"wdir": &part.Dir, "path": &part.Path, "host": &part.Hosts,
		"hosts": &hosts, "hostfile": &part.HostFile, "map_by": &part.MapBy, "mapby": &mapBy, "soft": &allowed,
		"mpi_initial_errhandler": &errhandler, "env": &env} {
		if *into, err = lookup(key); err != nil {
			return nil, err
		}
	}
	part.Hosts, part.MapBy = cmp.Or(part.Hosts, hosts), cmp.Or(part.MapBy, mapBy)
	if part.HostFile != "" { // gompirun may have another working directory
		if part.HostFile, err = filepath.Abs(part.HostFile); err != nil {
			return nil, mpierr.New(abi.MPI_ERR_INFO_VALUE, "hostfile: %v", err)
		}
	}
	if allowed != "" {
		if soft, err = ParseSoft(allowed); err != nil {
			return nil, err
		}
	}
	if _, err := boot.InitialErrhandler(errhandler); err != nil {
		return nil, mpierr.New(abi.MPI_ERR_INFO_VALUE, "mpi_initial_errhandler: %v", err)
	}
	part.Env = append(part.Env, boot.EnvInitialErrhandler+"="+errhandler)
	for _, v := range strings.Split(env, "\n") {
		if strings.Contains(v, "=") {
			part.Env = append(part.Env, v)
		}
	}
	return soft, nil
}
