package iam

import (
	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/tag"
)

// mergeIAM adds tags in IAM's words: at most 50.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html
func mergeIAM(to tag.Set, given []tag.Tag) (tag.Set, error) {
	if err := tag.Check(given); err != nil {
		return nil, awserr.New("ValidationError", "%s", awserr.Of(err).Message)
	}
	out, err := to.Merge(given)
	if err != nil {
		return nil, awserr.New("LimitExceeded", "%s", awserr.Of(err).Message)
	}
	return out, nil
}

type tagProfileRequest struct {
	Name string `query:"InstanceProfileName"`
	Tags []tag.Tag
}

// https://docs.aws.amazon.com/IAM/latest/APIReference/API_TagInstanceProfile.html
func (s *Service) tagProfile(_ *operation.Call, in *tagProfileRequest) (any, error) {
	p, err := s.find(in.Name)
	if err != nil {
		return nil, err
	}
	merged, err := mergeIAM(p.tags, in.Tags)
	if err != nil {
		return nil, err
	}
	p.tags = merged
	return struct{}{}, nil
}

type untagProfileRequest struct {
	Name string   `query:"InstanceProfileName"`
	Keys []string `query:"TagKeys"`
}

// https://docs.aws.amazon.com/IAM/latest/APIReference/API_UntagInstanceProfile.html
func (s *Service) untagProfile(_ *operation.Call, in *untagProfileRequest) (any, error) {
	p, err := s.find(in.Name)
	if err != nil {
		return nil, err
	}
	for _, k := range in.Keys {
		delete(p.tags, k)
	}
	return struct{}{}, nil
}
