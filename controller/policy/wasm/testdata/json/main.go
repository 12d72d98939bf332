// Command json is a guest for the tests that nests as deep as a batch has rows,
// by way of encoding/json, fmt and regexp: what authors reach for first.
package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"spokeshave.dev/sdk/policy"
)

var _ = policy.Rank(rank)

type tree struct {
	Name  string           `json:"name"`
	Left  *tree            `json:"left,omitempty"`
	Right []tree           `json:"right,omitempty"`
	More  map[string]*tree `json:"more,omitempty"`
}

// rank answers only if what was read is what was written.
func rank(pool *policy.Pool, rows policy.Rows, out policy.Verdicts) {
	text := nested(rows.Len())
	var typed tree
	var loose any
	for _, into := range []any{&typed, &loose} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			pool.Fail(fmt.Sprintf("read: %v", err))
			return
		}
		again, err := json.Marshal(into)
		if err != nil || len(again) != len(text) {
			pool.Fail(fmt.Sprintf("%d bytes again, %v", len(again), err))
			return
		}
	}
	if !regexp.MustCompile(`^({"(name|left|right|more|a)":[^}]*)+}+\]?`).MatchString(text) {
		pool.Fail("no match")
		return
	}
	for i := range rows.Len() {
		out.Score(i, float64(len(text)))
	}
}

// nested is a value in n others.
func nested(n int) string {
	var text strings.Builder
	for i := range n {
		text.WriteString(`{"name":"` + strconv.Itoa(i) + `",` + []string{`"left":`, `"right":[`, `"more":{"a":`}[i%3])
	}
	text.WriteString(`{"name":"last"}`)
	for i := n - 1; i >= 0; i-- {
		text.WriteString([]string{`}`, `]}`, `}}`}[i%3])
	}
	return text.String()
}

func main() {}
