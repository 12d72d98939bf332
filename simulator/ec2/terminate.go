package ec2

import (
	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/operation"
)

type terminateRequest struct {
	IDs            []string `query:"InstanceId"`
	Force          bool
	SkipOSShutdown bool `query:"SkipOsShutdown"`
}

type stateChange struct {
	ID       string        `xml:"instanceId"`
	Current  instanceState `xml:"currentState"`
	Previous instanceState `xml:"previousState"`
}

// terminateInstances shuts instances down. It is idempotent, and all or nothing
// as to IDs that do not exist.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_TerminateInstances.html
func (s *instances) terminateInstances(c *operation.Call, in *terminateRequest) (any, error) {
	switch {
	case len(in.IDs) == 0:
		return nil, awserr.Missing("InstanceId")
	case len(in.IDs) > 1000:
		return nil, awserr.New(awserr.InvalidValue, "At most 1000 instances can be terminated at once, not %d", len(in.IDs))
	}
	found, err := s.findAll(c, in.IDs)
	if err != nil {
		return nil, err
	}
	for _, i := range found {
		if p := i.spec.data.DisableAPITermination; p != nil && *p {
			return nil, awserr.New("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", i.id)
		}
	}
	if c.DryRun {
		return nil, awserr.DryRun()
	}
	out := struct {
		Changes []stateChange `xml:"instancesSet>item"`
	}{}
	for _, i := range found {
		before := i.state(c.Now)
		s.end(i, c.Now, stateReason{"Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"})
		out.Changes = append(out.Changes, stateChange{i.id, i.state(c.Now), before})
	}
	return out, nil
}
