package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/rehearse/simulate"
	"spokeshave.dev/test/kit/burst"
	"spokeshave.dev/test/kit/harness"
)

// fleet returns the nodes that there are.
func (c *cluster) fleet(ctx context.Context) (fleet, error) {
	all, err := c.stack.Fleet(ctx)
	return fleet{Nodes: len(all), Hourly: harness.Hourly(all)}, err
}

// onePlan returns what one plan of all present pods would launch into an empty cluster;
// nothing when no pods are left.
func (c *cluster) onePlan(ctx context.Context) (fleet, error) {
	pods := &corev1.PodList{}
	if err := c.stack.Client.List(ctx, pods, client.InNamespace(burst.Namespace)); err != nil {
		return fleet{}, fmt.Errorf("list pods: %w", err)
	}
	var manifests bytes.Buffer
	manifests.WriteString(c.pool)
	n := 0
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.DeletionTimestamp != nil || p.Status.Phase != corev1.PodRunning {
			continue
		}
		n++
		raw, err := yaml.Marshal(asked(p))
		if err != nil {
			return fleet{}, fmt.Errorf("write pod %s: %w", p.Name, err)
		}
		manifests.WriteString("---\n")
		manifests.Write(raw)
	}
	if n == 0 {
		return fleet{}, nil
	}
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		return fleet{}, fmt.Errorf("keep the manifests: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "all.yaml")
	if err := os.WriteFile(file, manifests.Bytes(), 0o600); err != nil {
		return fleet{}, fmt.Errorf("keep the manifests: %w", err)
	}
	result, err := simulate.Run(ctx, simulate.Config{Manifests: []string{file}, Region: harness.Region, Time: clock.RealClock{}.Now(), Seed: c.seed})
	if err != nil {
		return fleet{}, fmt.Errorf("plan all pods: %w", err)
	}
	if left := len(result.Report.Unscheduled); left > 0 {
		return fleet{}, fmt.Errorf("one plan leaves %d of %d pods out, as %+v", left, n, result.Report.Unscheduled[0])
	}
	out := fleet{Nodes: len(result.Report.Nodes)}
	for i := range result.Report.Nodes {
		out.Hourly += result.Report.Nodes[i].Price
	}
	return out, nil
}

// asked returns the pod as it was before anybody bound it.
func asked(p *corev1.Pod) *corev1.Pod {
	out := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID, Labels: p.Labels, OwnerReferences: p.OwnerReferences},
		Spec:       *p.Spec.DeepCopy(),
	}
	out.Spec.NodeName = ""
	out.Spec.Tolerations = slices.DeleteFunc(out.Spec.Tolerations, func(t corev1.Toleration) bool { return strings.HasPrefix(t.Key, "spokeshave.dev/") })
	return out
}
