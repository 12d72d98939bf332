package karpenter

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/test/kit/harness"
)

// order returns the order of kinds in which objects are created. Pods and ReplicaSets come
// without owners and before them, and are adopted: no controller makes others meanwhile.
func order() []string {
	return []string{"NodePool", "EC2NodeClass", "NodeClaim", "Node", "Pod", "ReplicaSet", "Deployment"}
}

// Restore puts the recorded instances and objects back. The stack has the definitions of
// the custom resources, and no controller runs.
func Restore(ctx context.Context, s *harness.Stack) error {
	machines, err := Machines()
	if err != nil {
		return err
	}
	boot, err := UserData()
	if err != nil {
		return err
	}
	// Their nodes are put back too: nothing may join for them.
	boot = strings.Replace(boot, "name: "+ClusterName, "name: elsewhere", 1)
	r := &restoring{stack: s}
	for _, m := range machines {
		id, name, err := Launch(ctx, s, &m, boot)
		if err != nil {
			return err
		}
		r.replace = append(r.replace, m.ID, id, m.Name, name)
	}
	all, err := Objects()
	if err != nil {
		return err
	}
	rank := func(o *unstructured.Unstructured) int { return slices.Index(order(), o.GetKind()) } // others first
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	for _, o := range all {
		if err := r.put(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// Launch starts an instance like a recorded one, with boot as its user data, and returns
// its ID and DNS name.
func Launch(ctx context.Context, s *harness.Stack, m *Machine, boot string) (id, name string, err error) {
	in := &ec2.RunInstancesInput{
		ImageId: &m.Image, InstanceType: ec2types.InstanceType(m.Type), MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
		SubnetId: &m.Subnet, SecurityGroupIds: []string{m.Group},
		UserData:          aws.String(base64.StdEncoding.EncodeToString([]byte(boot))),
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeInstance}},
	}
	for k, v := range m.Tags {
		in.TagSpecifications[0].Tags = append(in.TagSpecifications[0].Tags, ec2types.Tag{Key: &k, Value: &v})
	}
	if m.Spot {
		in.InstanceMarketOptions = &ec2types.InstanceMarketOptionsRequest{MarketType: ec2types.MarketTypeSpot}
	}
	out, err := s.EC2.RunInstances(ctx, in)
	if err != nil {
		return "", "", fmt.Errorf("launch an instance like %s: %w", m.ID, err)
	}
	return aws.ToString(out.Instances[0].InstanceId), aws.ToString(out.Instances[0].PrivateDnsName), nil
}

// restoring is a recording that is being put back. Identifiers that the simulator and the
// API server choose are replaced wherever the recording names them.
type restoring struct {
	stack   *harness.Stack
	replace []string // pairs of old and new
}

// put creates an object with its status.
func (r *restoring) put(ctx context.Context, o *unstructured.Unstructured) error {
	uid := string(o.GetUID())
	o.SetUID("")
	if kind := o.GetKind(); kind == "Pod" || kind == "ReplicaSet" {
		o.SetOwnerReferences(nil)
	}
	what := "create " + o.GetKind() + " " + o.GetName()
	text, err := o.MarshalJSON()
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := o.UnmarshalJSON([]byte(strings.NewReplacer(r.replace...).Replace(string(text)))); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	status := o.Object["status"]
	delete(o.Object, "status")
	// The namespace's ServiceAccount, which pods need, is made by another program.
	err = r.stack.Until(ctx, what, 30*time.Second, func(ctx context.Context) (string, bool) {
		err := r.stack.Client.Create(ctx, o)
		return fmt.Sprint(err), err == nil
	})
	if err != nil {
		return err
	}
	r.replace = append(r.replace, uid, string(o.GetUID()))
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := r.stack.Client.Status().Patch(ctx, o, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		return fmt.Errorf("%s: status: %w", what, err)
	}
	return nil
}
