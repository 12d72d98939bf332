package ec2

import (
	"cmp"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/tag"
)

// runner answers RunInstances.
type runner struct {
	launcher  *launcher
	templates *templates
	tokens    *tokens
	reader    *reader
}

// runRequest is a RunInstances call: template data at the top level.
type runRequest struct {
	templateData
	ClientToken    string
	MinCount       int
	MaxCount       int
	SubnetID       string `query:"SubnetId"`
	LaunchTemplate *fleetTemplateXML
}

// runInstances launches one to MaxCount equal instances, at least MinCount.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RunInstances.html
func (s *runner) runInstances(c *operation.Call, in *runRequest) (any, error) {
	switch {
	case in.MinCount < 1:
		return nil, awserr.New(awserr.InvalidValue, "Value (%d) for parameter minCount is invalid. Expecting at least 1", in.MinCount)
	case in.MaxCount < in.MinCount:
		return nil, awserr.New(awserr.InvalidValue, "Value (%d) for parameter maxCount is invalid. It must not be below minCount", in.MaxCount)
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	return s.tokens.once(c, in.ClientToken, func() (any, error) {
		l, err := s.runSpec(in)
		if err != nil {
			return nil, err
		}
		if c.DryRun {
			return nil, awserr.DryRun()
		}
		return s.runSome(c, in, l)
	})
}

// runSpec lays the parameters of the request over those of its template.
func (s *runner) runSpec(in *runRequest) (launchSpec, error) {
	data, id, version := in.templateData, "", 0
	if in.LaunchTemplate != nil {
		t, err := s.templates.find(in.LaunchTemplate.ID, in.LaunchTemplate.Name)
		if err != nil {
			return launchSpec{}, err
		}
		v, err := t.version(in.LaunchTemplate.Version)
		if err != nil {
			return launchSpec{}, err
		}
		id, version = t.id, v.number
		data = v.data
		data.ImageID = cmp.Or(in.ImageID, data.ImageID)
		data.InstanceType = cmp.Or(in.InstanceType, data.InstanceType)
		data.UserData = cmp.Or(in.UserData, data.UserData)
		data.IamInstanceProfile = cmp.Or(in.IamInstanceProfile, data.IamInstanceProfile)
		data.InstanceMarketOptions = cmp.Or(in.InstanceMarketOptions, data.InstanceMarketOptions)
		data.Placement = cmp.Or(in.Placement, data.Placement)
	}
	where := placementXML{}
	if data.Placement != nil {
		where = *data.Placement
	}
	subnetID := in.SubnetID
	for _, n := range data.NetworkInterfaces {
		subnetID = cmp.Or(subnetID, n.SubnetID)
	}
	// m1.small is the default of old.
	// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RunInstances.html
	data.InstanceType = cmp.Or(data.InstanceType, "m1.small")
	l, err := s.launcher.resolve(data, where, subnetID)
	l.template, l.version = id, version
	l.spot = data.InstanceMarketOptions != nil && data.InstanceMarketOptions.MarketType == "spot"
	return l, err
}

// runSome launches what a pool gives, all or nothing below MinCount.
func (s *runner) runSome(c *operation.Call, in *runRequest, l launchSpec) (any, error) {
	given, err := tag.For(in.TagSpecifications, "instance", "instance", "volume", "network-interface", "spot-instances-request", "elastic-gpu")
	if err != nil {
		return nil, err
	}
	origin := instance{reservation: s.launcher.ids.New("r"), token: in.ClientToken}
	var started []*instance
	for len(started) < in.MaxCount {
		err := s.launcher.available(c, &l)
		if err == nil {
			var i *instance
			if i, err = s.launcher.start(c, l, given, origin); err == nil {
				started = append(started, i)
				continue
			}
		}
		if len(started) >= in.MinCount {
			break
		}
		for _, i := range started {
			s.launcher.instances.undo(i)
		}
		return nil, err
	}
	r := reservationXML{ID: origin.reservation, Owner: s.reader.account.ID}
	for _, i := range started {
		x := s.reader.instanceXML(i, c.Now)
		x.Tags = i.tags.List()
		r.Instances = append(r.Instances, x)
	}
	return r, nil
}
