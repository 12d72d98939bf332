package harness

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// refusal is how the API server words that an account lacks a permission, or that the
// chart's admission policy of ConfigMaps and leases keeps the controller from one. That of
// pods may refuse: a pod can get its node between the controller's look and its patch.
var refusal = regexp.MustCompile(`cannot [a-z]+ resource|ValidatingAdmissionPolicy '` + release + `-` + Namespace + `-configmaps'`)

// Refused returns the lines of the controllers' logs by which the API server has refused
// them something: calls that the chart does not permit.
func (s *Stack) Refused() ([]string, error) { return s.logged(refusal.Match) }

// Logged returns the lines of the controllers' logs that contain all of the parts.
func (s *Stack) Logged(parts ...string) ([]string, error) {
	return s.logged(func(line []byte) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !bytes.Contains(line, []byte(part)) })
	})
}

// logged returns the lines of the controllers' logs that are asked for.
func (s *Stack) logged(asked func([]byte) bool) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(s.Cluster.Dir, "logs", "controller*.log"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(fmt.Errorf("find the controllers' logs in %s: %d files", s.Cluster.Dir, len(files)), err)
	}
	var out []string
	for _, file := range files {
		lines, err := linesOf(file, asked)
		if err != nil {
			return nil, err
		}
		out = append(out, lines...)
	}
	return out, nil
}

func linesOf(file string, asked func([]byte) bool) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read a controller's log: %w", err)
	}
	defer func() { _ = f.Close() }()
	var out []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if asked(lines.Bytes()) {
			out = append(out, lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read a controller's log %s: %w", file, err)
	}
	return out, nil
}
