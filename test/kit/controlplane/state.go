package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// state is Dir/state.json: what another process needs to use or stop the
// cluster.
type state struct {
	ServerURL string     `json:"serverURL"`
	Full      bool       `json:"full"`
	Binaries  Binaries   `json:"binaries"`
	Processes []*process `json:"processes"`
}

func stateFile(dir string) string { return filepath.Join(dir, "state.json") }

// write replaces the state file in one step.
func (s state) write(dir string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("record the cluster: %w", err)
	}
	partial := stateFile(dir) + ".partial"
	if err := os.WriteFile(partial, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("record the cluster: %w", err)
	}
	return os.Rename(partial, stateFile(dir))
}

func readState(dir string) (state, error) {
	var s state
	data, err := os.ReadFile(stateFile(dir))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("read %s: %w", stateFile(dir), err)
	}
	return s, nil
}

// ErrNotRunning says that a state directory holds no running cluster.
var ErrNotRunning = errors.New("no cluster is running")

// Attach returns the cluster that runs in dir, started by this or another
// process. It fails with [ErrNotRunning] when there is none, or when one of
// its programs has ended.
func Attach(dir string) (*Cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("attach to the cluster in %s: %w", dir, err)
	}
	s, err := readState(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("attach to the cluster in %s: %w", dir, ErrNotRunning)
	}
	if err != nil {
		return nil, fmt.Errorf("attach to the cluster in %s: %w", dir, err)
	}
	c := &Cluster{Dir: dir, ServerURL: s.ServerURL, Binaries: s.Binaries, full: s.Full, processes: s.Processes}
	c.Kubeconfig = layout{dir: dir}.kubeconfig(adminUser)
	for _, p := range s.Processes {
		if !p.running() {
			return nil, fmt.Errorf("attach to the cluster in %s: %s (pid %d) has ended: %w", dir, p.Name, p.PID, ErrNotRunning)
		}
	}
	return c, c.loadAccess()
}

// Down stops every program of the cluster in dir that still runs, whoever
// started it. The logs stay. A dir without a cluster is [ErrNotRunning].
func Down(ctx context.Context, dir string) error {
	s, err := readState(dir)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("stop the cluster in %s: %w", dir, ErrNotRunning)
	}
	if err != nil {
		return fmt.Errorf("stop the cluster in %s: %w", dir, err)
	}
	if err := stopAll(ctx, s.Processes); err != nil {
		return fmt.Errorf("stop the cluster in %s: %w", dir, err)
	}
	return os.Remove(stateFile(dir))
}

// stopAll kills the processes, last started first.
func stopAll(ctx context.Context, ps []*process) error {
	var errs []error
	for _, p := range slices.Backward(ps) {
		errs = append(errs, p.kill(ctx))
	}
	return errors.Join(errs...)
}
