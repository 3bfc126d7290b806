// Package nearest finds the known word that is most like a mistyped one, for hints in error messages.
//
// It must not know which words a command has.
package nearest

// Word returns the known word with the smallest edit distance to a word. It returns "" if none is similar: at most half
// of the word's letters differ, and the first letter is the same unless one letter differs.
func Word(word string, known []string) string {
	best, least := "", len(word)/2+1
	for _, k := range known {
		if d := distance(word, k); d < least && (d <= 1 || k != "" && k[0] == word[0]) {
			best, least = k, d
		}
	}
	return best
}

// distance returns the least number of inserted, deleted, replaced and exchanged adjacent bytes that make b of a.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
