package core

import (
	"errors"
	"slices"

	"gompirma/core/abi"
	"gompirma/core/boot"
	"gompirma/core/boot/pmi1"
	"gompirma/core/mpierr"
)

// nameTable is a table of service names with the ports that they stand for.
type nameTable interface {
	Publish(service, port string) error
	Lookup(service string) (port string, err error)
	Unpublish(service string) error
}

// userNames is the table of the names that the jobs of a user on a machine know.
type userNames struct{}

func (userNames) Publish(service, port string) error    { return boot.PublishName(service, port) }
func (userNames) Lookup(service string) (string, error) { return boot.LookupName(service) }
func (userNames) Unpublish(service string) error        { return boot.UnpublishName(service) }

// jobNames is the table of the names that the jobs of one gompirun know.
type jobNames struct{ s boot.Spawner }

// serviceKey returns the key of a service name in gompirun's table, which also has other names.
func serviceKey(service string) string { return "service:" + service }

func (n jobNames) Publish(service, port string) error    { return n.s.Publish(serviceKey(service), port) }
func (n jobNames) Lookup(service string) (string, error) { return n.s.Lookup(serviceKey(service)) }
func (n jobNames) Unpublish(service string) error        { return n.s.Unpublish(serviceKey(service)) }

// nameTables returns the tables of names that this process can use. The first one has the default scope.
func (p *Instance) nameTables() (tables []nameTable, err error) {
	tables = []nameTable{userNames{}}
	if boot.HasSpawner(p.Boot) {
		s, err := p.spawner(abi.MPI_ERR_OTHER)
		if err != nil {
			return nil, err
		}
		tables = append(tables, jobNames{s})
		if boot.IsByGompirun(p.Boot) {
			slices.Reverse(tables)
		}
	}
	return tables, nil
}

// nameError converts an error of a table of names to an MPI error of the given class.
func nameError(err error, class int32, format string, args ...any) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pmi1.ErrName):
		return mpierr.New(class, format, args...)
	}
	return mpierr.New(abi.MPI_ERR_OTHER, "%v", err)
}

// PublishName implements MPI_Publish_name. With the scope "user", all jobs of the user on this machine know the name;
// with "job", all jobs of this gompirun. The default is "job" if the launcher is gompirun, else "user". Errors:
// MPI_ERR_SERVICE if the name is published already, MPI_ERR_INFO_VALUE if the scope is invalid.
func (p *Instance) PublishName(service, port, scope string) error {
	tables, err := p.nameTables()
	if err != nil {
		return err
	}
	table := tables[0]
	switch {
	case scope == "user":
		table = userNames{}
	case scope == "job" && table == nameTable(userNames{}):
		return mpierr.New(abi.MPI_ERR_INFO_VALUE, "%s is %q, which is possible only if the launcher is "+
			"gompirun", NameScopeKey, scope)
	case scope != "" && scope != "job":
		return mpierr.New(abi.MPI_ERR_INFO_VALUE, `%s is %q; valid values are "job" and "user"`, NameScopeKey, scope)
	}
	return nameError(table.Publish(service, port), abi.MPI_ERR_SERVICE,
		"the service name %.200q is published already", service)
}

// NameScopeKey is the info key of the scope of a published name.
const NameScopeKey = "gompirma_name_scope"

// LookupName implements MPI_Lookup_name: it returns the port that is published under a service name, in any scope.
// Errors: MPI_ERR_NAME if the name is not published.
func (p *Instance) LookupName(service string) (port string, err error) {
	tables, err := p.nameTables()
	for _, table := range tables {
		if port, err = table.Lookup(service); !errors.Is(err, pmi1.ErrName) {
			break
		}
	}
	return port, nameError(err, abi.MPI_ERR_NAME, "the service name %.200q is not published", service)
}

// UnpublishName implements MPI_Unpublish_name. A name with the scope "user" can be removed only by the process that has
// published it. Errors: MPI_ERR_SERVICE if there is no such name.
func (p *Instance) UnpublishName(service string) error {
	tables, err := p.nameTables()
	for _, table := range tables {
		if err = table.Unpublish(service); !errors.Is(err, pmi1.ErrName) {
			break
		}
	}
	return nameError(err, abi.MPI_ERR_SERVICE, "the service name %.200q is not published", service)
}
