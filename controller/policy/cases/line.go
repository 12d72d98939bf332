package cases

import (
	"maps"
	"slices"
	"strconv"

	yaml3 "go.yaml.in/yaml/v3"
)

// lines finds places in a YAML file.
type lines struct {
	file string
	node *yaml3.Node
}

// in is the place below, by key or index, as far as it exists.
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

func child(n *yaml3.Node, step any) *yaml3.Node {
	switch step := step.(type) {
	case int:
		if n.Kind == yaml3.SequenceNode && step < len(n.Content) {
			return n.Content[step]
		}
	case string:
		for i := 0; n.Kind == yaml3.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1]
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

// String is file:line.
func (l lines) String() string { return l.file + ":" + strconv.Itoa(l.line()) }

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
