package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AsDeployed brings the controller's process in line with the chart's Deployment, once,
// as a kubelet would: it starts the process when a pod of the Deployment runs, starts it anew when a roll-out
// has changed its container, and ends it gently when there is none. One process stands for all
// replicas. It reports whether the process runs afterwards.
func (s *Stack) AsDeployed(ctx context.Context) (bool, error) {
	pods, err := s.Pods(ctx, Namespace, map[string]string{"app.kubernetes.io/name": release})
	if err != nil {
		return s.controller != 0, err
	}
	wanted := false
	for i := range pods {
		wanted = wanted || pods[i].Status.Phase == corev1.PodRunning
	}
	ended := s.controller != 0 && errors.Is(syscall.Kill(s.controller, 0), syscall.ESRCH)
	if ended {
		s.controller = 0
	}
	if wanted && s.controller != 0 {
		changed, err := s.rolledOut(ctx)
		if err != nil || !changed {
			return true, err
		}
		if err := s.StopController(ctx, syscall.SIGTERM); err != nil {
			return true, err
		}
	}
	switch {
	case wanted && s.controller == 0:
		err := s.LaunchController(ctx)
		if apierrors.IsNotFound(err) { // the release was removed meanwhile
			err = nil
		}
		return s.controller != 0, err
	case !wanted && s.controller != 0:
		return false, s.StopController(ctx, syscall.SIGTERM)
	}
	return wanted, nil
}

// kubeletEvery is how often the controller's process is brought in line with its Deployment.
const kubeletEvery = 200 * time.Millisecond

// PlayKubelet runs the controller as deployed until the context ends, whose error it
// returns. It tells w when the controller starts and ends, and what fails, which it tries again.
func (s *Stack) PlayKubelet(ctx context.Context, w io.Writer) error {
	ran, told := false, ""
	for {
		runs, err := s.AsDeployed(ctx)
		if text := fmt.Sprint(err); err != nil && text != told && ctx.Err() == nil {
			_, _ = fmt.Fprintln(w, "controller:", err)
			told = text
		}
		if runs != ran {
			_, _ = fmt.Fprintf(w, "%s  controller %s\n", now().Format(time.TimeOnly), map[bool]string{true: "started", false: "ended"}[runs])
			ran = runs
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("run the controller as deployed: %w", ctx.Err())
		case <-time.After(kubeletEvery): //nolint:forbidigo // the harness lives on the wall clock
		}
	}
}

// rolledOut reports whether all pods of the Deployment have another container than the
// process was started as.
func (s *Stack) rolledOut(ctx context.Context) (bool, error) {
	d := &appsv1.Deployment{}
	err := s.Client.Get(ctx, types.NamespacedName{Namespace: Namespace, Name: release}, d)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	c := &d.Spec.Template.Spec.Containers[0]
	complete := d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedReplicas == d.Status.Replicas
	same := slices.Equal(c.Args, s.container.Args) && equality.Semantic.DeepEqual(c.Env, s.container.Env)
	return complete && !same, nil
}

// certificate is the CA certificate in a kubeconfig.
var certificate = regexp.MustCompile(`"?certificate-authority-data"?: *"?[A-Za-z0-9+/=]+"?`)

// withoutCA takes the CA certificate out of a kubeconfig.
func withoutCA(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the controller's kubeconfig: %w", err)
	}
	if err := os.WriteFile(path, certificate.ReplaceAll(text, []byte("insecure-skip-tls-verify: true")), 0o600); err != nil {
		return fmt.Errorf("write the controller's kubeconfig: %w", err)
	}
	return nil
}
