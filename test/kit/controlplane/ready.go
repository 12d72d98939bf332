package controlplane

import (
	"context"
	"fmt"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// waitForAPI returns when kube-apiserver says that it is ready.
func (c *Cluster) waitForAPI(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	return c.poll(ctx, "kube-apiserver", func(ctx context.Context) bool {
		_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil
	})
}

// waitForControllers returns when kube-controller-manager has made the default
// ServiceAccount, which is the sign that its controllers run.
func (c *Cluster) waitForControllers(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	return c.poll(ctx, "kube-controller-manager", func(ctx context.Context) bool {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err == nil || apierrors.IsForbidden(err)
	})
}

// poll asks until ready says yes. It gives up when a program of the cluster
// ends, and shows the end of that program's log.
func (c *Cluster) poll(ctx context.Context, name string, ready func(context.Context) bool) error {
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		for _, p := range c.processes {
			if !p.running() && !p.component.beside {
				return false, fmt.Errorf("%s ended:\n%s", p.Name, c.logTail(p.Name))
			}
		}
		return ready(ctx), nil
	})
	if ctx.Err() != nil {
		return fmt.Errorf("%s is not ready: %w\n%s", name, ctx.Err(), c.logTail(name))
	}
	return err
}

// logTail returns the end of a program's log.
func (c *Cluster) logTail(name string) string {
	data, err := os.ReadFile(layout{dir: c.Dir}.logFile(name))
	if err != nil {
		return err.Error()
	}
	return lastLines(string(data), 12)
}
