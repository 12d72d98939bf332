package app

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lock is what must be held to act: the controller's own lease and Karpenter's
// together, so that the two controllers never act on the same NodePools.
//
// client-go's MultiLock does not do: while the two have different holders it
// answers with the first lease's duration, and that of a lease that was
// released is one second. Karpenter's lease would be taken from it as soon as
// it renews a second late. Here a lease that somebody else holds is judged by
// its own record.
type lock struct {
	own, karpenter half
	log            logr.Logger

	mu     sync.Mutex
	holder string
}

// half is one of the two leases.
type half struct {
	resourcelock.Interface

	// absent says that it did not exist when it was last read.
	absent bool
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
	return &lock{own: half{Interface: own}, karpenter: half{Interface: karpenter}, log: log}, nil
}

func (o *Options) leaseNamespace() string {
	if o.LeaderElectionNamespace != "" {
		return o.LeaderElectionNamespace
	}
	return o.Namespace
}

// Get answers with the lease that is in the way, Karpenter's first: that is
// the record by whose age and duration the elector judges. When nobody else
// holds either of them it answers with the own one.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	karpenter, karpenterRaw, err := l.karpenter.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	own, ownRaw, err := l.own.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	raw := resourcelock.ConcatRawRecord(ownRaw, karpenterRaw)
	l.say(karpenter)
	switch {
	case l.others(karpenter):
		return karpenter, raw, nil
	case own != nil:
		return own, raw, nil
	case karpenter != nil:
		return karpenter, raw, nil
	default:
		// Neither exists; the elector knows a missing lease by this error.
		return l.own.Get(ctx)
	}
}

// read is the lease's record, nil when there is no such lease.
func (h *half) read(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := h.Get(ctx)
	h.absent = apierrors.IsNotFound(err)
	if h.absent {
		return nil, nil, nil
	}
	return record, raw, err
}

func (l *lock) others(r *resourcelock.LeaderElectionRecord) bool {
	return r != nil && r.HolderIdentity != "" && r.HolderIdentity != l.Identity()
}

// Create takes both leases when neither exists.
func (l *lock) Create(ctx context.Context, ler resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, ler)
}

// Update takes or renews both leases, the contested one first: whoever loses
// the race for it leaves the other alone.
func (l *lock) Update(ctx context.Context, ler resourcelock.LeaderElectionRecord) error {
	if err := l.karpenter.write(ctx, ler); err != nil {
		return fmt.Errorf("take lease %s: %w", l.karpenter.Describe(), err)
	}
	if err := l.own.write(ctx, ler); err != nil {
		return fmt.Errorf("take lease %s: %w", l.own.Describe(), err)
	}
	return nil
}

func (h *half) write(ctx context.Context, ler resourcelock.LeaderElectionRecord) error {
	if !h.absent {
		return h.Update(ctx, ler)
	}
	err := h.Create(ctx, ler)
	h.absent = err != nil
	return err
}

// Identity implements resourcelock.Interface.
func (l *lock) Identity() string { return l.own.Identity() }

// Describe implements resourcelock.Interface.
func (l *lock) Describe() string { return l.own.Describe() + " and " + l.karpenter.Describe() }

// RecordEvent implements resourcelock.Interface.
func (l *lock) RecordEvent(text string) {
	l.own.RecordEvent(text)
	l.karpenter.RecordEvent(text)
}

// say puts into the log who else holds Karpenter's lease, whenever that
// changes.
func (l *lock) say(karpenter *resourcelock.LeaderElectionRecord) {
	holder := ""
	if l.others(karpenter) {
		holder = karpenter.HolderIdentity
	}
	l.mu.Lock()
	changed := l.holder != holder
	l.holder = holder
	l.mu.Unlock()
	if changed && holder != "" {
		l.log.Info("not acting: Karpenter's lease is held by another controller; scale it to zero to let this one act, or run with --mode=Observe",
			"lease", l.karpenter.Describe(), "holder", holder)
	}
}
