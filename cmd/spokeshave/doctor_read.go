package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"spokeshave.dev/controller/app/setting"
	"spokeshave.dev/controller/rehearse/doctor"
	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/controller/rehearse/take"
	"spokeshave.dev/simulator/iam/policy"
)

// cluster reads the cluster, or the files in place of it.
func (f *doctorFlags) cluster(ctx context.Context) (*doctor.Cluster, error) {
	if len(f.files) == 0 {
		return take.Survey(ctx, f.access, f.namespace)
	}
	objects, errs := scenario.ReadAll(f.files...)
	if objects.Taken == nil && objects.Empty() {
		if len(errs) == 0 {
			errs = []error{errors.New("they hold no object that a decision is made of")}
		}
		return nil, fmt.Errorf("nothing was read of %s: %w", strings.Join(f.files, ", "), errors.Join(errs...))
	}
	out := &doctor.Cluster{Source: strings.Join(f.files, ", "), Objects: objects, Deployments: objects.Deployments}
	for _, err := range errs {
		what, why := "files", err.Error()
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			what, why = at.Path, at.Err.Error()
		}
		if at, ok := errors.AsType[*scenario.Error](err); ok {
			what, why = at.String(), at.Err.Error()
		}
		out.Unread = append(out.Unread, doctor.Unread{What: what, Why: why, Remedy: "correct the file, or leave it out", Needed: true})
	}
	return out, nil
}

// settingsOf reviews Karpenter's settings as the controller does when it starts.
func settingsOf(k *doctor.Installation) []doctor.Setting {
	if k == nil {
		return nil
	}
	var out []doctor.Setting
	for _, s := range setting.Review(&setting.Input{Flags: k.Flags, Environment: k.Environment, Known: setting.Flags()}) {
		out = append(out, doctor.Setting{Source: string(s.Source), Name: s.Name, Value: s.Value, Unknown: s.Kind == setting.Unknown, Message: s.Message})
	}
	return out
}

// iamPolicy is a policy in a file.
type iamPolicy struct {
	file, text string
}

// documents reads the IAM policies.
func (f *doctorFlags) documents() ([]iamPolicy, error) {
	var out []iamPolicy
	for _, file := range f.policies {
		raw, err := scenario.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--iam-policy: %w", err)
		}
		if _, err := policy.Parse(raw); err != nil {
			return nil, fmt.Errorf("--iam-policy %s: %w; want the JSON of one policy, as aws iam get-policy-version prints its Document", file, err)
		}
		out = append(out, iamPolicy{file, string(raw)})
	}
	return out, nil
}

// permissions evaluates the IAM policies as one identity's. Without the cluster's name
// and region it cannot: then it is among what was not read.
func (f *doctorFlags) permissions(in *doctor.Input, policies []iamPolicy) (*doctor.Permissions, error) {
	var files []string
	named := ""
	for i := range policies {
		files = append(files, policies[i].file)
		if m := regexp.MustCompile(`:(\d{12}):`).FindStringSubmatch(policies[i].text); m != nil {
			named = cmp.Or(named, m[1])
		}
	}
	account := doctor.AccountOf(in, doctor.Account{Account: cmp.Or(f.account, named, exampleAccount), Cluster: f.clusterName, Region: f.region})
	if account.Cluster == "" || account.Region == "" {
		in.Cluster.Unread = append(in.Cluster.Unread, doctor.Unread{
			What: "permissions", Why: "the cluster's name and region are not known, which policies depend on", Remedy: "name them with --cluster-name and --region", Needed: true,
		})
		return nil, nil //nolint:nilnil // not evaluated, which the report says
	}
	var all []*policy.Document
	for i := range policies {
		read, err := policy.Parse([]byte(filled(policies[i].text, &account)))
		if err != nil {
			return nil, fmt.Errorf("--iam-policy %s: %w", policies[i].file, err)
		}
		all = append(all, read)
	}
	return doctor.Lacking(&account, files, func(n *doctor.Need) (bool, string) {
		d := policy.Decide(all, policy.Request{Action: n.Action, Resource: n.Resource, Keys: n.Keys})
		return d.Allowed, d.Statement
	}), nil
}

// exampleAccount stands for an account whose number nobody has told: policies that name
// no account do not depend on it.
const exampleAccount = "123456789012"

// filled returns a policy with an account's names in place of the variables of
// examples/iam/controller-policy.json.
func filled(text string, a *doctor.Account) string {
	role := ""
	if len(a.Roles) > 0 {
		role = a.Roles[0]
	}
	names := policy.Names{Partition: a.Partition, Region: a.Region, Account: a.Account, Cluster: a.Cluster, Queue: a.Queue, NodeRole: role}
	return names.Fill(text)
}
