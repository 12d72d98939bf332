// Package iam is the part of IAM that a node autoscaler calls: instance profiles
// with their tags and roles. Roles exist from the start and cannot be made.
//
// Not here: policies and permissions (package policy evaluates them), and users.
package iam

import (
	"maps"
	"slices"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/operation"
)

// Service is IAM for one account. It is not safe for concurrent use.
type Service struct {
	account  ids.Account
	ids      *ids.Source
	roles    []string
	profiles map[string]*profile
}

// New is IAM with the roles given and no instance profile.
func New(account ids.Account, source *ids.Source, roles []string) *Service {
	return &Service{account: account, ids: source, roles: roles, profiles: make(map[string]*profile)}
}

// Operations are the actions that this service answers.
func (s *Service) Operations() map[string]operation.Operation {
	return map[string]operation.Operation{
		"GetInstanceProfile":            operation.Writes(s.getProfile),
		"CreateInstanceProfile":         operation.Writes(s.createProfile),
		"DeleteInstanceProfile":         operation.Writes(s.deleteProfile),
		"AddRoleToInstanceProfile":      operation.Writes(s.addRole),
		"RemoveRoleFromInstanceProfile": operation.Writes(s.removeRole),
		"ListInstanceProfiles":          operation.Writes(s.listProfiles),
		"TagInstanceProfile":            operation.Writes(s.tagProfile),
		"UntagInstanceProfile":          operation.Writes(s.untagProfile),
		"GetRole":                       operation.Writes(s.getRole),
	}
}

// Profile is an instance profile as other services see it, with the ARN of its
// role.
type Profile struct{ ID, ARN, RoleARN string }

// Resolve finds the instance profile of a launch by name or ARN, one of which is
// given. The profile must hold a role.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_switch-role-ec2_instance-profiles.html
func (s *Service) Resolve(name, arn string) (Profile, error) {
	for _, p := range s.profiles {
		found := Profile{ID: p.id, ARN: s.profileARN(p)}
		if p.name != name && found.ARN != arn {
			continue
		}
		if len(p.roles) == 0 {
			return Profile{}, awserr.New(awserr.InvalidValue, "IAM Instance Profile \"%s\" has no associated IAM Roles", found.ARN)
		}
		found.RoleARN = s.account.IAM("role/" + p.roles[0])
		return found, nil
	}
	if name != "" {
		return Profile{}, awserr.New(awserr.InvalidValue, "Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", name)
	}
	return Profile{}, awserr.New(awserr.InvalidValue, "Value (%s) for parameter iamInstanceProfile.arn is invalid. Invalid IAM Instance Profile ARN", arn)
}

// Names are those of all instance profiles, sorted; never nil.
func (s *Service) Names() []string {
	out := slices.AppendSeq(make([]string, 0, len(s.profiles)), maps.Keys(s.profiles))
	slices.Sort(out)
	return out
}
