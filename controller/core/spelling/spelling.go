// Package spelling finds the known word that somebody may have meant by an unknown one,
// for messages about misspelt names.
package spelling

import "strings"

// Nearest returns the word of words that word is a misspelling of, whatever the case: the
// one with the fewest changed, added or missing letters, at most a third of its own. If
// there is none, it is the shortest word of which the other is the beginning. It returns
// "" when no word is near. Of equals the first counts.
func Nearest(word string, words []string) string {
	best, least := "", 0
	for _, w := range words {
		d := Distance(strings.ToLower(word), strings.ToLower(w))
		if d <= max(1, len(w)/3) && (best == "" || d < least) {
			best, least = w, d
		}
	}
	if best != "" {
		return best
	}
	for _, w := range words {
		if begins(w, word) && (best == "" || len(w) < len(best)) {
			best = w
		}
	}
	return best
}

// shortest is the least length, in letters, of a beginning that stands for the whole.
const shortest = 4

// begins reports whether one of the two is the beginning of the other.
func begins(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return min(len(a), len(b)) >= shortest && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// Distance returns how many letters have to be changed, added or taken away, or
// neighbours exchanged, to make one text of the other. It compares bytes.
func Distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, before
		row[0] = i + 1
		for j := range len(b) {
			change := above[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, row[j]+1, above[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
