package controlplane

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Program is something to run beside the cluster: a controller, a simulator.
type Program struct {
	// Name is unique in the cluster; the output goes to Dir/logs/Name.log.
	Name string
	// Path is the executable.
	Path string
	Args []string
	// Env adds "NAME=value" entries to the bare environment that programs get.
	Env []string
}

// Run starts a program that lives and ends with the cluster: Stop and Down stop
// it too. It returns the process id.
func (c *Cluster) Run(p Program) (int, error) {
	if c.launcher == nil {
		return 0, fmt.Errorf("run %s: %w", p.Name, errors.New("the cluster was started by another process"))
	}
	l := layout{dir: c.Dir}
	comp := component{name: p.Name, path: p.Path, args: p.Args, env: p.Env, beside: true}
	if err := c.start(l, comp); err != nil {
		return 0, err
	}
	return c.processes[len(c.processes)-1].PID, nil
}

// LogFile is where the program of that name writes its output.
func (c *Cluster) LogFile(name string) string {
	return filepath.Join(c.Dir, "logs", name+".log")
}
