package cases

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	yaml3 "go.yaml.in/yaml/v3"
)

// lines is a position in a YAML file.
type lines struct {
	file string
	node *yaml3.Node
}

// in returns the position below, by key or index, as far as it exists.
func (l lines) in(path ...any) lines {
	for _, step := range path {
		next := child(l.node, step)
		if next == nil {
			return l
		}
		l.node = next
	}
	return l
}

// row decodes the position over the defaults in to, and returns the keys that it
// sets. The file must already have been decoded strictly.
func (l lines) row(to any) (given map[string]bool, err error) {
	var all map[string]yaml3.Node
	if err := errors.Join(l.node.Decode(to), l.node.Decode(&all)); err != nil {
		return nil, fmt.Errorf("%s: %w", l, err)
	}
	given = map[string]bool{}
	for key := range all {
		given[key] = true
	}
	return given, nil
}

func child(n *yaml3.Node, step any) *yaml3.Node {
	if n.Kind == yaml3.AliasNode {
		n = n.Alias
	}
	switch step := step.(type) {
	case int:
		if n.Kind == yaml3.SequenceNode && step < len(n.Content) {
			return n.Content[step]
		}
	case string:
		return member(n, step)
	}
	return nil
}

// member returns the value of a key, which may come from a merged mapping.
func member(n *yaml3.Node, key string) *yaml3.Node {
	for i := 0; n.Kind == yaml3.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	for i := 0; n.Kind == yaml3.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag != "!!merge" {
			continue
		}
		merged := []*yaml3.Node{n.Content[i+1]}
		if merged[0].Kind == yaml3.SequenceNode {
			merged = merged[0].Content
		}
		for _, m := range merged {
			if found := child(m, key); found != nil {
				return found
			}
		}
	}
	return nil
}

func (l lines) line() int {
	if l.node == nil {
		return 0
	}
	return l.node.Line
}

// String returns file:line.
func (l lines) String() string { return l.file + ":" + strconv.Itoa(l.line()) }

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
