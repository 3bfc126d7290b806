package pmi1

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
)

// Further requests that only gompirun answers. Texts are in base64, because values must not contain spaces:
//
//	cmd=spawn spec=SPEC                         cmd=spawn_result rc=0 first=N apart=B, or
//	                                            rc=-1 part=I reason=TEXT most=N
//	cmd=spawn_done parent=P connected=B         no answer
//	cmd=publish_name service=S port=P           cmd=publish_result rc=0, or rc=-1 msg=name_exists
//	cmd=lookup_name service=S                   cmd=lookup_result rc=0 port=P, or rc=-1 msg=no_such_name
//	cmd=unpublish_name service=S                cmd=unpublish_result rc=0, or rc=-1 msg=no_such_name

// SpawnPart describes processes of one program that a process starts.
type SpawnPart struct {
	Command string
	Args    []string
	N       int      // number of processes
	Dir     string   // working directory; "" for that of the launcher
	Path    string   // directories in which the program is searched; "" for the variable PATH
	Env     []string // additional variables, as NAME=VALUE
	// Placement, as the options of gompirun have it; "" for the host of the launcher.
	Hosts    string `json:",omitempty"` // host[:slots],...
	HostFile string `json:",omitempty"` // file with a list of hosts
	MapBy    string `json:",omitempty"` // value of --map-by
}

// Spawn describes the processes that a process starts together. They form a job of their own.
type Spawn struct {
	Parts  []SpawnPart
	Parent string // value that the new processes receive in the variable EnvParent of core/boot
	// Apart means that the processes get a memory of their own, and do not share that of the process that starts
	// them. The launcher sets it if it starts processes on other hosts. The processes then receive Port instead of
	// Parent.
	Apart bool
	Port  string `json:",omitempty"` // "" if no part has a placement and Apart is not set
}

// EndedName returns the name that the launcher publishes if processes end that have been started with the given port,
// and with Apart. The value is the reason, or empty.
func EndedName(port string) string { return "ended:" + port }

// ConnectedName returns the name that the process publishes when processes that it has started with the given port have
// connected to it.
func ConnectedName(port string) string { return "connected:" + port }

// SpawnError is an error of a request to start processes.
type SpawnError struct {
	Part   int // index of the part that cannot be started; -1 if all parts are affected
	Reason string
	Most   int // number of processes that could be started; 0 if the number is not the reason
}

func (e *SpawnError) Error() string { return e.Reason }

func encode(text []byte) string          { return base64.RawURLEncoding.EncodeToString(text) }
func decode(text string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(text) }

// Spawn asks the launcher to start processes, and returns the number of the first one. Errors: *SpawnError if the
// launcher cannot start them; it has then started none. It sets s.Apart if the processes have a memory of their own.
func (c *Client) Spawn(s *Spawn) (first int, err error) {
	spec, err := json.Marshal(s)
	if err != nil {
		return 0, err
	}
	m := New("spawn", "spec", encode(spec))
	if len(m.String()) > MaxLine {
		return 0, &SpawnError{Part: -1, Reason: "the commands, arguments and info values are too long for " +
			"the launcher"}
	}
	answer, err := c.request(m, "spawn_result")
	if err != nil {
		return 0, err
	}
	if rc, _ := answer.Value("rc"); rc != "0" {
		part, err := answer.Int("part")
		if err != nil {
			part = -1
		}
		text, ok := answer.Value("reason")
		reason, _ := decode(text)
		if !ok {
			reason = []byte("this gompirun cannot start processes: the job has several nodes")
		}
		most, err := answer.Int("most")
		if err != nil {
			most = 0
		}
		return 0, &SpawnError{part, string(reason), most}
	}
	apart, _ := answer.Value("apart")
	s.Apart = s.Apart || apart == "true"
	return answer.Int("first")
}

// SpawnDone reports to the launcher whether this process has connected to the processes that were started with a value
// of Parent or, if they have a memory of their own, of Port. The launcher ends these processes if `connected` is false.
// It also ends them if this process fails before it calls SpawnDone. SpawnDone waits for no answer.
func (c *Client) SpawnDone(parent string, connected bool) error {
	return c.send(New("spawn_done", "parent", encode([]byte(parent)), "connected", strconv.FormatBool(connected)))
}

// ErrName is the error of a name that exists already (Publish), or does not exist (Lookup, Unpublish).
var ErrName = errors.New("the name exists already, or does not exist")

// Publish stores a port under a service name. Errors: ErrName if the name exists.
func (c *Client) Publish(service, port string) error {
	_, err := c.nameRequest(New("publish_name", "service", encode([]byte(service)), "port", encode([]byte(port))),
		"publish_result")
	return err
}

// Lookup returns the port that is stored under a service name. Errors: ErrName if the name does not exist.
func (c *Client) Lookup(service string) (port string, err error) {
	answer, err := c.nameRequest(New("lookup_name", "service", encode([]byte(service))), "lookup_result")
	if err != nil {
		return "", err
	}
	text, _ := answer.Value("port")
	b, err := decode(text)
	return string(b), err
}

// Unpublish removes a service name. Errors: ErrName if it does not exist.
func (c *Client) Unpublish(service string) error {
	_, err := c.nameRequest(New("unpublish_name", "service", encode([]byte(service))), "unpublish_result")
	return err
}

func (c *Client) nameRequest(m Message, expected string) (Message, error) {
	answer, err := c.request(m, expected)
	if rc, _ := answer.Value("rc"); err == nil && rc != "0" {
		err = ErrName
	}
	return answer, err
}

// spawn answers cmd=spawn.
func (s *Server) spawn(rank int, m Message) error {
	if s.cfg.Spawn == nil {
		return s.answer(rank, result("spawn_result", "unknown_command"))
	}
	text, _ := m.Value("spec")
	spec, err := decode(text)
	var what Spawn
	if err == nil {
		err = json.Unmarshal(spec, &what)
	}
	if err != nil {
		return s.answer(rank, New("spawn_result", "rc", "-1", "part", "-1", "reason",
			encode([]byte("the request is invalid"))))
	}
	first, failure := s.cfg.Spawn(rank, &what)
	if failure != nil {
		return s.answer(rank, New("spawn_result", "rc", "-1", "part", strconv.Itoa(failure.Part), "reason",
			encode([]byte(failure.Reason)), "most", strconv.Itoa(failure.Most)))
	}
	return s.answer(rank, New("spawn_result", "rc", "0", "first", strconv.Itoa(first), "apart",
		strconv.FormatBool(what.Apart)))
}

// spawnDone handles cmd=spawn_done.
func (s *Server) spawnDone(m Message) error {
	text, _ := m.Value("parent")
	connected, _ := m.Value("connected")
	parent, err := decode(text)
	if s.cfg.SpawnDone != nil && err == nil {
		s.cfg.SpawnDone(string(parent), connected == "true")
	}
	return err
}

// Names is a table of published names, which several servers may share.
type Names struct {
	mu    sync.Mutex
	ports map[string]string
}

// NewNames returns an empty table.
func NewNames() *Names { return &Names{ports: map[string]string{}} }

// Publish publishes a port under a service name, on behalf of the launcher.
func (n *Names) Publish(service, port string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ports[encode([]byte(service))] = encode([]byte(port))
}

// Has returns whether a name is published.
func (n *Names) Has(service string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, exists := n.ports[encode([]byte(service))]
	return exists
}

// Take removes a published name, and returns whether it existed.
func (n *Names) Take(service string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, exists := n.ports[encode([]byte(service))]
	delete(n.ports, encode([]byte(service)))
	return exists
}

// name answers the requests on published names.
func (s *Server) name(rank int, m Message) error {
	service, _ := m.Value("service")
	port, _ := m.Value("port")
	if s.cfg.Names == nil {
		return s.answer(rank, result(m.Cmd+"_result", "unknown_command"))
	}
	s.cfg.Names.mu.Lock()
	known, exists := s.cfg.Names.ports[service]
	switch {
	case m.Cmd == "publish_name" && !exists:
		s.cfg.Names.ports[service] = port
	case m.Cmd == "unpublish_name":
		delete(s.cfg.Names.ports, service)
	}
	s.cfg.Names.mu.Unlock()
	switch {
	case m.Cmd == "publish_name" && exists:
		return s.answer(rank, result("publish_result", "name_exists"))
	case m.Cmd == "publish_name":
		return s.answer(rank, result("publish_result", ""))
	case !exists:
		return s.answer(rank, result(m.Cmd[:len(m.Cmd)-len("_name")]+"_result", "no_such_name"))
	case m.Cmd == "lookup_name":
		return s.answer(rank, New("lookup_result", "rc", "0", "port", known))
	}
	return s.answer(rank, result("unpublish_result", ""))
}
