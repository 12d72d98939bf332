package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/rehearse/scenario"
)

var at = time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)

// read makes a live cluster of manifests. Those with problems are among the objects.
func read(t *testing.T, text string) *Cluster {
	t.Helper()
	path := t.TempDir() + "/cluster.yaml"
	writeFile(t, path, text)
	o, errs := scenario.ReadAll(path)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	c := &Cluster{Source: "test", Live: true, Objects: o, Deployments: o.Deployments}
	o.Deployments = nil
	return c
}

func examine(c *Cluster, settings ...Setting) *Report {
	return Examine(&Input{Time: at, Cluster: c, Karpenter: FindKarpenter(c.Deployments), Spokeshave: FindSpokeshave(c.Deployments), Settings: settings})
}

func karpenter(image, more string) string {
	return fmt.Sprintf(`
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system, labels: {app.kubernetes.io/name: karpenter}}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: controller, image: %q%s}]}
status: {readyReplicas: 2}`, image, more)
}

func spokeshave(ready int, args string) string {
	return fmt.Sprintf(`
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: spokeshave, namespace: spokeshave, labels: {app.kubernetes.io/name: spokeshave, app.kubernetes.io/version: 0.9.0}}
spec:
  replicas: 2
  selector: {matchLabels: {a: c}}
  template:
    metadata: {labels: {a: c}}
    spec: {containers: [{name: controller, image: registry/spokeshave@sha256:aa, args: [%s]}]}
status: {readyReplicas: %d}`, args, ready)
}

// nodePool is a manifest with more of a template's spec, of the disruption, and a status.
func nodePool(name, template, rest string) string {
	return fmt.Sprintf(`
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %s}
spec:
  template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, %s}}
%s`, name, template, rest)
}

const (
	class = `
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec: {role: KarpenterNodeRole-prod}`
	anyNode = `requirements: []`
)

// TestFindings: what stands in the way is a finding that needs a person, what is good to
// know is one that does not, and one object never stops the others.
func TestFindings(t *testing.T) {
	released := karpenter("public.ecr.aws/karpenter/controller:1.14.1@sha256:ab", "")
	for name, tc := range map[string]struct {
		reason   string
		objects  string
		change   func(*Cluster)
		settings []Setting
		// want are "person: area: subject: part of the message".
		want []string
	}{
		"nothing":     {reason: "an empty cluster is ready for an installation"},
		"a good one":  {reason: "a released 1.14 with a NodePool and its class", objects: released + class + nodePool("general", anyNode, "")},
		"old version": {reason: "only 1.14 was compared", objects: karpenter("karpenter/controller:v1.6.3", ""), want: []string{"true: version: Deployment kube-system/karpenter: Karpenter 1.6.3"}},
		"newer":       {reason: "1.140 is not 1.14", objects: karpenter("karpenter/controller:1.140.0", ""), want: []string{"true: version: Deployment kube-system/karpenter: Karpenter 1.140.0"}},
		"no version":  {reason: "an image by its digest says nothing", objects: karpenter("mirror/x@sha256:ab", ""), want: []string{"true: version: Deployment kube-system/karpenter: do not tell"}},
		"settings": {
			reason: "a misspelt setting does not do what was meant; one without effect is accepted", objects: released,
			settings: []Setting{{Source: "flag", Name: "cpu-requests", Value: "1", Message: "no effect"}, {Source: "environment variable", Name: "BATCH_IDLE", Unknown: true, Message: "no setting"}},
			want:     []string{"true: settings: environment variable BATCH_IDLE: no setting", "false: settings: flag cpu-requests=1: accepted, without effect: no effect"},
		},
		"overlays": {
			reason: "NodeOverlays have no effect here", change: func(c *Cluster) { c.Extensions = []Reference{{"NodeOverlay", "cheap"}} },
			want: []string{"true: settings: NodeOverlay cheap: NodeOverlays are not read"},
		},
		"contradiction": {
			reason: "such a NodePool launches nothing; the others are looked at",
			objects: class + nodePool("bad", `requirements: [{key: a, operator: In, values: [x]}, {key: a, operator: In, values: [z]}]`, "") +
				nodePool("worse", `requirements: [{key: a, operator: In}]`, "") + nodePool("good", anyNode, ""),
			want: []string{"true: objects: NodePool bad (FILE): no value in common", "true: objects: NodePool worse (FILE): operator In needs values"},
		},
		"no class": {
			reason: "a NodePool whose class is missing", objects: nodePool("general", anyNode, ""),
			want: []string{"true: objects: NodePool general (FILE): EC2NodeClass default does not exist"},
		},
		"classes were not read": {
			reason: "nothing is said of what may not be looked at", objects: nodePool("general", anyNode, ""),
			change: func(c *Cluster) {
				c.Unread = []Unread{{"ec2nodeclasses.karpenter.k8s.aws", "forbidden", "allow it", true}}
			},
			want: []string{"true: reading: ec2nodeclasses.karpenter.k8s.aws: not read: forbidden"},
		},
		"class not ready": {
			reason: "the class says why, the NodePool does not repeat it",
			objects: class + "\nstatus: {conditions: [{type: Ready, status: 'False', reason: X, message: because, lastTransitionTime: '2026-01-01T00:00:00Z'}, {type: SubnetsReady, status: 'False', reason: None, message: no subnets, lastTransitionTime: '2026-01-01T00:00:00Z'}]}" +
				nodePool("general", anyNode, "status: {conditions: [{type: Ready, status: 'False', reason: X, message: because, lastTransitionTime: '2026-01-01T00:00:00Z'}, {type: NodeClassReady, status: 'False', reason: X, message: because, lastTransitionTime: '2026-01-01T00:00:00Z'}]}"),
			want: []string{"true: objects: EC2NodeClass default (FILE): SubnetsReady is False: no subnets"},
		},
		"class without role": {
			reason: "no node can be launched from it", objects: strings.ReplaceAll(class, "{role: KarpenterNodeRole-prod}", "{}"),
			want: []string{"true: objects: EC2NodeClass default (FILE): are both missing"},
		},
		"claims": {
			reason: "claims that are not ready are for the comparison afterwards",
			objects: class + `
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: waits}
spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: []}
status: {conditions: [{type: Launched, status: Unknown, reason: NoCapacity, message: none left, lastTransitionTime: '2026-01-01T00:00:00Z'}, {type: Drifted, status: 'True', reason: A, message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}]}
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: auto}
spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}, requirements: []}`,
			want: []string{"false: objects: NodeClaim waits (FILE): not ready: Launched is Unknown: none left", "false: objects: NodeClaim waits (FILE): it has drifted"},
		},
		"others' objects": {
			reason: "foreign NodePools are left alone; what a tool keeps has to be changed there",
			objects: strings.ReplaceAll(nodePool("auto", anyNode, ""), "karpenter.k8s.aws, kind: EC2NodeClass", "eks.amazonaws.com, kind: NodeClass") +
				strings.ReplaceAll(class, "{name: default}", "{name: default, annotations: {meta.helm.sh/release-name: base}}"),
			want: []string{"false: ownership: EC2NodeClass default: kept by Helm release base", "false: ownership: NodePool auto: belongs to the controller of NodeClass.eks.amazonaws.com"},
		},
		"not read": {
			reason: "what is needed wants a person, what is not does not",
			change: func(c *Cluster) {
				c.Unread = []Unread{{"limitranges", "forbidden", "", false}, {"nodes", "forbidden", "allow it", true}}
			},
			want: []string{"true: reading: nodes: not read: forbidden", "false: reading: limitranges: not read: forbidden"},
		},
		"both run": {
			reason: "of two that act one waits", objects: released + spokeshave(2, "--mode=Act"), change: held("s-1", "s-1"),
			want: []string{"true: version: Deployment kube-system/karpenter: Karpenter runs beside Spokeshave"},
		},
		"beside in Observe": {reason: "this is how one looks before one leaps", objects: released + spokeshave(2, "--mode=Observe"), change: held("s-1", "k-1")},
		"healthy":           {reason: "all replicas, both leases", objects: spokeshave(2, ""), change: held("s-1", "s-1")},
		"not ready":         {reason: "one replica is missing", objects: spokeshave(1, ""), change: held("s-1", "s-1"), want: []string{"true: health: Deployment spokeshave/spokeshave: 1 of 2 replicas ready"}},
		"no leader":         {reason: "a lease that nobody renews", objects: spokeshave(2, ""), change: held("", ""), want: []string{"true: health: Lease spokeshave/spokeshave-leader-election: nobody holds it"}},
		"lease elsewhere":   {reason: "Karpenter still leads", objects: spokeshave(2, ""), change: held("s-1", "k-1"), want: []string{"true: health: Lease kube-system/karpenter-leader-election: k-1 holds it"}},
		"policies fail": {
			reason: "a rejected and a tripped policy", objects: spokeshave(2, ""),
			change: func(c *Cluster) {
				held("s-1", "s-1")(c)
				c.Policies = []policy.Status{{Namespace: "a", Name: "ok", State: policy.StateActive}, {Namespace: "a", Name: "bad", State: policy.StateRejected, Reason: "no hook"}, {Namespace: "a", Name: "slow", State: policy.StateTripped}}
			},
			want: []string{"true: health: policy a/bad: a/bad is Rejected: no hook", "true: health: policy a/slow: a/slow is Tripped: it failed several times in a row"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := read(t, tc.objects)
			if tc.change != nil {
				tc.change(c)
			}
			r := examine(c, tc.settings...)
			var got []string
			person := 0
			for _, f := range r.Findings {
				subject := f.Subject
				if at := strings.Index(subject, " ("); at > 0 {
					subject = subject[:at] + " (FILE)"
				}
				got = append(got, fmt.Sprintf("%t: %s: %s: %s", f.Person, f.Area, subject, f.Message))
				if f.Person {
					person++
					if f.Remedy == "" {
						t.Errorf("%s: nothing to do about %s", tc.reason, f.Message)
					}
				}
			}
			matches := func(got, want string) bool {
				parts := strings.SplitN(want, ": ", 4)
				return strings.HasPrefix(got, strings.Join(parts[:3], ": ")+": ") && strings.Contains(got, parts[3])
			}
			if !slices.EqualFunc(got, tc.want, matches) {
				t.Errorf("%s:\ngot  %s\nwant %s", tc.reason, strings.Join(got, "\n     "), strings.Join(tc.want, "\n     "))
			}
			if person != r.NeedsPerson() {
				t.Errorf("NeedsPerson is %d, of %d", r.NeedsPerson(), person)
			}
		})
	}
}

// held sets who holds the two leases; "" is somebody who has not renewed for an hour.
func held(own, karpenters string) func(*Cluster) {
	return func(c *Cluster) {
		for key, holder := range map[[2]string]string{{"spokeshave", ownLease}: own, {"kube-system", karpenterLease}: karpenters} {
			renewed := metav1.NewMicroTime(at.Add(-5 * time.Second))
			if holder == "" {
				holder, renewed = "gone", metav1.NewMicroTime(at.Add(-time.Hour))
			}
			seconds := int32(15)
			c.Leases = append(c.Leases, &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Namespace: key[0], Name: key[1]},
				Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &renewed, LeaseDurationSeconds: &seconds},
			})
		}
	}
}

// TestVerdict: the last line says whether somebody has to do something.
func TestVerdict(t *testing.T) {
	good := karpenter("karpenter/controller:1.14.0", "")
	for name, tc := range map[string]struct{ reason, objects, want string }{
		"empty":     {"nothing to swap from", "", "no Karpenter was found"},
		"ready":     {"nothing to do", good, "nothing stands in the way of the swap"},
		"findings":  {"one thing to do", karpenter("karpenter/controller:1.0.0", ""), "1 finding to deal with before the swap"},
		"installed": {"after the installation", spokeshave(1, ""), "2 findings about the running controller"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := examine(read(t, tc.objects)).Verdict(); !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
