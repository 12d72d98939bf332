package controlplane

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"spokeshave.dev/test/kit/eventually"
)

// child runs this test binary as another program that starts a cluster in dir,
// and returns once the cluster is ready.
func child(t *testing.T, mode, dir string) *exec.Cmd {
	t.Helper()
	if _, err := Build(t.Context(), t.Output()); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+mode, dirEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if err := Down(context.WithoutCancel(t.Context()), dir); err != nil && !errors.Is(err, ErrNotRunning) {
			t.Error(err)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the child said %q: %v", line, err)
	}
	return cmd
}

func TestDetachedOutlivesItsStarter(t *testing.T) {
	dir := t.TempDir()
	if err := child(t, "detached", dir).Wait(); err != nil {
		t.Fatal(err)
	}
	c, err := Attach(dir)
	if err != nil {
		t.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(c.Config())
	if _, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("use the cluster after its starter has ended: %v", err)
	}
	pids := c.PIDs()
	if err := Down(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for name, pid := range pids {
		if id, err := identify(pid); err == nil {
			t.Errorf("%s (pid %d) still runs as %s", name, pid, id)
		}
	}
	if _, err := Attach(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Attach after Down = %v, want ErrNotRunning", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "logs", "etcd.log")); err != nil {
		t.Errorf("the logs must outlive the cluster: %v", err)
	}
}

func TestAttachedDiesWithItsStarter(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ties a child to the life of its parent")
	}
	dir := t.TempDir()
	cmd := child(t, "attached", dir)
	c, err := Attach(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually.True(t, "the programs have ended", func() bool { return !anyRunning(c.processes) })
}

// TestDownSparesStrangers gives Down a record whose pid has passed to another
// program.
func TestDownSparesStrangers(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	dir, pid := t.TempDir(), cmd.Process.Pid
	s := state{Processes: []*process{{Name: "etcd", PID: pid, Identity: "etcd@1"}}}
	if err := s.write(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Attach(dir); err == nil {
		t.Error("Attach took a stranger for etcd")
	}
	if err := Down(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := identify(pid); err != nil {
		t.Errorf("Down stopped a program that is not ours: %v", err)
	}
}
