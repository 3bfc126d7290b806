// Command chart draws the results of `make bench`, as SVG and PNG:
//
//	go -C bench/chart run . FILE.json FOLDER [svg|png]
//
// It is a separate module, so that the library does not depend on the drawing packages.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// A report is the output of bench/compare with -json.
type report struct {
	Machine      string        `json:"machine"`
	Cores        int           `json:"cores"`
	Libraries    []string      `json:"libraries"`
	Measurements []measurement `json:"measurements"`
	Sweeps       []sweep       `json:"sweeps"`
}

// A measurement is one line of a table. Times are in nanoseconds.
type measurement struct {
	Name    string  `json:"name"`
	Label   string  `json:"label"`
	Part    string  `json:"part"`
	Unit    string  `json:"unit"`
	Ranks   int     `json:"ranks"`
	Goal    float64 `json:"goal"`
	Ratio   float64 `json:"ratio"`
	Series  string  `json:"series"`
	X       int     `json:"x"`
	Results map[string]struct {
		Median float64 `json:"median"`
	} `json:"results"`
}

// A sweep summarizes the measurements of one operation over message sizes: Ratio is the median of their ratios, Worst
// the lowest ratio.
type sweep struct {
	Label string  `json:"label"`
	Part  string  `json:"part"`
	Ratio float64 `json:"ratio"`
	Worst float64 `json:"worst"`
}

func main() {
	kinds := []string{"svg", "png"}
	if len(os.Args) == 4 && slices.Contains(kinds, os.Args[3]) {
		kinds = os.Args[3:]
	} else if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: chart FILE.json FOLDER [svg|png]")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], kinds); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

func run(from, folder string, kinds []string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	for _, c := range charts {
		drawn, err := c.draw(&r)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if drawn == nil { // the report has no measurement of this chart
			continue
		}
		for _, kind := range kinds {
			if err := drawn.write(filepath.Join(folder, c.name+"."+kind), kind); err != nil {
				return err
			}
		}
	}
	return nil
}
