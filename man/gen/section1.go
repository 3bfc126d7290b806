package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gompirma/core/version"
	"gompirma/man/help"
)

// tool is a program with a page in section 1. man/tools has a text for each page, with more than --help prints.
type tool struct {
	page    string
	names   []string // programs with this page; the first one is run for its help
	path    string   // below the prefix
	args    []string // that print the help; nil if the program has no options
	program bool     // the completion ends at a program, whose arguments follow
}

var tools = []tool{
	{"gompirun", []string{"gompirun"}, "bin/gompirun", []string{"--help"}, true},
	{"gompirun-report", []string{"gompirun"}, "bin/gompirun", []string{"report", "--help"}, false},
	{"gompicc", []string{"gompicc", "gompicc_abi"}, "bin/gompicc", []string{"-showme:help"}, false},
	{"gompicxx", []string{"gompicxx", "gompicxx_abi"}, "bin/gompicxx", []string{"-showme:help"}, false},
	{"gompifort", []string{"gompifort", "gompifort_abi"}, "bin/gompifort", []string{"-showme:help"}, false},
	{"gompi-info", []string{"gompi-info"}, "bin/gompi-info", []string{"--help"}, false},
	{"gompi-fabric", []string{"gompi-fabric"}, "", nil, false},
}

// toolFiles adds the pages of section 1 and the completions of shells. Prefix is the directory of the installed tools.
func toolFiles(root, prefix, date string, files map[string][]byte, links map[string]string) error {
	functions, err := os.ReadFile(filepath.Join(root, "man/tools/completion.bash"))
	if err != nil {
		return err
	}
	for _, t := range tools {
		var text help.Text
		if t.args != nil {
			out, err := exec.Command(filepath.Join(prefix, t.path), t.args...).Output()
			if err != nil {
				return fmt.Errorf("%s %s: %w", t.path, strings.Join(t.args, " "), err)
			}
			text = help.Parse(string(out))
			if len(text.Blocks) == 0 {
				return fmt.Errorf("%s %s prints no options", t.path, strings.Join(t.args, " "))
			}
		}
		page, err := toolPage(root, date, t, &text)
		if err != nil {
			return err
		}
		files["man/man1/"+t.page+".1"] = page
		for _, name := range t.names {
			if name != t.page && name != t.names[0] {
				links["man/man1/"+name+".1"] = t.page + ".1"
			}
		}
		if t.page != t.names[0] || t.args == nil {
			continue // completed as an argument, or not started by users
		}
		files["bash-completion/completions/"+t.page] = bashCompletion(t, text.Options(), functions)
		files["zsh/site-functions/_"+t.page] = zshCompletion(t, text.Options())
		for _, name := range t.names[1:] {
			links["bash-completion/completions/"+name] = t.page
		}
	}
	return nil
}

// toolPage makes a page of a tool's help and of the page's file in man/tools, in which {usage} and {options} stand for
// what --help prints.
func toolPage(root, date string, t tool, text *help.Text) ([]byte, error) {
	r := &roff{}
	names := []string{t.page}
	if t.page == t.names[0] {
		names = t.names
	}
	err := r.page(root, t.page, 1, date, names, map[string]func(){
		"{usage}": func() {
			for i, line := range text.Usage {
				if i > 0 {
					r.line(".br")
				}
				for _, l := range wrapWords(code(line), 78) {
					r.line("%s", l)
				}
			}
		},
		"{options}": func() { r.options(text) },
	})
	return r.Bytes(), err
}

// page writes the page of the file `name` in man/tools. The file has the summary in its first line, and then sections:
// a line "== TITLE" and blocks of text as in man/text. A block that is a key of insert stands for what the function
// writes.
func (r *roff) page(root, name string, section int, date string, names []string, insert map[string]func()) error {
	source, err := os.ReadFile(filepath.Join(root, "man/tools", name+".txt"))
	if err != nil {
		return err
	}
	summary, rest, _ := strings.Cut(string(source), "\n")
	r.head(name, section, date, version.String, "gompirma")
	r.section("NAME")
	r.line("%s \\- %s", strings.Join(names, ", "), plain(summary))
	for _, part := range strings.Split(rest, "\n== ")[1:] {
		title, body, _ := strings.Cut(part, "\n")
		r.section(title)
		var blocks []string
		for _, block := range joined(body) {
			if insert[block] == nil {
				blocks = append(blocks, block)
				continue
			}
			r.blocks(blocks)
			blocks = nil
			insert[block]()
		}
		r.blocks(blocks)
	}
	return nil
}

// options writes the options of a help text, and its paragraphs.
func (r *roff) options(text *help.Text) {
	for i, b := range text.Blocks {
		if b.Title == "Exit status" {
			r.section("EXIT STATUS")
		} else if b.Title != "" {
			r.line(".SS %s", code(b.Title))
		} else if b.Head == "" && i > 0 {
			r.line(".PP")
		}
		if b.Head == "" {
			r.text(capitalized(b.Text))
			continue
		}
		r.line(".TP")
		r.line(`\fB%s\fR`, code(b.Head))
		if b.Text != "" {
			r.text(b.Text)
		}
	}
}
