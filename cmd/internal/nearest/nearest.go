// Package nearest finds the known word that is most similar to a mistyped word, for hints in error messages.
//
// The package contains no words itself; the caller passes the words that a command knows.
package nearest

import "strings"

// Word returns the known word with the smallest edit distance to word. It returns "" if no known word is similar. A
// similar word differs in at most half of word's letters, and has the same first letter unless only one letter differs.
// Otherwise Word returns the shortest known word that begins with word, if this has at least three letters.
func Word(word string, known []string) string {
	best, least := "", len(word)/2+1
	for _, k := range known {
		if d := distance(word, k); d < least && (d <= 1 || k != "" && k[0] == word[0]) {
			best, least = k, d
		}
	}
	if best != "" || len(word) < 3 {
		return best
	}
	for _, k := range known {
		if strings.HasPrefix(k, word) && (best == "" || len(k) < len(best)) {
			best = k
		}
	}
	return best
}

// distance returns the edit distance of a and b: the least number of insertions, deletions, replacements and exchanges
// of adjacent bytes that turn a into b.
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
