package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"spokeshave.dev/controller/cloud/provider"
)

// decode reads an attempt back, and refuses what is not one of ours.
func decode(attempt *provider.Attempt) (*ec2.CreateFleetInput, error) {
	decoder := json.NewDecoder(bytes.NewReader(attempt.Request))
	decoder.DisallowUnknownFields()
	var in ec2.CreateFleetInput
	if err := decoder.Decode(&in); err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	switch {
	case sdk.ToString(in.ClientToken) != attempt.Token || attempt.Token == "":
		return nil, fmt.Errorf("decode request: its token %q is not the attempt's %q", sdk.ToString(in.ClientToken), attempt.Token)
	case in.Type != types.FleetTypeInstant:
		return nil, fmt.Errorf("decode request: fleet type %q, want %q", in.Type, types.FleetTypeInstant)
	case owned(attempt) != nil:
		return nil, owned(attempt)
	case in.TargetCapacitySpecification == nil || int(sdk.ToInt32(in.TargetCapacitySpecification.TotalTargetCapacity)) != len(attempt.Claims):
		return nil, fmt.Errorf("decode request: it does not ask for one instance for each of %d claims", len(attempt.Claims))
	}
	for i := range in.LaunchTemplateConfigs {
		c := &in.LaunchTemplateConfigs[i]
		if c.LaunchTemplateSpecification == nil || len(c.Overrides) == 0 {
			return nil, fmt.Errorf("decode request: launch template configuration %d is empty", i)
		}
	}
	if len(in.LaunchTemplateConfigs) == 0 {
		return nil, errors.New("decode request: it has no launch template configuration")
	}
	return &in, nil
}

// owned refuses a copy of an attempt on a claim that is none of the attempt's.
func owned(attempt *provider.Attempt) error {
	if !slices.Contains(attempt.Claims, attempt.Owner()) {
		return fmt.Errorf("decode request: it is for claims %q and held by %q", attempt.Claims, attempt.Claim)
	}
	return nil
}
