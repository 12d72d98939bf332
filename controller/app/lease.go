package app

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lock is what must be held to act: the controller's own lease and Karpenter's
// together, so that the two controllers never act on the same NodePools. While
// the leases have different holders nobody here is the leader.
type lock struct {
	resourcelock.Interface

	karpenter resourcelock.Interface
	log       logr.Logger

	mu     sync.Mutex
	holder string
}

func newLock(o *Options, cfg *rest.Config, log logr.Logger) (resourcelock.Interface, error) {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("make lease client: %w", err)
	}
	lease := func(namespace, name string) (resourcelock.Interface, error) {
		return resourcelock.New(resourcelock.LeasesResourceLock, namespace, name, client.CoreV1(), client.CoordinationV1(),
			resourcelock.ResourceLockConfig{Identity: o.Identity})
	}
	own, err := lease(o.leaseNamespace(), o.LeaderElectionName)
	if err != nil {
		return nil, fmt.Errorf("make lease %s: %w", o.LeaderElectionName, err)
	}
	if Mode(o.Mode) == Observe {
		return own, nil
	}
	karpenter, err := lease(o.KarpenterLeaseNamespace, o.KarpenterLeaseName)
	if err != nil {
		return nil, fmt.Errorf("make lease %s: %w", o.KarpenterLeaseName, err)
	}
	both := &resourcelock.MultiLock{Primary: own, Secondary: karpenter}
	return &lock{Interface: both, karpenter: karpenter, log: log}, nil
}

func (o *Options) leaseNamespace() string {
	if o.LeaderElectionNamespace != "" {
		return o.LeaderElectionNamespace
	}
	return o.Namespace
}

// Get says in the log who else holds Karpenter's lease, whenever that changes.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil && record.HolderIdentity == resourcelock.UnknownLeader {
		if other, _, err := l.karpenter.Get(ctx); err == nil {
			l.say(other.HolderIdentity)
		}
	}
	return record, raw, err
}

func (l *lock) say(holder string) {
	l.mu.Lock()
	changed := l.holder != holder
	l.holder = holder
	l.mu.Unlock()
	if changed && holder != "" {
		l.log.Info("not acting: Karpenter's lease is held by another controller; scale it to zero to let this one act, or run with --mode=Observe",
			"lease", l.karpenter.Describe(), "holder", holder)
	}
}
