package upkeep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/aws/resolve"
)

// SweepEvery is how often unused things are looked for.
const SweepEvery = 30 * time.Minute

// Cloud deletes what is not used; aws.Provider is one.
type Cloud interface {
	SweepTemplates(context.Context) (deleted int, err error)
	// SweepProfiles spares what is in use.
	SweepProfiles(ctx context.Context, use resolve.ProfileUse) (deleted int, err error)
}

// Sweeper deletes launch templates and instance profiles that nothing uses. It
// runs on the leader only.
type Sweeper struct {
	Client client.Client
	Cloud  Cloud
	Clock  clock.WithTicker
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (s *Sweeper) NeedLeaderElection() bool { return true }

// Start runs until the context ends.
func (s *Sweeper) Start(ctx context.Context) error {
	ticker := s.Clock.NewTicker(SweepEvery)
	defer ticker.Stop()
	log := logr.FromContextOrDiscard(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
			if err := s.Sweep(ctx); err != nil {
				log.Error(err, "sweeping is put off", "next", SweepEvery.String())
			}
		}
	}
}

// Sweep makes one pass. What one half of it fails at does not keep the other.
func (s *Sweeper) Sweep(ctx context.Context) error {
	templates, failure := s.Cloud.SweepTemplates(ctx)
	use, err := s.inUse(ctx)
	if err != nil {
		return errors.Join(failure, err)
	}
	profiles, err := s.Cloud.SweepProfiles(ctx, use)
	if templates+profiles > 0 {
		logr.FromContextOrDiscard(ctx).Info("deleted what nothing uses", "launchTemplates", templates, "instanceProfiles", profiles)
	}
	return errors.Join(failure, err)
}

// inUse is what all classes name, those on their way out included, and the profiles that
// claims were launched with.
func (s *Sweeper) inUse(ctx context.Context) (resolve.ProfileUse, error) {
	use := resolve.ProfileUse{Roles: map[string]bool{}, Names: map[string]bool{}, Classes: map[types.UID]bool{}}
	var classes awsv1.EC2NodeClassList
	if err := s.Client.List(ctx, &classes); err != nil {
		return use, fmt.Errorf("list EC2NodeClasses: %w", err)
	}
	var claims karpv1.NodeClaimList
	if err := s.Client.List(ctx, &claims); err != nil {
		return use, fmt.Errorf("list NodeClaims: %w", err)
	}
	for i := range classes.Items {
		use.Roles[resolve.RoleName(classes.Items[i].Spec.Role)] = true
		use.Names[classes.Items[i].Status.InstanceProfile] = true
		use.Classes[classes.Items[i].UID] = true
	}
	for i := range claims.Items {
		use.Names[claims.Items[i].Annotations[awsv1.AnnotationInstanceProfile]] = true
	}
	return use, nil
}
