package harness

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/test/kit/controlplane"
)

// systemNodes makes two nodes for the chart's pods, as a managed node group
// would: two because the chart spreads its replicas over hosts, and tainted so
// that workloads keep away.
func (s *Stack) systemNodes(ctx context.Context) error {
	for i, zone := range []string{Region + "a", Region + "b"} {
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{
				Name: "system-" + strconv.Itoa(i+1),
				Labels: map[string]string{
					controlplane.NodeLabel: controlplane.NodeLabelValue,
					corev1.LabelOSStable:   "linux", corev1.LabelArchStable: "amd64",
					corev1.LabelHostname:     "system-" + strconv.Itoa(i+1),
					corev1.LabelTopologyZone: zone, corev1.LabelTopologyRegion: Region,
				},
			},
			Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "CriticalAddonsOnly", Value: "true", Effect: corev1.TaintEffectNoSchedule}}},
		}
		if err := s.Client.Create(ctx, node); err != nil {
			return fmt.Errorf("create node %s: %w", node.Name, err)
		}
		base := node.DeepCopy()
		node.Status.Capacity = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Gi"), corev1.ResourcePods: resource.MustParse("20"),
		}
		node.Status.Allocatable = node.Status.Capacity
		if err := s.Client.Status().Patch(ctx, node, client.MergeFrom(base)); err != nil {
			return fmt.Errorf("size node %s: %w", node.Name, err)
		}
	}
	return nil
}

// Image is the repository in the chart's Deployment. No image is pulled: the local cluster
// runs the controller as a process.
const Image = "registry.example/controller"

// installChart runs helm install and waits until the chart's pods run.
func (s *Stack) installChart(ctx context.Context) error {
	args := []string{
		"upgrade", "--install", release, s.opts.Chart,
		"--namespace", Namespace, "--create-namespace", "--wait", "--timeout", "2m",
		"--set", "controller.image.repository=" + Image,
		"--set", "settings.clusterName=" + s.opts.Cluster,
		"--set", "settings.awsRegion=" + Region,
		"--set", "settings.awsEndpoint=" + s.EC2URL(),
		"--set", "settings.featureGates.staticCapacity=true",
		"--set", "settings.featureGates.nodeRepair=true",
		"--set", "settings.interruptionQueue=" + s.opts.Cluster, // ec2sim's queue has the cluster's name
		"--set", "settings.clusterEndpoint=" + s.Cluster.ServerURL,
		"--set", "controller.metrics.port=" + strconv.Itoa(s.ports.metrics),
		"--set", "controller.local.port=" + strconv.Itoa(s.ports.local),
		"--set", "controller.healthProbe.port=" + strconv.Itoa(s.ports.probes),
		"--set", "web.port=" + strconv.Itoa(s.ports.page),
		"--set", "logLevel=debug",
	}
	for _, v := range s.opts.Values {
		args = append(args, "--set", v)
	}
	start := now()
	if _, err := s.run(ctx, s.Cluster.Binaries.Helm, args...); err != nil {
		return fmt.Errorf("install the chart: %w", err)
	}
	s.say("helm install of charts/spokeshave, its pods on the system nodes …  %s\n", since(start))
	return nil
}

// Kubectl runs kubectl as the administrator and returns its output.
func (s *Stack) Kubectl(ctx context.Context, args ...string) (string, error) {
	return s.run(ctx, s.Cluster.Binaries.Kubectl, args...)
}

// Helm runs helm as the administrator and returns its output.
func (s *Stack) Helm(ctx context.Context, args ...string) (string, error) {
	return s.run(ctx, s.Cluster.Binaries.Helm, args...)
}

// Spokeshave runs the command line as the administrator and returns its output.
func (s *Stack) Spokeshave(ctx context.Context, args ...string) (string, error) {
	return s.run(ctx, s.bins.cli, args...)
}

// CommandLineDir is the folder in which the program spokeshave is.
func (s *Stack) CommandLineDir() string { return filepath.Dir(s.bins.cli) }

func (s *Stack) run(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.Cluster.Kubeconfig,
		"HELM_CACHE_HOME="+s.Cluster.Dir, "HELM_CONFIG_HOME="+s.Cluster.Dir, "HELM_DATA_HOME="+s.Cluster.Dir)
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("run %s: %w\n%s", filepath.Base(program), err, stderr.Bytes())
	}
	return stdout.String(), nil
}

// deployed is the controller's container as the chart's Deployment says, and its ServiceAccount.
func (s *Stack) deployed(ctx context.Context) (corev1.Container, string, error) {
	d := &appsv1.Deployment{}
	if err := s.Client.Get(ctx, types.NamespacedName{Namespace: Namespace, Name: release}, d); err != nil {
		return corev1.Container{}, "", fmt.Errorf("read the chart's Deployment: %w", err)
	}
	return d.Spec.Template.Spec.Containers[0], d.Spec.Template.Spec.ServiceAccountName, nil
}
