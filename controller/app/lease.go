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

// lock is the leader-election lock: the controller's own lease together with
// Karpenter's, so that the two controllers never act on the same NodePools.
//
// client-go's MultiLock does not suffice. While the two leases have different holders,
// it returns the duration of the first lease, and that of a released lease is one
// second. Karpenter's lease would be taken over as soon as Karpenter renews it one
// second late. This lock returns the record of a lease that another process holds
// unchanged.
type lock struct {
	own, karpenter singleLease
	log            logr.Logger

	mu     sync.Mutex
	holder string
}

// singleLease is one of the two leases.
type singleLease struct {
	resourcelock.Interface

	// absent says that the lease did not exist when it was last read.
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
	return &lock{own: singleLease{Interface: own}, karpenter: singleLease{Interface: karpenter}, log: log}, nil
}

func (o *Options) leaseNamespace() string {
	if o.LeaderElectionNamespace != "" {
		return o.LeaderElectionNamespace
	}
	return o.Namespace
}

// Get returns Karpenter's lease while another process holds it: the elector judges by
// the age and duration of that record. Otherwise it returns the own lease if it exists,
// or else Karpenter's.
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
	l.logHolder(karpenter)
	switch {
	case l.heldByOther(karpenter):
		return karpenter, raw, nil
	case own != nil:
		return own, raw, nil
	case karpenter != nil:
		return karpenter, raw, nil
	default:
		// Neither exists. The elector expects this error for a missing lease.
		return l.own.Get(ctx)
	}
}

// read returns the lease's record, nil when the lease does not exist.
func (h *singleLease) read(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := h.Get(ctx)
	h.absent = apierrors.IsNotFound(err)
	if h.absent {
		return nil, nil, nil
	}
	return record, raw, err
}

func (l *lock) heldByOther(r *resourcelock.LeaderElectionRecord) bool {
	return r != nil && r.HolderIdentity != "" && r.HolderIdentity != l.Identity()
}

// Create takes both leases when neither exists.
func (l *lock) Create(ctx context.Context, ler resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, ler)
}

// Update takes or renews both leases, Karpenter's first, because that is the contested
// one. A process that loses it does not take the other.
func (l *lock) Update(ctx context.Context, ler resourcelock.LeaderElectionRecord) error {
	if err := l.karpenter.write(ctx, ler); err != nil {
		return fmt.Errorf("take lease %s: %w", l.karpenter.Describe(), err)
	}
	if err := l.own.write(ctx, ler); err != nil {
		return fmt.Errorf("take lease %s: %w", l.own.Describe(), err)
	}
	return nil
}

func (h *singleLease) write(ctx context.Context, ler resourcelock.LeaderElectionRecord) error {
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

// logHolder logs who else holds Karpenter's lease, whenever that changes.
func (l *lock) logHolder(karpenter *resourcelock.LeaderElectionRecord) {
	holder := ""
	if l.heldByOther(karpenter) {
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
