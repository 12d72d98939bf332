package launchtemplate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"golang.org/x/sync/singleflight"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// templateFor is how long a launch template is taken to exist after it was made
// or found.
const templateFor = 5 * time.Minute

// Boot is what nodes of a class differ in when they start: NodePool, image, user data,
// hardware, and what their capacity is bought from.
type Boot struct {
	// NodePool is "" for a NodeClaim of none.
	NodePool string
	Image    string
	UserData string
	// Bought is how the capacity is bought, Reservation the reservation it is drawn from,
	// nil for none.
	Bought      model.CapacityType
	Reservation *awsv1.CapacityReservation
	// EFAs is the number of Elastic Fabric Adapters that pods requested on the node's type, 0
	// for none. IPv6 says that pods have IPv6 addresses.
	EFAs int64
	IPv6 bool
	// Tenancy is dedicated for hardware that no other account shares, "" for the default.
	Tenancy string
	// Group is the ID of the class's placement group, "" for none; Partition is the partition
	// in it, from 1, 0 where EC2 chooses.
	Group     string
	Partition int32
	// Enclaves divides the instance for Nitro Enclaves.
	Enclaves bool
}

// Templates makes, finds and deletes the launch templates of a cluster.
type Templates struct {
	EC2     client.Templates
	Cluster string
	Clock   func() time.Time

	// making keeps callers from making the same launch template at once.
	making singleflight.Group

	mu sync.Mutex
	// known are those known to exist, until when.
	known map[string]time.Time
	// groups are the placement groups of those that have one.
	groups map[string]string
}

// Input is the request that makes the launch template of a class and a boot. Its name holds
// a digest of the contents, so that equal templates are shared and none is ever changed:
// karpenter.k8s.aws/<image>/<digest>, and /<reservation> after it.
func (s *Templates) Input(class *awsv1.EC2NodeClass, b Boot) (*ec2.CreateLaunchTemplateInput, error) {
	data := contents(s.Cluster, class, b)
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, client.Refuse(provider.Invalid, "launch template of EC2NodeClass %s: %w", class.Name, err)
	}
	sum := sha256.Sum256(slices.Concat([]byte(s.Cluster+"\x00"+class.Name+"\x00"), raw))
	name := awsv1.LaunchTemplatePrefix + b.Image + "/" + hex.EncodeToString(sum[:12])
	if b.Reservation != nil {
		name += "/" + b.Reservation.ID
	}
	return &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: sdk.String(name),
		LaunchTemplateData: data,
		TagSpecifications:  []types.TagSpecification{{ResourceType: types.ResourceTypeLaunchTemplate, Tags: client.Tags(Tags(s.Cluster, class, b.NodePool))}},
	}, nil
}

// Ensure makes the launch template of a class and a boot, unless it exists, and gives its
// name.
func (s *Templates) Ensure(ctx context.Context, class *awsv1.EC2NodeClass, b Boot) (string, error) {
	in, err := s.Input(class, b)
	if err != nil {
		return "", err
	}
	s.inGroup(sdk.ToString(in.LaunchTemplateName), b.Group)
	return sdk.ToString(in.LaunchTemplateName), s.Make(ctx, class.Name, in)
}

// Make makes the launch template of a request of Input, unless it exists. Class is the name
// of its class.
func (s *Templates) Make(ctx context.Context, class string, in *ec2.CreateLaunchTemplateInput) error {
	name, now := sdk.ToString(in.LaunchTemplateName), s.Clock()
	if s.knows(name, now) {
		return nil
	}
	_, err, _ := s.making.Do(name, func() (any, error) {
		// Somebody may have made it since this caller looked.
		if s.knows(name, now) {
			return nil, nil //nolint:nilnil // there is nothing to give
		}
		_, err := s.EC2.CreateLaunchTemplate(ctx, in)
		if _, code := client.Classify(err); err != nil && code != "InvalidLaunchTemplateName.AlreadyExistsException" {
			return nil, client.Fault(err, "create launch template %s of EC2NodeClass %s", name, class)
		}
		s.know(name, now)
		return nil, nil //nolint:nilnil // as above
	})
	return err
}

// know notes that a template exists, and drops those that [Templates.Sweep] may delete.
func (s *Templates) know(name string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for old, until := range s.known {
		if now.Sub(until) > unusedFor-templateFor {
			delete(s.known, old)
			delete(s.groups, old)
		}
	}
	if s.known == nil {
		s.known = map[string]time.Time{}
	}
	s.known[name] = now.Add(templateFor)
}

// inGroup notes the placement group of a template.
func (s *Templates) inGroup(name, group string) {
	if group == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.groups == nil {
		s.groups = map[string]string{}
	}
	s.groups[name] = group
}

// GroupOf is the ID of a template's placement group, "" for none and for a template that
// this process has not made or found.
func (s *Templates) GroupOf(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.groups[name]
}

// knows says whether a template was made or found a moment ago.
func (s *Templates) knows(name string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.known[name])
}

// Forget makes the next Prepare look again.
func (s *Templates) Forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, name)
}

// ImageOf reads the image from a template's name.
func ImageOf(template string) string {
	rest, ours := strings.CutPrefix(template, awsv1.LaunchTemplatePrefix)
	image, _, ok := strings.Cut(rest, "/")
	if !ours || !ok {
		return ""
	}
	return image
}

// ReservationIn reads the reservation from a template's name, "" for none.
func ReservationIn(template string) string {
	if at := strings.LastIndexByte(template, '/'); strings.HasPrefix(template[at+1:], "cr-") {
		return template[at+1:]
	}
	return ""
}
