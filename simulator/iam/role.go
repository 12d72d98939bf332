package iam

import (
	"slices"
	"strings"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/operation"
)

type roleInProfile struct {
	Profile string `query:"InstanceProfileName"`
	Role    string `query:"RoleName"`
}

// addRole puts a role into a profile, which holds one only.
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_AddRoleToInstanceProfile.html
func (s *Service) addRole(_ *operation.Call, in *roleInProfile) (any, error) {
	p, err := s.find(in.Profile)
	switch {
	case err != nil:
		return nil, err
	case strings.Contains(in.Role, "/"):
		return nil, awserr.New("ValidationError", "The specified value for roleName is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-")
	case !slices.Contains(s.roles, in.Role):
		return nil, awserr.New("NoSuchEntity", "The role with name %s cannot be found.", in.Role)
	case len(p.roles) > 0:
		return nil, awserr.New("LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
	}
	p.roles = []string{in.Role}
	return struct{}{}, nil
}

// https://docs.aws.amazon.com/IAM/latest/APIReference/API_RemoveRoleFromInstanceProfile.html
func (s *Service) removeRole(_ *operation.Call, in *roleInProfile) (any, error) {
	p, err := s.find(in.Profile)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(p.roles, in.Role) {
		return nil, awserr.New("NoSuchEntity", "The role with name %s is not in instance profile %s.", in.Role, in.Profile)
	}
	p.roles = nil
	return struct{}{}, nil
}

type roleRequest struct {
	Role string `query:"RoleName"`
}

// https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetRole.html
func (s *Service) getRole(_ *operation.Call, in *roleRequest) (any, error) {
	if !slices.Contains(s.roles, in.Role) {
		return nil, awserr.New("NoSuchEntity", "The role with name %s cannot be found.", in.Role)
	}
	return struct {
		Role roleXML `xml:"Role"`
	}{s.roleXML(in.Role)}, nil
}
