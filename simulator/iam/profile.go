package iam

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/tag"
)

// profile is an instance profile with at most one role.
type profile struct {
	id, name, path string
	created        time.Time
	roles          []string
	tags           tag.Set
}

type profileRequest struct {
	Name string `query:"InstanceProfileName"`
}

func (s *Service) find(name string) (*profile, error) {
	if p := s.profiles[name]; p != nil {
		return p, nil
	}
	return nil, awserr.New("NoSuchEntity", "Instance Profile %s cannot be found.", name)
}

type profileResult struct {
	Profile profileXML `xml:"InstanceProfile"`
}

// https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetInstanceProfile.html
func (s *Service) getProfile(_ *operation.Call, in *profileRequest) (any, error) {
	p, err := s.find(in.Name)
	if err != nil {
		return nil, err
	}
	return profileResult{s.profileXML(p)}, nil
}

type createProfileRequest struct {
	Name string `query:"InstanceProfileName"`
	Path string
	Tags []tag.Tag
}

// createProfile makes an instance profile without a role.
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateInstanceProfile.html
func (s *Service) createProfile(c *operation.Call, in *createProfileRequest) (any, error) {
	if !regexp.MustCompile(`^[\w+=,.@-]{1,128}$`).MatchString(in.Name) {
		return nil, awserr.New("ValidationError", "The specified value for instanceProfileName is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_- and have at most 128 of them")
	}
	if in.Path == "" {
		in.Path = "/"
	}
	if !strings.HasPrefix(in.Path, "/") || !strings.HasSuffix(in.Path, "/") || len(in.Path) > 512 {
		return nil, awserr.New("ValidationError", "The specified value for path is invalid. It must begin and end with /")
	}
	if s.profiles[in.Name] != nil {
		return nil, awserr.New("EntityAlreadyExists", "Instance Profile %s already exists.", in.Name)
	}
	given, err := mergeIAM(tag.Set{}, in.Tags)
	if err != nil {
		return nil, err
	}
	p := &profile{id: s.ids.Upper("AIPA"), name: in.Name, path: in.Path, created: c.Now, tags: given}
	s.profiles[in.Name] = p
	return profileResult{s.profileXML(p)}, nil
}

// https://docs.aws.amazon.com/IAM/latest/APIReference/API_DeleteInstanceProfile.html
func (s *Service) deleteProfile(_ *operation.Call, in *profileRequest) (any, error) {
	p, err := s.find(in.Name)
	if err != nil {
		return nil, err
	}
	if len(p.roles) > 0 {
		return nil, awserr.New("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")
	}
	delete(s.profiles, in.Name)
	return struct{}{}, nil
}

type listProfilesRequest struct {
	PathPrefix string
	Marker     string
	MaxItems   int
}

// listProfiles lists profiles by path, without their tags, 100 at a time.
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_ListInstanceProfiles.html
func (s *Service) listProfiles(_ *operation.Call, in *listProfilesRequest) (any, error) {
	var all []profileXML
	for _, p := range s.profiles {
		if strings.HasPrefix(p.path, in.PathPrefix) {
			x := s.profileXML(p)
			x.Tags = nil
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b profileXML) int { return strings.Compare(a.Name, b.Name) })
	if in.MaxItems == 0 {
		in.MaxItems = 100
	}
	items, marker, err := listing.Page(all, listing.Paging{MaxResults: &in.MaxItems, NextToken: in.Marker}, 1, 1000)
	if err != nil {
		return nil, awserr.New("ValidationError", "%s", awserr.Of(err).Message)
	}
	return struct {
		Profiles  []profileXML `xml:"InstanceProfiles>member"`
		Truncated string       `xml:"IsTruncated"`
		Marker    string       `xml:"Marker,omitempty"`
	}{items, strconv.FormatBool(marker != ""), marker}, nil
}
