package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/harness"
	"spokeshave.dev/test/kit/page"
)

// autoscalerPage is what operators follow who come from Cluster Autoscaler.
const autoscalerPage = "docs/migrate/from-cluster-autoscaler.md"

// groupNode is a node of the managed node group web, which no NodeClaim is behind.
func groupNode(t *testing.T) *corev1.Node {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "group-web-1", Labels: map[string]string{
		controlplane.NodeLabel: controlplane.NodeLabelValue, "eks.amazonaws.com/nodegroup": "web", "team": "web",
		corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64", corev1.LabelHostname: "group-web-1",
		corev1.LabelTopologyZone: harness.Region + "a", corev1.LabelTopologyRegion: harness.Region, corev1.LabelInstanceTypeStable: "m5.large",
	}}}
	if err := stack.Client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	base := node.DeepCopy()
	node.Status.Capacity = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("29"),
	}
	node.Status.Allocatable = node.Status.Capacity
	if err := stack.Client.Status().Patch(t.Context(), node, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	return node
}

// describedGroup writes what aws eks describe-nodegroup would print of the group.
func describedGroup(t *testing.T, folder string) {
	t.Helper()
	out, err := stack.EC2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{{Name: aws.String("tag:karpenter.sh/discovery"), Values: []string{harness.ClusterName}}}})
	if err != nil || len(out.Subnets) == 0 {
		t.Fatalf("%d subnets: %v", len(out.Subnets), err)
	}
	var ids []string
	for i := range out.Subnets {
		ids = append(ids, aws.ToString(out.Subnets[i].SubnetId))
	}
	text := fmt.Sprintf(`{"nodegroup": {"nodegroupName": "web", "clusterName": %q, "capacityType": "ON_DEMAND", "scalingConfig": {"minSize": 0, "maxSize": 5, "desiredSize": 1},
"instanceTypes": ["m5.large", "m5.xlarge"], "subnets": %s, "amiType": "AL2023_x86_64_STANDARD", "nodeRole": "arn:aws:iam::111122223333:role/KarpenterNodeRole-%s",
"labels": {"team": "web"}, "diskSize": 20}}`, harness.ClusterName, harness.JSON(ids), harness.ClusterName)
	if err := os.WriteFile(filepath.Join(folder, "group.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFromClusterAutoscaler follows the page: the pods of a node group move to nodes of the
// NodePool that the group becomes, and the group's node is left alone.
func TestFromClusterAutoscaler(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	l := &tenant{t, "web"} // named after the group, as the NodePool will be
	node := groupNode(t)
	l.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n")
	t.Cleanup(l.clear)
	l.apply(`apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      nodeSelector: {team: web}
      terminationGracePeriodSeconds: 0
      containers: [{name: app, image: app, resources: {requests: {cpu: 500m}}}]
`)
	l.until("the pods to run on the group's node", stack.Running("web", nil, 3))
	folder := t.TempDir()
	describedGroup(t, folder)
	for _, section := range []string{"## Before", "## There"} {
		followPage(t, section, folder)
	}
	l.until("the pods to run", stack.Running("web", nil, 3))
	l.until("machines of the NodePool", l.allUp)
	pods, err := stack.Pods(t.Context(), "web", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range pods {
		if pods[i].Spec.NodeName == node.Name {
			t.Errorf("%s is still on %s", pods[i].Name, node.Name)
		}
	}
	after := &corev1.Node{}
	if err := stack.Client.Get(t.Context(), client.ObjectKeyFromObject(node), after); err != nil {
		t.Fatal(err)
	}
	if !after.Spec.Unschedulable || len(after.Spec.Taints) > 1 || len(after.Finalizers) > 0 {
		t.Errorf("the group's node was changed: %s", harness.JSON(after.Spec))
	}
	if err := stack.Client.Delete(t.Context(), after); err != nil {
		t.Error(err)
	}
}

// followPage runs the commands of a section that need neither AWS nor what is installed already.
func followPage(t *testing.T, section, folder string) {
	t.Helper()
	text, err := stack.Source(autoscalerPage)
	if err != nil {
		t.Fatal(err)
	}
	commands, err := page.Commands(string(text), section)
	if err != nil || len(commands) < 5 {
		t.Fatalf("%s: %d commands, %v", autoscalerPage, len(commands), err)
	}
	files := strings.NewReplacer("$CLUSTER", harness.ClusterName, "$NODES", "eks.amazonaws.com/nodegroup=web",
		"group.json", filepath.Join(folder, "group.json"), "nodepools.yaml", filepath.Join(folder, "nodepools.yaml"), "workloads.yaml", filepath.Join(folder, "workloads.yaml"))
	for _, command := range commands {
		line, file, _ := strings.Cut(command, " > ")
		words := strings.Fields(files.Replace(line))
		run := stack.Kubectl
		switch {
		case words[0] == "aws" || words[0] == "helm" || strings.Contains(command, "deployment/cluster-autoscaler"):
			continue
		case words[0] == "spokeshave":
			run = stack.Spokeshave
		case words[0] != "kubectl":
			t.Fatalf("%s: nobody can run %s", autoscalerPage, command)
		}
		out, err := run(t.Context(), words[1:]...)
		// Workloads of the other tests find no place in this NodePool.
		_, unplaced, _ := strings.Cut(out, "UNSCHEDULED\n")
		unplaced, _, _ = strings.Cut(unplaced, "\n\n")
		if err != nil && (words[1] != "simulate" || unplaced == "" || strings.Contains(unplaced, "web/")) {
			t.Fatalf("%s: %s: %v\n%s", autoscalerPage, command, err, out)
		}
		if file != "" {
			if err := os.WriteFile(files.Replace(file), []byte(out), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
