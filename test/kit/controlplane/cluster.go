package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"spokeshave.dev/test/kit/filelock"
)

// Options of [Start]. The zero value starts etcd and kube-apiserver in a
// temporary directory on free ports.
type Options struct {
	// Dir keeps the cluster's state, keys and logs. Empty means a temporary
	// directory, removed by Stop. What an earlier cluster left there is wiped.
	Dir string
	// Full adds kube-controller-manager, kube-scheduler and KWOK. Without them no
	// namespace has a default ServiceAccount and the roles view, edit and admin
	// are empty.
	Full bool
	// Detached leaves the cluster running when this process ends, until Down.
	// Otherwise the programs end with this process; on Linux even when it is
	// killed.
	Detached bool
	// Ports that are zero are chosen from the free ones.
	Ports Ports
	// WorkloadQPS is how many requests a second kube-controller-manager sends, and so about
	// how many pods a second it creates; for a moment it sends half as many again at once.
	// Zero means [defaultWorkloadQPS]. Kubernetes' own default is 20.
	WorkloadQPS int
	// Log is told what happens; nil means nobody.
	Log io.Writer
}

// defaultWorkloadQPS does not slow tests down.
const defaultWorkloadQPS = 300

// Cluster is a running control plane.
type Cluster struct {
	// Dir is the state directory; Dir/logs holds one file per program.
	Dir string
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string
	// ServerURL is the API server's address, such as https://127.0.0.1:34567.
	ServerURL string
	// CAData is the PEM certificate that the API server is verified with.
	CAData []byte
	// Binaries are the programs it was built from, kubectl and Helm among them.
	Binaries Binaries

	full      bool
	ownsDir   bool
	config    *rest.Config
	processes []*process
	launcher  *launcher // nil if attached
}

// Start builds the programs if the cache does not hold them, starts a cluster
// and returns when it is ready for use. The context bounds the start, not the
// cluster's life.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	bins, err := Build(ctx, opts.Log)
	if err != nil {
		return nil, err
	}
	dir, ownsDir, err := prepareDir(opts.Dir)
	if err != nil {
		return nil, err
	}
	release, err := filelock.Take(ctx, filepath.Join(dir, "lock"), opts.Log)
	if err != nil {
		return nil, fmt.Errorf("start the cluster: %w", err)
	}
	defer release()
	if s, err := readState(dir); err == nil && anyRunning(s.Processes) {
		return nil, fmt.Errorf("start the cluster: one runs in %s already; stop it first", dir)
	}
	c := &Cluster{Dir: dir, Binaries: bins, full: opts.Full, ownsDir: ownsDir}
	if err := c.up(ctx, opts); err != nil {
		return nil, errors.Join(err, c.stop(context.WithoutCancel(ctx)))
	}
	return c, nil
}

// up writes the cluster's files and starts its programs.
func (c *Cluster) up(ctx context.Context, opts Options) error {
	start := now()
	done := Step(ctx, opts.Log, "starting the control plane")
	err := c.launch(ctx, opts)
	for range 3 { // a free port may be taken by others before we listen on it
		if err == nil || !strings.Contains(err.Error(), "address already in use") {
			break
		}
		if stopErr := stopAll(ctx, c.processes); stopErr != nil {
			return stopErr
		}
		c.launcher.close()
		c.processes = nil
		err = c.launch(ctx, opts)
	}
	done(err)
	if err != nil {
		return fmt.Errorf("start the cluster: %w", err)
	}
	say(opts.Log, "control plane ready at %s after %s\n", c.ServerURL, since(start))
	return nil
}

func (c *Cluster) launch(ctx context.Context, opts Options) error {
	l, err := newLayout(c.Dir, opts.Ports, c.Binaries)
	l.workloadQPS = cmp.Or(opts.WorkloadQPS, defaultWorkloadQPS)
	if err != nil {
		return err
	}
	c.ServerURL, c.Kubeconfig = l.serverURL(), l.kubeconfig(adminUser)
	if err := c.loadAccess(); err != nil {
		return err
	}
	c.launcher = newLauncher(opts)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := c.start(l, l.etcd(), l.apiServer()); err != nil {
		return err
	}
	if err := c.waitForAPI(ctx); err != nil {
		return err
	}
	if !opts.Full {
		return nil
	}
	if err := c.start(l, l.controllerManager(), l.scheduler(), l.kwok()); err != nil {
		return err
	}
	return c.waitForControllers(ctx)
}

// start runs the components and records them as it goes, so that Down finds
// even those of a start that was cut short.
func (c *Cluster) start(l layout, components ...component) error {
	for _, comp := range components {
		p, err := c.launcher.start(comp, l.logFile(comp.name), c.Dir)
		if p != nil {
			c.processes = append(c.processes, p)
		}
		if err != nil {
			return err
		}
		s := state{ServerURL: c.ServerURL, Full: c.full, Binaries: c.Binaries, Processes: c.processes}
		if err := s.write(c.Dir); err != nil {
			return err
		}
	}
	return nil
}

// loadAccess reads the administrator's kubeconfig.
func (c *Cluster) loadAccess() error {
	cfg, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read %s: %w", c.Kubeconfig, err)
	}
	cfg.QPS, cfg.Burst = 500, 1000 // the server's own flow control is enough
	c.config, c.CAData = cfg, cfg.CAData
	return nil
}

// Config returns a copy of the administrator's client configuration.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// PIDs returns the process id of each program by name.
func (c *Cluster) PIDs() map[string]int {
	pids := map[string]int{}
	for _, p := range c.processes {
		pids[p.Name] = p.PID
	}
	return pids
}

// Stop ends every program, whether started here or attached to, and removes a
// temporary directory. Stopping twice is harmless.
func (c *Cluster) Stop() error {
	return c.stop(context.Background()) //nolint:forbidigo // must work when the caller's context is over
}

func (c *Cluster) stop(ctx context.Context) error {
	err := stopAll(ctx, c.processes)
	if c.launcher != nil {
		c.launcher.close()
		c.launcher = nil
	}
	if err != nil {
		return fmt.Errorf("stop the cluster: %w", err)
	}
	if c.ownsDir {
		return os.RemoveAll(c.Dir)
	}
	if err := os.Remove(stateFile(c.Dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("stop the cluster: %w", err)
	}
	return nil
}

func anyRunning(ps []*process) bool {
	for _, p := range ps {
		if p.running() {
			return true
		}
	}
	return false
}
