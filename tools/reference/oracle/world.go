package oracle

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/dynamicresources/deviceallocation"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/state/virtualpods"

	"spokeshave.dev/controller/core/model"
)

// World is a cluster as Karpenter sees it.
type World struct {
	Time     time.Time
	Settings model.Settings
	// Objects are all objects of the cluster: NodePools, NodeClaims, nodes, pods,
	// DaemonSets, namespaces, volumes and their claims.
	Objects []client.Object
	// Types are the instance types of each NodePool by its name.
	Types Types
}

// cluster is Karpenter's view of a World.
type cluster struct {
	client      client.Client
	state       *state.Cluster
	cloud       *cloud
	clock       *clocktesting.FakeClock
	provisioner *provisioning.Provisioner
	notes       notes
}

// load fills client and cluster state with the objects.
func load(ctx context.Context, w *World) (*cluster, error) {
	c := &cluster{cloud: &cloud{types: w.Types}, clock: clocktesting.NewFakeClock(w.Time)}
	c.client = fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(w.Objects...).
		WithInterceptorFuncs(interceptor.Funcs{Get: getVolume}).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }).
		WithIndex(&corev1.Node{}, "spec.providerID", func(o client.Object) []string { return []string{o.(*corev1.Node).Spec.ProviderID} }).
		WithIndex(&karpv1.NodeClaim{}, "status.providerID", func(o client.Object) []string { return []string{o.(*karpv1.NodeClaim).Status.ProviderID} }).
		WithIndex(&storagev1.VolumeAttachment{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*storagev1.VolumeAttachment).Spec.NodeName} }).
		Build()
	c.state = state.NewCluster(c.clock, c.client, c.cloud)
	c.provisioner = provisioning.NewProvisioner(c.client, &c.notes, c.cloud, c.state, c.clock, deviceallocation.NewController(c.client), virtualpods.NewVirtualPodCache(c.client))
	var claims karpv1.NodeClaimList
	var nodes corev1.NodeList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&claims, &nodes, &pods} {
		if err := c.client.List(ctx, list); err != nil {
			return nil, fmt.Errorf("list: %w", err)
		}
	}
	for i := range claims.Items {
		c.state.UpdateNodeClaim(&claims.Items[i])
	}
	for i := range nodes.Items {
		if err := c.state.UpdateNode(ctx, &nodes.Items[i]); err != nil {
			return nil, fmt.Errorf("node %s: %w", nodes.Items[i].Name, err)
		}
	}
	for i := range pods.Items {
		if err := c.state.UpdatePod(ctx, &pods.Items[i]); err != nil {
			return nil, fmt.Errorf("pod %s: %w", pods.Items[i].Name, err)
		}
	}
	return c, nil
}

// getVolume reads an object as an API server does, which ignores the namespace that
// Karpenter gives for a PersistentVolume.
func getVolume(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, ok := o.(*corev1.PersistentVolume); ok {
		key.Namespace = ""
	}
	return c.Get(ctx, key, o, opts...)
}

// withOptions is a context with the operator's settings.
func withOptions(ctx context.Context, s *model.Settings) context.Context {
	o := &options.Options{
		CPURequests: 1000, IgnoreDRARequests: true,
		PreferencePolicy: options.PreferencePolicyRespect, MinValuesPolicy: options.MinValuesPolicyStrict,
	}
	o.FeatureGates.ReservedCapacity = true
	o.FeatureGates.SpotToSpotConsolidation = s.SpotToSpot
	if s.IgnorePreferences {
		o.PreferencePolicy = options.PreferencePolicyIgnore
	}
	if s.RelaxMinValues {
		o.MinValuesPolicy = options.MinValuesPolicyBestEffort
	}
	return o.ToContext(ctx)
}
