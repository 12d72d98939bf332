package instances

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/prometheus/client_golang/prometheus"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/batch"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
)

// SettleTime is how long EC2's reads may trail its writes.
// https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
const SettleTime = 2 * time.Minute

// unclaimedFor is how long an instance may be without the tag of its claim.
const unclaimedFor = 5 * time.Minute

// maxFilterValues is how many values a filter takes, maxEnds how many instances
// are ended in one call: EC2 takes 1,000 and advises to keep below.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html
const (
	maxFilterValues = 200
	maxEnds         = 500
)

// How long callers that look at instances or end them wait for each other.
const (
	batchIdle    = 35 * time.Millisecond
	batchLongest = 500 * time.Millisecond
)

// Instances finds, tags and ends the instances of a cluster. Make it with New.
type Instances struct {
	cfg Config

	gets batch.Batcher[string, *provider.Instance]
	ends batch.Batcher[string, struct{}]

	mu sync.Mutex
	// recent are instances launched a moment ago, which reads may not show yet.
	recent map[string]sighting
}

// Config says where instances are and whose.
type Config struct {
	EC2 client.Instances
	// Cluster is the value of the tag that says whose an instance is.
	Cluster string
	Clock   func() time.Time
	// Batches records what was asked together; nil records nothing.
	Batches *batch.Metrics
	// Failures counts instances that could not be ended, by zone and zone ID; nil counts
	// nothing. ZoneID is the ID of a zone, empty when it is not known.
	Failures *prometheus.CounterVec
	ZoneID   func(zone string) string
}

// New makes Instances.
func New(cfg Config) *Instances {
	s := &Instances{cfg: cfg, recent: map[string]sighting{}}
	s.gets = batch.Batcher[string, *provider.Instance]{
		Idle: batchIdle, Longest: batchLongest, Most: 5 * maxFilterValues, Timeout: 2 * client.CallTimeout,
		Do: s.getAll, Closed: cfg.Batches.Closed("describe_instances"),
	}
	s.ends = batch.Batcher[string, struct{}]{
		Idle: batchIdle, Longest: batchLongest, Most: maxEnds, Timeout: 2 * client.CallTimeout,
		Do: s.terminateAll, Closed: cfg.Batches.Closed("terminate_instances"),
	}
	return s
}

// Expect makes the next n instances that are looked at, or ended, share a call, in tests:
// the window closes when all have been asked for. What it returns ends that.
func (s *Instances) Expect(_ testing.TB, n int) (undo func()) {
	undoGets, undoEnds := s.gets.Expect(n), s.ends.Expect(n)
	return func() { undoGets(); undoEnds() }
}

// Get describes an instance by provider ID. The error has kind NotFound when it is
// unknown or terminated.
func (s *Instances) Get(ctx context.Context, providerID string) (provider.Instance, error) {
	id, err := InstanceID(providerID)
	if err != nil {
		return provider.Instance{}, err
	}
	found, err := s.gets.Ask(ctx, id)
	switch {
	case err != nil && ctx.Err() != nil:
		return provider.Instance{}, client.Refuse(provider.Unavailable, "get instance %s: %w", id, err)
	case err != nil:
		return provider.Instance{}, client.Fault(err, "get instance %s", id)
	case found == nil:
		if fresh, ok := s.sighted(id); ok {
			return fresh, nil
		}
		return provider.Instance{}, client.Refuse(provider.NotFound, "get instance %s: no such instance", id)
	case found.State == string(types.InstanceStateNameTerminated):
		s.forget(id)
		return provider.Instance{}, client.Refuse(provider.NotFound, "get instance %s: it is terminated", id)
	}
	return s.claimed(*found), nil
}

// Look is an instance as EC2 shows it, nil when it shows none.
func (s *Instances) Look(ctx context.Context, id string) (*provider.Instance, error) {
	return s.gets.Ask(ctx, id)
}

// getAll describes instances by id, as many in a call as a filter takes. The
// answer for one that does not exist is nil: filters, unlike ids, do not fail.
func (s *Instances) getAll(ctx context.Context, ids []string) map[string]batch.Answer[*provider.Instance] {
	out := make(map[string]batch.Answer[*provider.Instance], len(ids))
	for chunk := range slices.Chunk(ids, maxFilterValues) {
		for _, id := range chunk {
			out[id] = batch.Answer[*provider.Instance]{}
		}
		// Without a filter on the state, a terminated instance is told from an
		// unseen one.
		found, err := s.Find(ctx, client.Filter("instance-id", chunk...))
		if err != nil {
			maps.Copy(out, batch.ToAll[string, *provider.Instance](chunk, err))
			continue
		}
		for i := range found {
			out[IDOf(&found[i])] = batch.Answer[*provider.Instance]{Value: &found[i]}
		}
	}
	return out
}

// claimed fills in the claim of an instance that is not tagged with it yet.
func (s *Instances) claimed(i provider.Instance) provider.Instance {
	if i.Claim == "" {
		if fresh, ok := s.sighted(IDOf(&i)); ok {
			i.Claim = fresh.Claim
		}
	}
	return i
}

// List describes every instance of the cluster that a NodePool launched and that is not
// terminated.
func (s *Instances) List(ctx context.Context) ([]provider.Instance, error) {
	found, err := s.Find(ctx,
		client.Filter("tag-key", awsv1.TagNodePool),
		client.Filter("tag:"+awsv1.TagEKSCluster, s.cfg.Cluster),
		Living())
	if err != nil {
		return nil, client.Fault(err, "list instances of cluster %s", s.cfg.Cluster)
	}
	now := s.cfg.Clock()
	ours := found[:0]
	for i := range found {
		in := s.claimed(found[i])
		// A claim that is about to be written on the instance is not known yet; one
		// that nobody wrote in a long time has been forgotten.
		forgotten := in.Tags[awsv1.TagLaunch] != "" && now.Sub(in.LaunchTime) > unclaimedFor
		if in.Claim != "" || forgotten {
			ours = append(ours, in)
		}
	}
	return s.withUnseen(ctx, ours)
}

// withUnseen adds the instances launched a moment ago that a list does not show
// yet. Those that it does not show because they are terminated stay out.
func (s *Instances) withUnseen(ctx context.Context, found []provider.Instance) ([]provider.Instance, error) {
	unseen := s.recently()
	for i := range found {
		delete(unseen, IDOf(&found[i]))
	}
	shown := s.getAll(ctx, slices.Sorted(maps.Keys(unseen)))
	for _, id := range slices.Sorted(maps.Keys(unseen)) {
		a := shown[id]
		switch {
		case a.Err != nil:
			return nil, client.Fault(a.Err, "list instances of cluster %s", s.cfg.Cluster)
		case a.Value == nil:
			found = append(found, unseen[id])
		case a.Value.State == string(types.InstanceStateNameTerminated):
			s.forget(id)
		default:
			found = append(found, s.claimed(*a.Value))
		}
	}
	return found, nil
}
