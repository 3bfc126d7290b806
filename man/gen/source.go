package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gompirma/core/abi"
)

// page is the text of one page of section 3. The format of its source is described in man/README.md.
type page struct {
	names   []string // functions, without large-count forms; the first one names the file
	summary string
	body    []string // blocks of DESCRIPTION
	waits   string   // when the call returns, and for which processes it waits
	args    map[string]string
	errs    []entry
	noErrs  []string
	notes   []string
	example string
	see     []string
	family  *family
	where   string // file and line of the source
}

type entry struct{ name, text string }

// family holds what the pages of a family have in common.
type family struct {
	page
	members []*page
	// Descriptions of parameters for all families.
	defaults map[string]string
}

var directive = regexp.MustCompile(`^(arg|err|define) (\w+): (.*)$|^(noerr|note|example|see|waits):() (.*)$`)

// defaults is the title of the family whose descriptions of parameters apply to all pages.
const defaults = "Defaults"

// readPages parses all files of man/text.
func readPages(root string) ([]*page, error) {
	paths, err := filepath.Glob(filepath.Join(root, "man/text/*.txt"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var all []*page
	args := map[string]string{} // of the family `defaults`
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		list, err := parsePages(filepath.Base(path), string(source), args)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// parsePages parses a file of man/text. The pages share the default descriptions of parameters in args.
func parsePages(file, source string, args map[string]string) (pages []*page, err error) {
	defines := map[string]string{}
	var fam *family
	var at *page // the page or family to which lines are added
	for i, block := range joined(source) {
		where := fmt.Sprintf("man/text/%s, block %d (%.40q)", file, i+1, block)
		if title, ok := strings.CutPrefix(block, "## "); ok {
			fam = &family{page: page{args: map[string]string{}, summary: title}, defaults: args}
			if title == defaults {
				fam.args = args
			}
			at = &fam.page
			continue
		}
		if names, ok := strings.CutPrefix(block, "== "); ok {
			if fam == nil {
				return nil, fmt.Errorf("%s: no family before the page", where)
			}
			at = &page{names: strings.Fields(names), args: map[string]string{}, family: fam, where: where}
			fam.members = append(fam.members, at)
			pages = append(pages, at)
			continue
		}
		m := directive.FindStringSubmatch(block)
		var word, name, text string
		if m != nil {
			word, name, text = m[1]+m[4], m[2], m[3]+m[6]
		}
		if word == "define" {
			defines[name] = text
			continue
		}
		if at == nil {
			return nil, fmt.Errorf("%s: text outside of a page", where)
		}
		if word == "" {
			if len(at.names) > 0 && at.summary == "" {
				at.summary = block
				continue
			}
			if name, ok := strings.CutPrefix(block, "use: "); ok {
				if defines[name] == "" {
					return nil, fmt.Errorf("%s: no definition of %s", where, name)
				}
				block = strings.ReplaceAll(defines[name], "NAME", at.names[0])
			}
			at.body = append(at.body, block)
			continue
		}
		switch word {
		case "arg":
			at.args[name] = text
		case "err":
			at.errs = append(at.errs, entry{name, text})
		case "noerr":
			at.noErrs = append(at.noErrs, strings.Fields(text)...)
		case "note":
			at.notes = append(at.notes, text)
		case "example":
			at.example = text
		case "see":
			at.see = append(at.see, strings.Fields(text)...)
		case "waits":
			at.waits = text
		}
	}
	return pages, nil
}

// joined splits a source into blocks. Lines of a block are joined to one paragraph, except those of lists and of
// verbatim text. A block ends at an empty line, at a heading, or where a directive begins.
func joined(source string) (blocks []string) {
	block := ""
	flush := func() {
		if block != "" {
			blocks = append(blocks, block)
		}
		block = ""
	}
	for _, line := range strings.Split(source, "\n") {
		switch {
		case line == "":
			if !strings.HasPrefix(block, "    ") {
				flush()
			} else {
				block += "\n    "
			}
		case strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "## "):
		case strings.HasPrefix(line, "use: "):
			flush()
			block = line
			flush()
		case strings.HasPrefix(line, "## "), strings.HasPrefix(line, "== "):
			flush()
			block = line
		case directive.MatchString(line):
			flush()
			block = line
		case block == "":
			block = line
		case strings.HasPrefix(block, "    ") && !strings.HasPrefix(line, "    "):
			block = strings.TrimRight(block, " \n")
			flush()
			block = line
		case strings.HasPrefix(line, "- "), strings.HasPrefix(block, "    "):
			if !strings.HasPrefix(block, "- ") && !strings.HasPrefix(block, "    ") {
				flush()
				block = line
				break
			}
			block += "\n" + line
		default:
			block += " " + strings.TrimSpace(line)
		}
	}
	flush()
	for i := range blocks {
		blocks[i] = strings.TrimRight(blocks[i], " \n")
	}
	return blocks
}

// describable returns the function called name: of the ABI, removed, or a conversion for Fortran, which has no row in
// the table. The latter is nil, true.
func describable(name string) (*abi.Function, bool) {
	if f := abi.FunctionByName(name); f != nil {
		return f, true
	}
	for _, f := range abi.Removed() {
		if f.Name == name {
			return f, true
		}
	}
	return nil, others()[name] != nil
}
