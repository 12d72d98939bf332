package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
)

// prepareDir makes the state directory, or a temporary one if dir is empty.
func prepareDir(dir string) (path string, temporary bool, err error) {
	if dir == "" {
		path, err = os.MkdirTemp("", "spokeshave-controlplane-")
		if err != nil {
			return "", false, fmt.Errorf("start the cluster: %w", err)
		}
		return path, true, nil
	}
	path, err = filepath.Abs(dir)
	if err != nil {
		return "", false, fmt.Errorf("start the cluster: %w", err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", false, fmt.Errorf("start the cluster: %w", err)
	}
	return path, false, nil
}

// newLayout wipes what an earlier cluster left in dir and writes the files of
// a new one: keys, kubeconfigs, stages.
func newLayout(dir string, ports Ports, bins Binaries) (layout, error) {
	l := layout{dir: dir, ports: ports, bins: bins}
	for _, old := range []string{"etcd", "logs", "pki", "kubeconfig", "stages.yaml", "state.json"} {
		if err := os.RemoveAll(filepath.Join(dir, old)); err != nil {
			return l, fmt.Errorf("clear the state directory: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o700); err != nil {
		return l, fmt.Errorf("make the log directory: %w", err)
	}
	if err := l.ports.fill(); err != nil {
		return l, err
	}
	var err error
	if l.pki, err = newPKI(filepath.Join(dir, "pki")); err != nil {
		return l, err
	}
	for user, token := range l.pki.tokens {
		a := access{server: l.serverURL(), ca: l.pki.caPEM, user: user, token: token}
		if err := a.write(l.kubeconfig(user)); err != nil {
			return l, err
		}
	}
	return l, l.writeStages()
}
