package sim

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
func terminateInstances(s *Server, c *call, in *terminateRequest) (any, error) {
	switch {
	case len(in.IDs) == 0:
		return nil, missing("InstanceId")
	case len(in.IDs) > 1000:
		return nil, failf(codeInvalidValue, "At most 1000 instances can be terminated at once, not %d", len(in.IDs))
	}
	found, err := s.findInstances(c, in.IDs)
	if err != nil {
		return nil, err
	}
	for _, i := range found {
		if p := i.spec.data.DisableAPITermination; p != nil && *p {
			return nil, failf("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", i.id)
		}
	}
	if c.dryRun {
		return nil, errDryRun()
	}
	out := struct {
		Changes []stateChange `xml:"instancesSet>item"`
	}{}
	for _, i := range found {
		before := i.state(c.now)
		s.end(i, c.now, stateReason{"Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"})
		out.Changes = append(out.Changes, stateChange{i.id, i.state(c.now), before})
	}
	return out, nil
}
