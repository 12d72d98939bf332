package joiner

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kwokLabel marks the Nodes that KWOK plays kubelet for.
const kwokLabel = "spokeshave.dev/kwok"

// zoneIDLabel is set by the AWS cloud controller manager.
// https://github.com/kubernetes/cloud-provider-aws
const zoneIDLabel = "topology.k8s.aws/zone-id"

// join registers the machine's Node.
func (j *joiner) join(ctx context.Context, m *machine) error {
	id := aws.ToString(m.InstanceId)
	if m.boot == nil {
		if err := j.readBoot(ctx, m); err != nil {
			return err
		}
	}
	if why := j.joinProblem(m); why != "" {
		m.failed = true
		j.Log.Error("instance will not join", "instance", id, "reason", why)
		return nil
	}
	node, err := j.node(m)
	if err != nil {
		m.failed = true
		j.Log.Error("instance will not join", "instance", id, "reason", err.Error())
		return nil
	}
	_, err = j.kube.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return j.adoptNode(ctx, m, node)
	}
	if apierrors.IsInvalid(err) {
		m.failed = true
		j.Log.Error("instance will not join", "instance", id, "reason", err.Error())
		return nil
	}
	if err != nil {
		return fmt.Errorf("create node %s of instance %s: %w", node.Name, id, err)
	}
	m.joined = true
	j.Log.Info("node registers", "node", node.Name, "instance", id, "type", m.InstanceType)
	return nil
}

// adoptNode deals with a Node that exists: it is the machine's own, or that of an
// earlier machine with the same address, which has to go first.
func (j *joiner) adoptNode(ctx context.Context, m *machine, node *corev1.Node) error {
	there, err := j.kube.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil // gone by now; the next round creates it
	case err != nil:
		return fmt.Errorf("get node %s: %w", node.Name, err)
	case there.Spec.ProviderID != node.Spec.ProviderID:
		return fmt.Errorf("create node %s: the node of %s still has that name", node.Name, there.Spec.ProviderID)
	}
	m.joined = true
	return nil
}

// readBoot asks EC2 for the user data and the root volume.
func (j *joiner) readBoot(ctx context.Context, m *machine) error {
	id := aws.ToString(m.InstanceId)
	out, err := j.EC2.DescribeInstanceAttribute(ctx, &ec2.DescribeInstanceAttributeInput{
		InstanceId: m.InstanceId, Attribute: types.InstanceAttributeNameUserData,
	})
	if err != nil {
		return fmt.Errorf("read user data of instance %s: %w", id, err)
	}
	volumes, err := j.EC2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{
		Filters: []types.Filter{
			{Name: aws.String("attachment.instance-id"), Values: []string{id}},
			{Name: aws.String("attachment.device"), Values: []string{aws.ToString(m.RootDeviceName)}},
		},
	})
	if err != nil {
		return fmt.Errorf("describe root volume of instance %s: %w", id, err)
	}
	for i := range volumes.Volumes {
		m.volume = int64(aws.ToInt32(volumes.Volumes[i].Size)) << 30
	}
	text := ""
	if out.UserData != nil {
		text = aws.ToString(out.UserData.Value)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		m.boot, err = readUserData(string(raw))
	}
	if err != nil {
		m.boot = &boot{fault: err.Error()}
	}
	return nil
}

// joinProblem says why the machine cannot join; empty when it can.
func (j *joiner) joinProblem(m *machine) string {
	switch {
	case m.boot.fault != "":
		return m.boot.fault
	case m.boot.cluster != "" && m.boot.cluster != j.Cluster:
		return fmt.Sprintf("its user data names cluster %q, not %q", m.boot.cluster, j.Cluster)
	case j.types[string(m.InstanceType)] == nil:
		return fmt.Sprintf("instance type %s is not in the catalogue", m.InstanceType)
	case m.Placement == nil || aws.ToString(m.PrivateDnsName) == "":
		return "EC2 tells no placement or no private DNS name"
	default:
		return ""
	}
}

// node is the Node object as kubelet creates it, with what the cloud controller
// manager adds.
func (j *joiner) node(m *machine) (*corev1.Node, error) {
	capacity, allocatable, err := j.resources(m)
	if err != nil {
		return nil, err
	}
	kind := j.types[string(m.InstanceType)]
	name, zone := aws.ToString(m.PrivateDnsName), aws.ToString(m.Placement.AvailabilityZone)
	labels := map[string]string{
		corev1.LabelHostname: name, corev1.LabelArchStable: kind.Arch, corev1.LabelOSStable: osOf(m),
		corev1.LabelInstanceTypeStable: kind.Name, corev1.LabelTopologyZone: zone, corev1.LabelTopologyRegion: j.Region,
		kwokLabel: "true",
	}
	if zoneID := aws.ToString(m.Placement.AvailabilityZoneId); zoneID != "" {
		labels[zoneIDLabel] = zoneID
	}
	maps.Copy(labels, m.boot.labels)
	now := metav1.NewTime(j.Clock.Now())
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.NodeSpec{ProviderID: providerID(zone, aws.ToString(m.InstanceId)), Taints: m.boot.taints},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: allocatable,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: aws.ToString(m.PrivateIpAddress)},
				{Type: corev1.NodeInternalDNS, Address: name},
				{Type: corev1.NodeHostName, Address: name},
			},
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady",
				Message: "container runtime network not ready", LastHeartbeatTime: now, LastTransitionTime: now,
			}},
			NodeInfo: corev1.NodeSystemInfo{
				Architecture: kind.Arch, OperatingSystem: osOf(m), KubeletVersion: j.KubeletVersion,
				ContainerRuntimeVersion: "containerd://2.1.4", MachineID: aws.ToString(m.InstanceId), SystemUUID: aws.ToString(m.InstanceId),
			},
		},
	}, nil
}

func osOf(m *machine) string {
	if strings.EqualFold(string(m.Platform), "windows") {
		return "windows"
	}
	return "linux"
}

func providerID(zone, instance string) string { return "aws:///" + zone + "/" + instance }
