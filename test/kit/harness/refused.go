package harness

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// refusal is how the API server words that an account lacks a permission, or that the
// chart's admission policy of ConfigMaps and leases keeps the controller from one. That of
// pods may refuse: a pod can get its node between the controller's look and its patch.
var refusal = regexp.MustCompile(`cannot [a-z]+ resource|ValidatingAdmissionPolicy '` + release + `-` + Namespace + `-configmaps'`)

// Refused returns the lines of the controllers' logs by which the API server has refused
// them something: calls that the chart does not permit.
func (s *Stack) Refused() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(s.Cluster.Dir, "logs", "controller*.log"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(fmt.Errorf("find the controllers' logs in %s: %d files", s.Cluster.Dir, len(files)), err)
	}
	var out []string
	for _, file := range files {
		lines, err := refusedIn(file)
		if err != nil {
			return nil, err
		}
		out = append(out, lines...)
	}
	return out, nil
}

func refusedIn(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read a controller's log: %w", err)
	}
	defer func() { _ = f.Close() }()
	var out []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if refusal.Match(lines.Bytes()) {
			out = append(out, lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read a controller's log %s: %w", file, err)
	}
	return out, nil
}
