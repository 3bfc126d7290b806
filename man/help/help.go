// Package help parses the texts that the tools print for --help, from which man/gen makes manual pages and shell
// completion. The texts are the only description of the options.
//
// A text begins with "usage:". A paragraph that begins with a word and a colon has a title. Options are rows:
//
//	-n, -np, -c N           start N processes
//
// A comma separates names of the same option, a semicolon other options. Words after the last name describe its values.
// "A|B" lists the possible values. A value that must follow a "=" or ":" is written so: "--stats=FILE". Names and text
// are at least two blanks apart, or the text begins in the next line.
package help

import "strings"

// Text is a parsed text.
type Text struct {
	Usage  []string
	Blocks []Block
}

// Block is a paragraph, or a row of options with its description.
type Block struct {
	Title string // of a paragraph, or of the group that begins with this row of options
	Head  string // names of the options as the text shows them; "" in a paragraph
	Text  string
}

// Option is an option.
type Option struct {
	Names []string // with dashes
	// The values that follow the name. Each is a description such as FILE, or the possible values, "A|B".
	Values []string
	// "=" or ":" if the value must follow this sign and not a blank; "" otherwise. An option with an optional value
	// is two Options.
	Sign string
	Text string
}

// Parse parses a text.
func Parse(text string) (t Text) {
	title := "" // of the next block
	inUsage, newBlock := false, true
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		trimmed := strings.TrimSpace(line)
		usage, isUsage := strings.CutPrefix(line, "usage: ")
		form, _, _ := strings.Cut(trimmed, "  ") // of the command line, without a comment
		switch {
		case trimmed == "":
			inUsage, newBlock = false, true
		case isUsage:
			t.Usage = append(t.Usage, usage)
			inUsage = true
		case inUsage:
			t.Usage = append(t.Usage, form)
		case strings.HasPrefix(line, " ") && strings.HasSuffix(t.last().Head, ";"):
			t.last().Head += " " + trimmed
		case strings.HasPrefix(line, "  -"):
			head, description, _ := strings.Cut(trimmed, "  ")
			t.Blocks = append(t.Blocks, Block{title, head, strings.TrimSpace(description)})
			title, newBlock = "", false
		case strings.HasPrefix(line, " "):
			t.last().Text = strings.TrimSpace(t.last().Text + " " + trimmed)
		case strings.HasSuffix(line, ":") && newBlock && !strings.Contains(line, ". "):
			title = strings.TrimSuffix(line, ":")
		case newBlock || t.last().Head != "":
			b := Block{title, "", line}
			if word, rest, found := strings.Cut(line, ": "); found && len(word) < 20 && title == "" {
				b.Title, b.Text = word, rest
			}
			t.Blocks = append(t.Blocks, b)
			title, newBlock = "", false
		default:
			t.last().Text += " " + line
		}
	}
	return t
}

// last returns the last block, or an empty one.
func (t *Text) last() *Block {
	if len(t.Blocks) == 0 {
		return &Block{}
	}
	return &t.Blocks[len(t.Blocks)-1]
}

// Options returns all options of the text.
func (t *Text) Options() (list []Option) {
	for _, b := range t.Blocks {
		for _, row := range strings.Split(b.Head, "; ") {
			if row != "" {
				list = append(list, options(row, b.Text)...)
			}
		}
	}
	return list
}

// options returns the options of a row without semicolons: one, and others for names with attached values.
func options(row, text string) (list []Option) {
	o := Option{Text: text}
	for _, name := range strings.Split(row, ", ") {
		words := strings.Fields(name)
		name = words[0]
		o.Values = append(o.Values, words[1:]...)
		if i := strings.IndexAny(name, "=:"); i > 0 {
			list = append(list, Option{Names: []string{name[:i]}, Values: []string{name[i+1:]},
				Sign: name[i : i+1], Text: text})
			continue
		}
		o.Names = append(o.Names, name)
	}
	if len(o.Names) > 0 {
		list = append([]Option{o}, list...)
	}
	return list
}
