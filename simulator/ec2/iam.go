package sim

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

type profile struct {
	id, name, path string
	created        time.Time
	roles          []string
	tags           tags
}

func iamOperations() map[string]operation {
	return map[string]operation{
		"GetInstanceProfile":            writes(getProfile),
		"CreateInstanceProfile":         writes(createProfile),
		"DeleteInstanceProfile":         writes(deleteProfile),
		"AddRoleToInstanceProfile":      writes(addRole),
		"RemoveRoleFromInstanceProfile": writes(removeRole),
		"ListInstanceProfiles":          writes(listProfiles),
		"TagInstanceProfile":            writes(tagProfile),
		"UntagInstanceProfile":          writes(untagProfile),
		"GetRole":                       writes(getRole),
	}
}

func (s *Server) profileARN(p *profile) string {
	return "arn:aws:iam::" + s.cfg.Account + ":instance-profile" + p.path + p.name
}

type profileXML struct {
	Path    string    `xml:"Path"`
	Name    string    `xml:"InstanceProfileName"`
	ID      string    `xml:"InstanceProfileId"`
	ARN     string    `xml:"Arn"`
	Created string    `xml:"CreateDate"`
	Roles   []roleXML `xml:"Roles>member"`
	Tags    []iamTag  `xml:"Tags>member"`
}

type roleXML struct {
	Path    string `xml:"Path"`
	Name    string `xml:"RoleName"`
	ID      string `xml:"RoleId"`
	ARN     string `xml:"Arn"`
	Created string `xml:"CreateDate"`
}

type iamTag struct {
	Key   string
	Value string
}

func (s *Server) profileXML(p *profile) profileXML {
	out := profileXML{Path: p.path, Name: p.name, ID: p.id, ARN: s.profileARN(p), Created: p.created.UTC().Format(time.RFC3339)}
	for _, r := range p.roles {
		out.Roles = append(out.Roles, s.roleXML(r))
	}
	for _, t := range p.tags.list() {
		out.Tags = append(out.Tags, iamTag(t))
	}
	return out
}

func (s *Server) roleXML(name string) roleXML {
	id := "AROA" + strings.ToUpper(strings.TrimPrefix(fixedID(s.cfg.Seed, "role", name), "role-0"))
	return roleXML{"/", name, id, "arn:aws:iam::" + s.cfg.Account + ":role/" + name, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Format(time.RFC3339)}
}

type profileRequest struct {
	Name string `query:"InstanceProfileName"`
}

func (s *Server) profile(name string) (*profile, error) {
	if p := s.state.profiles[name]; p != nil {
		return p, nil
	}
	return nil, failf("NoSuchEntity", "Instance Profile %s cannot be found.", name)
}

type profileResult struct {
	Profile profileXML `xml:"InstanceProfile"`
}

// https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetInstanceProfile.html
func getProfile(s *Server, _ *call, in *profileRequest) (any, error) {
	p, err := s.profile(in.Name)
	if err != nil {
		return nil, err
	}
	return profileResult{s.profileXML(p)}, nil
}

type createProfileRequest struct {
	Name string `query:"InstanceProfileName"`
	Path string
	Tags []tagXML
}

// createProfile makes an instance profile without a role.
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateInstanceProfile.html
func createProfile(s *Server, c *call, in *createProfileRequest) (any, error) {
	if !regexp.MustCompile(`^[\w+=,.@-]{1,128}$`).MatchString(in.Name) {
		return nil, failf("ValidationError", "The specified value for instanceProfileName is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_- and have at most 128 of them")
	}
	if in.Path == "" {
		in.Path = "/"
	}
	if !strings.HasPrefix(in.Path, "/") || !strings.HasSuffix(in.Path, "/") || len(in.Path) > 512 {
		return nil, failf("ValidationError", "The specified value for path is invalid. It must begin and end with /")
	}
	if s.state.profiles[in.Name] != nil {
		return nil, failf("EntityAlreadyExists", "Instance Profile %s already exists.", in.Name)
	}
	given, err := mergeIAM(tags{}, in.Tags)
	if err != nil {
		return nil, err
	}
	id := "AIPA" + strings.ToUpper(strings.TrimPrefix(s.newID("aipa"), "aipa-0"))
	p := &profile{id: id, name: in.Name, path: in.Path, created: c.now, tags: given}
	s.state.profiles[in.Name] = p
	return profileResult{s.profileXML(p)}, nil
}

// mergeIAM adds tags in IAM's words: at most 50.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html
func mergeIAM(to tags, given []tagXML) (tags, error) {
	if err := checkTags(given); err != nil {
		return nil, failf("ValidationError", "%s", failureOf(err).Message)
	}
	out, err := to.merge(given)
	if err != nil {
		return nil, failf("LimitExceeded", "%s", failureOf(err).Message)
	}
	return out, nil
}

// https://docs.aws.amazon.com/IAM/latest/APIReference/API_DeleteInstanceProfile.html
func deleteProfile(s *Server, _ *call, in *profileRequest) (any, error) {
	p, err := s.profile(in.Name)
	if err != nil {
		return nil, err
	}
	if len(p.roles) > 0 {
		return nil, failf("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")
	}
	delete(s.state.profiles, in.Name)
	return struct{}{}, nil
}

type roleInProfile struct {
	Profile string `query:"InstanceProfileName"`
	Role    string `query:"RoleName"`
}

// addRole puts a role into a profile, which holds one only.
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_AddRoleToInstanceProfile.html
func addRole(s *Server, _ *call, in *roleInProfile) (any, error) {
	p, err := s.profile(in.Profile)
	switch {
	case err != nil:
		return nil, err
	case !slices.Contains(s.cfg.NodeRoles, in.Role):
		return nil, failf("NoSuchEntity", "The role with name %s cannot be found.", in.Role)
	case len(p.roles) > 0:
		return nil, failf("LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
	}
	p.roles = []string{in.Role}
	return struct{}{}, nil
}

// https://docs.aws.amazon.com/IAM/latest/APIReference/API_RemoveRoleFromInstanceProfile.html
func removeRole(s *Server, _ *call, in *roleInProfile) (any, error) {
	p, err := s.profile(in.Profile)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(p.roles, in.Role) {
		return nil, failf("NoSuchEntity", "The role with name %s is not in instance profile %s.", in.Role, in.Profile)
	}
	p.roles = nil
	return struct{}{}, nil
}

type listProfilesRequest struct {
	PathPrefix string
	Marker     string
	MaxItems   int
}

// listProfiles lists profiles by path, without their tags, 100 at a time.
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_ListInstanceProfiles.html
func listProfiles(s *Server, _ *call, in *listProfilesRequest) (any, error) {
	var all []profileXML
	for _, p := range s.state.profiles {
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
	items, marker, err := page(all, paged{&in.MaxItems, in.Marker}, 1, 1000)
	if err != nil {
		return nil, failf("ValidationError", "%s", failureOf(err).Message)
	}
	return struct {
		Profiles  []profileXML `xml:"InstanceProfiles>member"`
		Truncated string       `xml:"IsTruncated"`
		Marker    string       `xml:"Marker,omitempty"`
	}{items, strconv.FormatBool(marker != ""), marker}, nil
}

type tagProfileRequest struct {
	Name string `query:"InstanceProfileName"`
	Tags []tagXML
}

// https://docs.aws.amazon.com/IAM/latest/APIReference/API_TagInstanceProfile.html
func tagProfile(s *Server, _ *call, in *tagProfileRequest) (any, error) {
	p, err := s.profile(in.Name)
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
func untagProfile(s *Server, _ *call, in *untagProfileRequest) (any, error) {
	p, err := s.profile(in.Name)
	if err != nil {
		return nil, err
	}
	for _, k := range in.Keys {
		delete(p.tags, k)
	}
	return struct{}{}, nil
}

type roleRequest struct {
	Role string `query:"RoleName"`
}

// https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetRole.html
func getRole(s *Server, _ *call, in *roleRequest) (any, error) {
	if !slices.Contains(s.cfg.NodeRoles, in.Role) {
		return nil, failf("NoSuchEntity", "The role with name %s cannot be found.", in.Role)
	}
	return struct {
		Role roleXML `xml:"Role"`
	}{s.roleXML(in.Role)}, nil
}
