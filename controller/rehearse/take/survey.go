package take

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/kube/remote"
	"spokeshave.dev/controller/rehearse/doctor"
	"spokeshave.dev/controller/rehearse/scenario"
)

// Survey reads a cluster for `spokeshave doctor`, with GET requests only. A list that the
// user may not read and an object that cannot be decoded are recorded, and the rest is
// read. namespace is the controller's, where its policies and their status are. An error
// says that the cluster does not answer.
func Survey(ctx context.Context, access remote.Access, namespace string) (*doctor.Cluster, error) {
	l, err := connect(access)
	if err != nil {
		return nil, err
	}
	o := &scenario.Objects{}
	s := &surveyor{lister: l, out: &doctor.Cluster{Source: l.client.Get().URL().Host, Live: true, Objects: o}}
	survey(ctx, s, &o.NodePools, "karpenter.sh/v1", "nodepools", needed)
	survey(ctx, s, &o.NodeClaims, "karpenter.sh/v1", "nodeclaims", needed)
	survey(ctx, s, &o.NodeClasses, "karpenter.k8s.aws/v1", "ec2nodeclasses", needed)
	survey(ctx, s, &o.Nodes, "v1", "nodes", needed)
	survey(ctx, s, &o.Pods, "v1", "pods", needed)
	survey(ctx, s, &s.out.Deployments, "apps/v1", "deployments", needed)
	survey(ctx, s, &o.DaemonSets, "apps/v1", "daemonsets", wanted)
	survey(ctx, s, &s.out.Leases, "coordination.k8s.io/v1", "leases", wanted)
	survey(ctx, s, &o.Namespaces, "v1", "namespaces", wanted)
	survey(ctx, s, &o.LimitRanges, "v1", "limitranges", wanted)
	survey(ctx, s, &o.RuntimeClasses, "node.k8s.io/v1", "runtimeclasses", wanted)
	survey(ctx, s, &o.PriorityClasses, "scheduling.k8s.io/v1", "priorityclasses", wanted)
	survey(ctx, s, &o.VolumeClaims, "v1", "persistentvolumeclaims", wanted)
	survey(ctx, s, &o.Volumes, "v1", "persistentvolumes", wanted)
	survey(ctx, s, &o.StorageClasses, "storage.k8s.io/v1", "storageclasses", wanted)
	survey(ctx, s, &o.CSINodes, "storage.k8s.io/v1", "csinodes", wanted)
	survey(ctx, s, &o.Budgets, "policy/v1", "poddisruptionbudgets", wanted)
	s.references(ctx, &s.out.Extensions, "karpenter.sh/v1alpha1", "nodeoverlays", "NodeOverlay")
	s.references(ctx, &s.out.Foreign, "eks.amazonaws.com/v1", "nodeclasses", "NodeClass.eks.amazonaws.com")
	s.events(ctx)
	s.policies(ctx, namespace)
	if s.err != nil {
		return nil, s.err
	}
	for _, p := range o.NodePools {
		p.SetDefaults()
	}
	return s.out, nil
}

// importance says what a report is without a list.
type importance int

const (
	// wanted: it says less.
	wanted importance = iota
	// needed: it may be wrong.
	needed
)

// surveyor reads lists until the cluster does not answer.
type surveyor struct {
	*lister

	out *doctor.Cluster
	// err is the first failure that is not the API server's answer.
	err error
}

// path returns the address of a list.
func path(version, resource string) string {
	if strings.Contains(version, "/") {
		return "/apis/" + version + "/" + resource
	}
	return "/api/" + version + "/" + resource
}

// fullName is a resource as kubectl and RBAC name it: nodepools.karpenter.sh.
func fullName(version, resource string) string {
	if group, _, ok := strings.Cut(version, "/"); ok && strings.Contains(group, ".") {
		return resource + "." + group
	}
	return resource
}

// survey reads a list, object by object.
func survey[T any](ctx context.Context, s *surveyor, to *[]*T, version, resource string, weight importance) {
	for _, raw := range s.raw(ctx, version, resource, "", weight) {
		one := new(T)
		if err := json.Unmarshal(raw, one); err != nil {
			s.out.Unread = append(s.out.Unread, doctor.Unread{What: resource + " " + nameOf(raw), Why: err.Error(), Remedy: "correct the object", Needed: weight == needed})
			continue
		}
		*to = append(*to, one)
	}
}

// references names the objects of a kind of which nothing else is asked. A cluster
// without the kind has none.
func (s *surveyor) references(ctx context.Context, to *[]doctor.Reference, version, resource, kind string) {
	for _, raw := range s.raw(ctx, version, resource, "", wanted) {
		*to = append(*to, doctor.Reference{Kind: kind, Name: nameOf(raw)})
	}
}

// events reads the events about NodeClaims, and the bindings of pods.
func (s *surveyor) events(ctx context.Context) {
	for _, fields := range []string{"involvedObject.kind=NodeClaim", "involvedObject.kind=Pod,reason=Scheduled"} {
		before := len(s.out.Unread)
		for _, raw := range s.raw(ctx, "v1", "events", fields, wanted) {
			e := &corev1.Event{}
			if json.Unmarshal(raw, e) == nil { // one that cannot be read is not counted
				s.out.Events = append(s.out.Events, e)
			}
		}
		if len(s.out.Unread) > before {
			return
		}
	}
}

// policies reads the policies and their status.
func (s *surveyor) policies(ctx context.Context, namespace string) {
	if s.err != nil {
		return
	}
	states, err := status(ctx, s.lister, namespace)
	if err != nil {
		s.refused("configmaps in namespace "+namespace, "get", "configmaps", err, wanted)
		return
	}
	s.out.Policies = states
	found, err := policies(ctx, s.lister, &Config{Namespace: namespace})
	if err != nil {
		s.refused("configmaps in namespace "+namespace, "list", "configmaps", err, wanted)
		return
	}
	s.out.Objects.Policies = found
	for _, missed := range s.missed {
		s.out.Unread = append(s.out.Unread, doctor.Unread{What: "policies", Why: missed, Remedy: "allow the verbs get and list on configmaps there"})
	}
}

// raw returns the objects of a list as they were sent.
func (s *surveyor) raw(ctx context.Context, version, resource, fields string, weight importance) []json.RawMessage {
	var out []json.RawMessage
	for token := ""; s.err == nil; {
		req := s.client.Get().AbsPath(path(version, resource)).Param("limit", page).SetHeader("Accept", "application/json")
		if token != "" {
			req = req.Param("continue", token)
		}
		if fields != "" {
			req = req.Param("fieldSelector", fields)
		}
		text, err := req.Do(ctx).Raw()
		var got struct {
			Metadata metav1.ListMeta   `json:"metadata"`
			Items    []json.RawMessage `json:"items"`
		}
		if err = refusal(text, err); err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil {
			s.refused(fullName(version, resource), "list", fullName(version, resource), err, weight)
			return out
		}
		out = append(out, got.Items...)
		if token = got.Metadata.Continue; token == "" {
			return out
		}
	}
	return out
}

// refused records a list that could not be read. What is no answer of the API server ends
// the survey.
func (s *surveyor) refused(what, verb, resource string, err error, weight importance) {
	_, answered := errors.AsType[*apierrors.StatusError](err)
	switch {
	case apierrors.IsNotFound(err): // the cluster does not have the kind
		if weight == needed {
			s.out.Unread = append(s.out.Unread, doctor.Unread{What: what, Why: "the cluster has no such resource", Remedy: "the chart brings the custom resource definitions"})
		}
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		s.out.Unread = append(s.out.Unread, doctor.Unread{What: what, Why: err.Error(), Remedy: fmt.Sprintf("allow yourself the verb %s on %s in all namespaces", verb, resource), Needed: weight == needed})
	case answered:
		s.out.Unread = append(s.out.Unread, doctor.Unread{What: what, Why: err.Error(), Remedy: "ask again", Needed: weight == needed})
	default:
		s.err = fmt.Errorf("list %s: %w", what, err)
	}
}

// nameOf returns namespace and name of an object.
func nameOf(raw json.RawMessage) string {
	var o struct {
		Metadata struct {
			Namespace, Name string
		} `json:"metadata"`
	}
	if json.Unmarshal(raw, &o) != nil || o.Metadata.Name == "" {
		return "without a name"
	}
	return strings.TrimPrefix(o.Metadata.Namespace+"/"+o.Metadata.Name, "/")
}
