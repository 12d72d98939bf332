package joiner_test

import (
	"context"
	"encoding/base64"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/simulator"
	"spokeshave.dev/simulator/joiner"
	"spokeshave.dev/test/kit/controlplane"
	endpoint "spokeshave.dev/test/kit/ec2"
	"spokeshave.dev/test/kit/eventually"
)

const region = endpoint.Region

// cloud is an endpoint that sells the embedded catalogue, with a client.
type cloud struct {
	*ec2.Client
	*endpoint.Endpoint
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	at := endpoint.Start(t, []string{""}, func(cfg *simulator.Config) { cfg.PendingDelay = 100 * time.Millisecond })
	return &cloud{Endpoint: at, Client: ec2.NewFromConfig(endpoint.SDK(at.URL))}
}

const nodeConfig = `kind: NodeConfig
spec:
  cluster: {name: demo}
  kubelet:
    flags:
    - --node-labels=karpenter.sh/nodepool=general,team=shaves
    - --register-with-taints=karpenter.sh/unregistered=:NoExecute,dedicated=web:NoSchedule
`

// launch starts instances with user data and gives their IDs.
func (c *cloud) launch(t *testing.T, count int, userData string) []string {
	t.Helper()
	images, err := c.DescribeImages(t.Context(), &ec2.DescribeImagesInput{
		Filters: []ec2types.Filter{{Name: aws.String("name"), Values: []string{"amazon-eks-node-al2023-x86_64-standard-1.36-*"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.RunInstances(t.Context(), &ec2.RunInstancesInput{
		MinCount: aws.Int32(int32(count)), MaxCount: aws.Int32(int32(count)), InstanceType: "m5.xlarge", ImageId: images.Images[0].ImageId,
		UserData:            aws.String(base64.StdEncoding.EncodeToString([]byte(userData))),
		BlockDeviceMappings: []ec2types.BlockDeviceMapping{{DeviceName: aws.String("/dev/xvda"), Ebs: &ec2types.EbsBlockDevice{VolumeSize: aws.Int32(50), VolumeType: "gp3"}}},
		TagSpecifications: []ec2types.TagSpecification{{
			ResourceType: "instance", Tags: []ec2types.Tag{{Key: aws.String("kubernetes.io/cluster/demo"), Value: aws.String("owned")}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i := range out.Instances {
		ids = append(ids, *out.Instances[i].InstanceId)
	}
	return ids
}

// TestJoin takes instances through their lives on a real API server: they join
// through failing calls, KWOK makes them ready, and their Nodes go when they do.
func TestJoin(t *testing.T) {
	c := controlplane.ForTest(t, true)
	kube := kubernetes.NewForConfigOrDie(c.Config())
	cloud := newCloud(t)
	for _, f := range []simulator.Fault{
		{Action: "DescribeInstances", Code: "RequestLimitExceeded", Count: 4},
		{Action: "DescribeInstanceAttribute", Cut: true, Count: 2},
		{Action: "DescribeInstances", HTTPStatus: 503, Count: 2},
	} {
		if _, err := cloud.Server.Order(f); err != nil {
			t.Fatal(err)
		}
	}
	run := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- joiner.Run(ctx, joiner.Config{
				EC2: cloud, Kubernetes: c.Config(), Cluster: "demo", Region: region, Types: cloud.Types, BootDelay: 200 * time.Millisecond,
				RemoveDelay: 100 * time.Millisecond, Poll: 50 * time.Millisecond, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
			})
		}()
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	nodes := func(ctx context.Context) map[string]corev1.Node {
		list, err := kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		out := make(map[string]corev1.Node)
		for i := range list.Items {
			out[list.Items[i].Spec.ProviderID] = list.Items[i]
		}
		return out
	}
	stop := run()
	ids := cloud.launch(t, 3, nodeConfig)
	eventually.True(t, "three nodes are ready", func() bool {
		ready := 0
		for _, n := range nodes(t.Context()) {
			for _, cond := range n.Status.Conditions {
				if cond.Type == corev1.NodeReady && cond.Status == corev1.ConditionTrue {
					ready++
				}
			}
		}
		return ready == 3
	})
	checkNode(t, cloud, nodes(t.Context())["aws:///us-west-2a/"+ids[0]])

	// A Node that somebody deleted does not come back while its instance runs.
	name := nodes(t.Context())["aws:///us-west-2a/"+ids[0]].Name
	if err := kube.CoreV1().Nodes().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	end(t, cloud, ids[1])
	eventually.True(t, "the ended instance's node is gone", func() bool { return len(nodes(t.Context())) == 1 })

	// An instance that ends while the joiner is away loses its Node later.
	stop()
	end(t, cloud, ids[2])
	defer run()()
	eventually.True(t, "the node of an instance that ended unseen is gone", func() bool {
		_, there := nodes(t.Context())["aws:///us-west-2a/"+ids[2]]
		return !there
	})
	cloud.launch(t, 1, "kind: NodeConfig\nspec: {cluster: {name: another}}")
	good := cloud.launch(t, 1, nodeConfig)
	eventually.True(t, "the good instance joins", func() bool { _, ok := nodes(t.Context())["aws:///us-west-2a/"+good[0]]; return ok })
	for id := range nodes(t.Context()) {
		if id != "aws:///us-west-2a/"+good[0] && id != "aws:///us-west-2a/"+ids[0] {
			t.Errorf("%s joined, though its user data names another cluster", id)
		}
	}
}

func end(t *testing.T, cloud *cloud, id string) {
	t.Helper()
	if _, err := cloud.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}}); err != nil {
		t.Fatal(err)
	}
}

func checkNode(t *testing.T, cloud *cloud, node corev1.Node) {
	t.Helper()
	labels := map[string]string{
		"karpenter.sh/nodepool": "general", "team": "shaves", "spokeshave.dev/kwok": "true",
		corev1.LabelHostname: node.Name, corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux",
		corev1.LabelInstanceTypeStable: "m5.xlarge", corev1.LabelTopologyZone: "us-west-2a", corev1.LabelTopologyRegion: region,
		"topology.k8s.aws/zone-id": "usw2-az1",
	}
	for _, old := range []string{"beta.kubernetes.io/arch", "beta.kubernetes.io/os"} {
		delete(node.Labels, old) // the node controller's
	}
	if diff := cmp.Diff(labels, node.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	taints := map[string]corev1.TaintEffect{}
	for _, taint := range node.Spec.Taints {
		taints[taint.Key+"="+taint.Value] = taint.Effect
	}
	delete(taints, "node.kubernetes.io/not-ready=") // goes when the node controller looks
	if diff := cmp.Diff(map[string]corev1.TaintEffect{"karpenter.sh/unregistered=": "NoExecute", "dedicated=web": "NoSchedule"}, taints); diff != "" {
		t.Errorf("taints (-want +got):\n%s", diff)
	}
	lowered := catalog.Lower(cloud.Types, cloud.Sales, catalog.Options{Region: region, RootVolume: 50 << 30})
	for i := range lowered.Types {
		want := &lowered.Types[i]
		if want.Name != "m5.xlarge" {
			continue
		}
		if got := node.Status.Allocatable.Cpu().MilliValue(); got != want.Allocatable["cpu"] {
			t.Errorf("allocatable cpu %dm, want %dm", got, want.Allocatable["cpu"])
		}
		for name, n := range map[corev1.ResourceName]int64{"memory": want.Allocatable["memory"], "pods": want.Allocatable["pods"], "ephemeral-storage": want.Allocatable["ephemeral-storage"]} {
			if got := node.Status.Allocatable[name]; got.Value() != n {
				t.Errorf("allocatable %s %d, want %d", name, got.Value(), n)
			}
		}
	}
}
