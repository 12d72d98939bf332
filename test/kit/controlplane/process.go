//go:build unix

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// process is one running program of the cluster. Its JSON form is what another
// process needs to stop it.
type process struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
	// Identity tells this program from a later one that got the same pid.
	Identity string `json:"identity"`

	exited chan struct{} // closed when our own child has ended; nil if attached
	// component is how it was started; the zero value if attached.
	component component
}

// running reports whether the program has not ended yet.
func (p *process) running() bool {
	if p.exited != nil {
		select {
		case <-p.exited:
			return false
		default:
			return true
		}
	}
	id, err := identify(p.PID)
	return err == nil && id == p.Identity
}

// kill ends the program and waits until it is gone. It does nothing when the
// pid belongs to another program by now. The signal is SIGKILL: the API server
// drains for a minute otherwise, and nothing here is worth saving.
func (p *process) kill(ctx context.Context) error {
	if !p.running() {
		return nil
	}
	if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop %s (pid %d): %w", p.Name, p.PID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	err := wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(context.Context) (bool, error) {
		return !p.running(), nil
	})
	if err != nil {
		return fmt.Errorf("stop %s (pid %d): still there: %w", p.Name, p.PID, err)
	}
	return nil
}

// launcher starts programs from one operating-system thread. On Linux a child
// may ask to be killed when its parent's thread ends, so that thread must live
// as long as the cluster does.
type launcher struct {
	jobs     chan func()
	detached bool
}

func newLauncher(opts Options) *launcher {
	l := &launcher{jobs: make(chan func()), detached: opts.Detached}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		for job := range l.jobs {
			job()
		}
	}()
	return l
}

// close ends the thread, and with it whatever was started from it.
func (l *launcher) close() { close(l.jobs) }

// start runs c with its output in logFile and its home in dir.
func (l *launcher) start(c component, logFile, dir string) (*process, error) {
	out, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(c.path, c.args...) // without a context: it outlives the one of Start
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	// Only these: etcd and kubectl read settings from the environment.
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
	cmd.Env = append(cmd.Env, c.env...)
	cmd.SysProcAttr = l.attributes()
	started := make(chan error)
	l.jobs <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	p := &process{Name: c.name, PID: cmd.Process.Pid, exited: make(chan struct{}), component: c}
	p.Identity, err = identify(p.PID)
	go func() {
		_ = cmd.Wait() // why it ended is in its log
		close(p.exited)
	}()
	if err != nil {
		return p, fmt.Errorf("start %s: %w", c.name, err)
	}
	return p, nil
}
