// Package changelog makes the notes of a release of the subjects of its commits, which are
// "room: what" in this repository.
package changelog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Commit is a commit.
type Commit struct {
	// Hash is abbreviated.
	Hash, Subject string
	// Breaking is what the trailer Breaking says: what a user has to do. Usually empty.
	Breaking string
}

// other is the group of commits whose subject names no room.
const other = "other"

// Write returns the notes of a version in Markdown: what breaks first, as VERSIONING.md
// promises, then the commits by room, oldest first. since is the version before, empty for
// none.
func Write(version, since string, commits []Commit) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n\n", version)
	switch {
	case since == "":
		fmt.Fprintf(&out, "The first release: %d commits.\n", len(commits))
	default:
		fmt.Fprintf(&out, "%d commits since %s.\n", len(commits), since)
	}
	var breaking []string
	rooms := map[string][]string{}
	for _, c := range commits {
		room, what := split(c.Subject)
		if c.Breaking != "" {
			breaking = append(breaking, fmt.Sprintf("- %s (`%s`, %s)\n", c.Breaking, c.Hash, c.Subject))
		}
		rooms[room] = append(rooms[room], fmt.Sprintf("- %s (`%s`)\n", what, c.Hash))
	}
	if len(breaking) > 0 {
		fmt.Fprintf(&out, "\n## What you have to do\n\n%s", strings.Join(breaking, ""))
	}
	var names []string
	for name := range rooms {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if (a == other) != (b == other) {
			return map[bool]int{true: 1, false: -1}[a == other]
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		fmt.Fprintf(&out, "\n## %s\n\n%s", name, strings.Join(rooms[name], ""))
	}
	return out.Bytes()
}

// split returns the room of a subject and the rest. A room is one word, several with commas
// or a path, as in "solver: …", "convert, top: …" and "policy/rego: …".
func split(subject string) (room, what string) {
	room, what, ok := strings.Cut(subject, ": ")
	if !ok || what == "" || strings.Contains(strings.ReplaceAll(room, ", ", ""), " ") {
		return other, subject
	}
	return strings.ToLower(room), what
}
