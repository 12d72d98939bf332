package scenario

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

func parse(t testing.TB, text string) (*Objects, error) {
	t.Helper()
	o := &Objects{}
	return o, o.Parse("f.yaml", []byte(text))
}

const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
`

// TestErrors: every error names file and line.
func TestErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   string
	}{
		"syntax":        {"YAML that does not parse", "apiVersion: v1\nkind: Pod\nmetadata: {name: a\nspec: {}\n", "f.yaml:3: "},
		"second":        {"lines count from the file's start", "# one\n---\n# two\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  name: b\n", `f.yaml:8: `},
		"unknown":       {"the field's own line", "---\n\n# comment\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: a\n    resuorces: {}\n", `f.yaml:10: unknown field "spec.containers[0].resuorces"`},
		"in a list":     {"items too", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: b}\n  spce: {}\n", `f.yaml:10: unknown field "spce"`},
		"label":         {"the labels, whichever it is", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n    a.b/c: 1\n", "f.yaml:5: metadata.labels: want string, not a number"},
		"type":          {"a text where a number belongs", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  replicas: many\n", "f.yaml:5: spec.replicas: want int32, not a string"},
		"exponent":      {"an amount that takes minutes to be read", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  volumes:\n  - name: v\n    emptyDir:\n      sizeLimit: \"1e-99999999\"\n", `f.yaml:8: spec.volumes[0].emptyDir.sizeLimit: "1e-99999999" is not a quantity`},
		"quantity":      {"an amount that is none", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: a\n    resources:\n      requests:\n        memory: 1GB\n", `f.yaml:9: spec.containers[0].resources.requests.memory: "1GB" is not a quantity`},
		"no object":     {"a values file is not a manifest", "# values\nreplicas: 3\n", "f.yaml:2: not a Kubernetes object: apiVersion and kind must be set"},
		"scalar":        {"a text is not a manifest", "hello\n", "f.yaml:1: not a Kubernetes object: want a mapping"},
		"no name":       {"names are needed", "apiVersion: v1\nkind: Pod\nmetadata: {}\n", "f.yaml:3: Pod: metadata.name must be set"},
		"twice":         {"one object once", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: default}\n", "f.yaml:7: Pod default/a stands at f.yaml:1 already"},
		"old version":   {"the beta API is gone", "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}\n", "f.yaml:1: karpenter.sh/v1beta1 of NodePool: want karpenter.sh/v1"},
		"operator":      {"what the API server would refuse", strings.Replace(pool, "requirements: []", "requirements:\n      - {key: a, operator: Exists}\n      - {key: b, operator: Gt, values: [x]}", 1), `f.yaml:10: NodePool general: spec.template.spec.requirements[1]: b: operator Gt needs an integer that is not negative, not "x"`},
		"schedule":      {"a cron that is none", pool + "  disruption:\n    consolidateAfter: 1m\n    budgets:\n    - nodes: \"1\"\n      duration: 1h\n      schedule: often\n", `f.yaml:14: NodePool general: spec.disruption.budgets[0].schedule: parse schedule "often"`},
		"duration":      {"a duration that is none", pool + "  disruption:\n    consolidateAfter: soon\n", `f.yaml:10: parse duration "soon"`},
		"json":          {"JSON counts lines too", "{\n \"apiVersion\": \"v1\",\n \"kind\": \"Pod\",\n \"metadata\": {\"name\": \"a\"},\n \"spec\": {\n  \"bad\": 1\n }\n}\n", `f.yaml:6: unknown field "spec.bad"`},
		"list of texts": {"items are objects", "apiVersion: v1\nkind: List\nitems:\n- a\n", "f.yaml:4: not a Kubernetes object: want a mapping"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, tc.in)
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %s…", tc.reason, err, tc.want)
			}
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("%T is not an *Error", err)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	o, err := parse(t, pool+`---
apiVersion: example.com/v1
kind: Thing
metadata: {name: a}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  template: {spec: {priorityClassName: gold, containers: []}}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {storageClassName: fast}
`)
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.Snapshot(Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range o.Warnings {
		got = append(got, w.String())
	}
	want := []string{
		"f.yaml:10: example.com/v1 Thing plays no part in a decision",
		`f.yaml:14: StorageClass "fast" is not among the manifests: taken to make volumes where their first pod lands`,
		"f.yaml:14: PriorityClass gold is not among the manifests: taken as priority 0",
		"f.yaml:1: EC2NodeClass default is not among the manifests: taken as resolvable, with default kubelet settings",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(s.Specs) != 1 || s.Specs[0].Unsupported != nil {
		t.Errorf("the StatefulSet's pod: %+v", s.Specs)
	}
}

func names(s *model.Snapshot) []string {
	var out []string
	for i := range s.Pods {
		out = append(out, s.Pods[i].Key())
	}
	return out
}

func TestExpand(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   []string
	}{
		"deployment": {"one replica by default", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {template: {spec: {containers: []}}}\n", []string{"shop/web-ncdfs-0"}},
		"zero":       {"scaled to nothing", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 0, template: {spec: {containers: []}}}\n", nil},
		"stateful":   {"ordinals from a start, but for those there are", "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {replicas: 3, ordinals: {start: 1}, template: {spec: {containers: []}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: db-2}\nspec: {schedulingGates: [{name: wait}], containers: []}\n", []string{"default/db-1", "default/db-3"}},
		"job":        {"no more than are left to complete", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {parallelism: 5, completions: 4, template: {spec: {containers: []}}}\nstatus: {succeeded: 2}\n", []string{"default/j-f846x-0", "default/j-f846x-1"}},
		"suspended":  {"a job that waits", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {suspend: true, template: {spec: {containers: []}}}\n", nil},
		"orphan":     {"a ReplicaSet without a Deployment", "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: rs}\nspec: {replicas: 1, template: {spec: {containers: []}}}\n", []string{"default/rs-rpd9j-0"}},
		"daemons":    {"a DaemonSet makes no pending pods", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: ds}\nspec: {template: {spec: {containers: []}}}\n", nil},
		"dump": {
			"pods of a Deployment whose ReplicaSet is not in the dump",
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2, template: {spec: {containers: []}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: web-abc-1, labels: {pod-template-hash: abc}, ownerReferences: [{kind: ReplicaSet, name: web-abc, controller: true}]}\nspec: {containers: []}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: web-abc-2, labels: {pod-template-hash: abc}, ownerReferences: [{kind: ReplicaSet, name: web-abc, controller: true}]}\nspec: {containers: []}\n",
			[]string{"default/web-abc-1", "default/web-abc-2"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o, err := parse(t, tc.in)
			if err != nil {
				t.Fatal(err)
			}
			s, err := o.Snapshot(Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, names(&s)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestClass: settings of an EC2NodeClass change the catalogue.
func TestClass(t *testing.T) {
	o, err := parse(t, pool+`---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: r
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{id: subnet-1}]
  securityGroupSelectorTerms: [{id: sg-1}]
  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 100Gi}}]
  kubelet:
    maxPods: 20
    systemReserved: {cpu: 100m}
    kubeReserved: {memory: 1Gi}
    evictionHard: {memory.available: 200Mi, nodefs.available: "15%"}
status:
  subnets: [{id: subnet-1, zone: us-east-1b}]
`)
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.Snapshot(Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(s.Catalogs[0].Types, func(it model.InstanceType) bool { return it.Name == "m5.large" })
	it := &s.Catalogs[0].Types[i]
	want := model.Resources{
		"cpu": 1930 - 100, "memory": it.Capacity["memory"] - (1024+200)<<20, "pods": 20,
		"ephemeral-storage": (100-15-1)<<30 - 0, "vpc.amazonaws.com/pod-eni": 9,
	}
	if diff := cmp.Diff(want, it.Allocatable); diff != "" {
		t.Error(diff)
	}
	for _, of := range it.Offerings {
		if of.Zone != "us-east-1b" {
			t.Errorf("offering in %s", of.Zone)
		}
	}
}

func TestClassErrors(t *testing.T) {
	for field, want := range map[string]string{
		"systemReserved: {cpu: much}":                     "spec.kubelet.systemReserved.cpu: \"much\" is not a quantity such as 200m or 1Gi",
		"evictionHard: {memory.available: much}":          `spec.kubelet.evictionHard.memory.available: "much" is not a quantity such as 200m or 1Gi`,
		"evictionSoftGracePeriod: {memory.available: 1d}": `spec.kubelet.evictionSoftGracePeriod.memory.available: "1d" is not a duration such as 90s or 1h30m`,
		"evictionHard: {nodefs.available: 200%}":          `spec.kubelet.evictionHard.nodefs.available: "200%" is not a percentage from 0% to 100%`,
	} {
		o, err := parse(t, pool+"---\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\nspec:\n  kubelet:\n    "+field+"\n")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Snapshot(Options{}); err == nil || err.Error() != "f.yaml:10: "+want {
			t.Errorf("got %v, want f.yaml:10: %s", err, want)
		}
	}
}

func TestRegion(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"none":   {pool, DefaultRegion},
		"zone":   {strings.Replace(pool, "requirements: []", "requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1b]}]", 1), "eu-west-1"},
		"region": {strings.Replace(pool, "requirements: []", "requirements: [{key: topology.kubernetes.io/region, operator: In, values: [us-west-2]}]", 1), "us-west-2"},
		"node":   {pool + "---\napiVersion: v1\nkind: Node\nmetadata: {name: node, labels: {topology.kubernetes.io/zone: eu-central-1a}}\n", "eu-central-1"},
	} {
		o, err := parse(t, tc.in)
		if err != nil {
			t.Fatal(err)
		}
		s, err := o.Snapshot(Options{})
		if err != nil || s.Catalogs[0].Region != tc.want {
			t.Errorf("%s: region %v, %v, want %s", name, s.Catalogs, err, tc.want)
		}
	}
}

func TestReadFiles(t *testing.T) {
	dir := t.TempDir()
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	if _, err := zip.Write([]byte("{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"zipped\"}}")); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"b.yml":           "apiVersion: v1\r\nkind: Pod\r\nmetadata: {name: b}\r\n---\r\n",
		"sub/a.json.gz":   zipped.String(),
		"sub/notes.md":    "not: a manifest",
		".hidden/x.yaml":  "not a manifest",
		"typed-list.yaml": "apiVersion: v1\nkind: PodList\nitems: [{metadata: {name: listed}}]\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range o.Pods {
		got = append(got, p.Name)
	}
	if diff := cmp.Diff([]string{"b", "zipped", "listed"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "holds no .yaml, .yml or .json file") {
		t.Errorf("an empty folder: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(pool))
	f.Add([]byte("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec: {containers: [{resources: {requests: {cpu: 1x}}}]}\n"))
	f.Add([]byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {commit: 12e34567}}\nspec: {overhead: {cpu: '1e-99999999'}}\n"))
	f.Add([]byte("{\"apiVersion\": \"v1\", \"kind\": \"PodList\", \"items\": [{}]}"))
	f.Add([]byte("--- {a: b}\n---\n# c\n--- \n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		o := &Objects{}
		if err := o.Parse("f", raw); err != nil {
			located, ok := errors.AsType[*Error](err)
			if !ok || located.File != "f" || located.Line < 1 {
				t.Fatalf("%v has no place", err)
			}
			return
		}
		for _, d := range o.Deployments { // expanding has a bound of its own, too high for a fuzzer
			if d.Spec.Replicas != nil {
				*d.Spec.Replicas = min(*d.Spec.Replicas, 3)
			}
		}
		o.ReplicaSets, o.StatefulSets, o.Jobs = nil, nil, nil
		if _, err := o.Snapshot(Options{Time: time.Unix(0, 0), Catalog: &model.Catalog{}}); err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("%v has no place", err)
			}
		}
	})
}
