package oracle

import (
	"context"
	"errors"

	"github.com/awslabs/operatorpkg/status"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/test/v1alpha1"
)

// ClassGroup and ClassKind are what the NodePools and NodeClaims of a World must
// refer to, so that they are taken for managed.
const (
	ClassGroup = "karpenter.test.sh"
	ClassKind  = "TestNodeClass"
)

// errNotACloud is the answer to every call but for instance types.
var errNotACloud = errors.New("nothing is launched here")

// cloud is a cloud provider that knows instance types and launches nothing.
type cloud struct{ types Types }

// GetInstanceTypes returns a copy: Karpenter sorts what it gets.
func (c *cloud) GetInstanceTypes(_ context.Context, pool *karpv1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return append([]*cloudprovider.InstanceType(nil), c.types[pool.Name]...), nil
}

func (*cloud) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&v1alpha1.TestNodeClass{}}
}

func (*cloud) Name() string                                 { return "none" }
func (*cloud) RepairPolicies() []cloudprovider.RepairPolicy { return nil }
func (*cloud) Create(context.Context, *karpv1.NodeClaim) (*karpv1.NodeClaim, error) {
	return nil, errNotACloud
}
func (*cloud) Delete(context.Context, *karpv1.NodeClaim) error { return errNotACloud }
func (*cloud) Get(context.Context, string) (*karpv1.NodeClaim, error) {
	return nil, errNotACloud
}
func (*cloud) List(context.Context) ([]*karpv1.NodeClaim, error) { return nil, errNotACloud }
func (*cloud) IsDrifted(context.Context, *karpv1.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}
