package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// AsDeployed brings the controller's process in line with the chart's Deployment, once,
// as a kubelet would: it starts the process when a pod of the Deployment runs, and ends it gently when there is none. One process stands for all
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
