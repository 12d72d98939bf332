package app

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/metric"
)

// measureState adds the metrics of the cluster's state: pods, and the status conditions of
// NodePools, NodeClaims, EC2NodeClasses and nodes.
func (p *components) measureState(ctx context.Context, view *cluster.Cluster) error {
	if p.options.DisableClusterStateObservability {
		return nil
	}
	if err := metrics.Registry.Register(&metric.PodCounts{Pods: view.Pods, Node: view.Node, Now: p.clock.Now, Leading: p.leading}); err != nil {
		return fmt.Errorf("register metrics of pods: %w", err)
	}
	c := p.mgr.GetClient()
	conditions := metric.NewConditions(metrics.Registry, p.shared, map[string]func() []client.Object{
		metric.KindNodeClaim:    lister(ctx, c, func(l *karpv1.NodeClaimList) []karpv1.NodeClaim { return l.Items }),
		metric.KindNodePool:     lister(ctx, c, func(l *karpv1.NodePoolList) []karpv1.NodePool { return l.Items }),
		metric.KindEC2NodeClass: lister(ctx, c, func(l *awsv1.EC2NodeClassList) []awsv1.EC2NodeClass { return l.Items }),
		metric.KindNode:         lister(ctx, c, func(l *corev1.NodeList) []corev1.Node { return l.Items }),
	}, p.clock.Now, p.leading)
	for name, kind := range map[string]client.Object{
		metric.KindNodeClaim: &karpv1.NodeClaim{}, metric.KindNodePool: &karpv1.NodePool{}, metric.KindEC2NodeClass: &awsv1.EC2NodeClass{}, metric.KindNode: &corev1.Node{},
	} {
		if err := p.watch(ctx, kind, conditions.Handler(name)); err != nil {
			return err
		}
	}
	return nil
}

// watch adds a handler to the watch cache of a kind.
func (p *components) watch(ctx context.Context, kind client.Object, handler toolscache.ResourceEventHandler) error {
	informer, err := p.mgr.GetCache().GetInformer(ctx, kind)
	if err != nil {
		return fmt.Errorf("watch %T: %w", kind, err)
	}
	if _, err := informer.AddEventHandler(handler); err != nil {
		return fmt.Errorf("watch %T: %w", kind, err)
	}
	return nil
}

// lister returns a function that lists the objects of the watch cache; none while they
// cannot be read.
func lister[T any, L any, P interface {
	*L
	client.ObjectList
}, O interface {
	*T
	client.Object
}](ctx context.Context, c client.Reader, items func(P) []T) func() []client.Object {
	return func() []client.Object {
		list := P(new(L))
		if err := c.List(ctx, list); err != nil {
			return nil
		}
		all := items(list)
		out := make([]client.Object, len(all))
		for i := range all {
			out[i] = O(&all[i])
		}
		return out
	}
}
