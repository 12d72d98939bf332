package instances

import (
	"context"
	"maps"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/cloud/aws/batch"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
)

// Terminate ends an instance. The error has kind NotFound when it is gone already.
func (s *Instances) Terminate(ctx context.Context, providerID string) error {
	id, err := InstanceID(providerID)
	if err != nil {
		return err
	}
	_, err = s.ends.Ask(ctx, id)
	switch {
	case err != nil && ctx.Err() != nil:
		return client.Refuse(provider.Unavailable, "terminate instance %s: %w", id, err)
	case err != nil:
		err = s.notSeenYet(id, client.Fault(err, "terminate instance %s", id))
		if provider.KindOf(err) != provider.NotFound {
			s.notEnded(providerID)
		}
		return err
	}
	return nil
}

// terminateAll ends instances in one call. EC2 refuses all when it refuses one,
// so that a refused call is halved until the culprit stands alone.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_TerminateInstances.html
func (s *Instances) terminateAll(ctx context.Context, ids []string) map[string]batch.Answer[struct{}] {
	out, err := s.cfg.EC2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids})
	if err != nil {
		if kind, _ := client.Classify(err); len(ids) == 1 || !kind.Definitive() || kind == provider.Unauthorized {
			return batch.ToAll[string, struct{}](ids, err)
		}
		answers := s.terminateAll(ctx, ids[:len(ids)/2])
		maps.Copy(answers, s.terminateAll(ctx, ids[len(ids)/2:]))
		return answers
	}
	answers := batch.ToAll[string, struct{}](ids, nil)
	for _, change := range out.TerminatingInstances {
		if before := change.PreviousState; before != nil && before.Name == types.InstanceStateNameTerminated {
			id := sdk.ToString(change.InstanceId)
			answers[id] = batch.Answer[struct{}]{Err: client.Refuse(provider.NotFound, "it is terminated")}
		}
	}
	return answers
}

// NewFailures makes the metric of instances that could not be ended, under Karpenter's
// name.
func NewFailures() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "karpenter_cloudprovider_instance_termination_failures_total", Help: "Instances that could not be ended, each time that it was tried; those that are gone already are none.",
	}, []string{"zone", "zone_id"})
}

func (s *Instances) notEnded(providerID string) {
	if s.cfg.Failures == nil {
		return
	}
	zone, _, _ := strings.Cut(strings.TrimPrefix(providerID, "aws:///"), "/")
	s.cfg.Failures.WithLabelValues(zone, s.cfg.ZoneID(zone)).Inc()
}
