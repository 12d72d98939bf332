package anonymize_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/record/anonymize"
	"spokeshave.dev/controller/rehearse/scenario"
)

// public are the fields whose texts stay: texts of this project, of Kubernetes or of
// AWS. Every new text field of the model is either anonymized or listed here.
var public = regexp.MustCompile(`^(Pools\[\]\.Requirements\[\]\.Operator|.*\.Operator|.*\.Compare|.*\.Effect|.*\.Protocol|.*\.State|` +
	`.*\.CapacityType|.*\.Unsupported\[\]|Pools\[\]\.Disruption\.Policy|Catalogs\[\]\.(Region|Away\[\])|Catalogs\[\]\.Types\[\]\.(Name|Arch|OS)|` +
	`.*\.Zone|.*\.ZoneID|Nodes\[\]\.InstanceType|Nodes\[\]\.Drifted|Nodes\[\]\.Command\.Method)$`)

const canary = "secret-"

// fill sets every text in v to a marker that names its field.
func fill(v reflect.Value, path string, seen map[string]bool) {
	kind := v.Kind()
	if kind == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]() {
		for i := range v.NumField() {
			fill(v.Field(i), strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), seen)
		}
	}
	if kind == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), path+"[]", seen)
	}
	if kind == reflect.Map {
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, path+".value", seen)
		seen[path+".key"] = true
		key := reflect.ValueOf("example.com/" + canary + path + ".key").Convert(v.Type().Key())
		v.SetMapIndex(key, value)
	}
	if kind == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path, seen)
	}
	if kind == reflect.String {
		seen[path] = true
		v.SetString(canary + path)
	}
}

// TestNothingLeaks: in a snapshot in which every text is a name, only the texts of
// public fields stay.
func TestNothingLeaks(t *testing.T) {
	var s model.Snapshot
	seen := map[string]bool{}
	fill(reflect.ValueOf(&s).Elem(), "", seen)
	if len(seen) < 60 {
		t.Fatalf("only %d fields found", len(seen))
	}
	out, _, err := anonymize.Snapshot(&s)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(&out)
	if err != nil {
		t.Fatal(err)
	}
	for path := range seen {
		leaked := strings.Contains(string(raw), `"`+canary+path+`"`) || strings.Contains(string(raw), "/"+canary+path+`"`)
		switch {
		case leaked && !public.MatchString(path):
			t.Errorf("%s is still there", path)
		case !leaked && public.MatchString(path):
			t.Errorf("%s is gone, and the test takes it for public", path)
		}
	}
}

func quickstart(t *testing.T) model.Snapshot {
	t.Helper()
	o, err := scenario.Read("../../../examples/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.Snapshot(scenario.Options{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Seed: 3, Cluster: "prod"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDecidesAlike: the decision on an anonymized snapshot is the same, apart from the
// labels that it sets.
func TestDecidesAlike(t *testing.T) {
	s := quickstart(t)
	hidden, name, err := anonymize.Snapshot(&s)
	if err != nil {
		t.Fatal(err)
	}
	want, err := decide.Decide(t.Context(), &s, nil, decide.Options{Disrupt: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := decide.Decide(t.Context(), &hidden, nil, decide.Options{Disrupt: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Plan.Nodes, got.Plan.Nodes); diff != "" || len(want.Plan.Nodes) == 0 {
		t.Errorf("%d nodes, -with names +without\n%s", len(want.Plan.Nodes), diff)
	}
	if hidden.Pools[0].Name != name(s.Pools[0].Name) || hidden.Pools[0].Name == s.Pools[0].Name {
		t.Errorf("pool %q is called %q", s.Pools[0].Name, hidden.Pools[0].Name)
	}
}

// TestOrderAndEquality: names that were equal are equal, and sorted lists stay
// sorted.
func TestOrderAndEquality(t *testing.T) {
	s := model.Snapshot{
		Specs: []model.PodSpec{{Namespace: "b", Labels: map[string]string{"app": "web"}, Spread: []model.Spread{{
			Key:      "kubernetes.io/hostname",
			Selector: model.PodSelector{Namespaces: []string{"a", "b", "c"}, Labels: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{"web"}}}},
		}}, Affinity: []model.Term{{{Key: "racks", Operator: model.Gt, Values: []string{"7"}}}}}},
		Nodes: []model.Node{{Name: "n", Labels: map[string]string{"racks": "12", "kubernetes.io/hostname": "n", "topology.kubernetes.io/zone": "us-east-1a"}}},
		Spent: []model.Spent{{Scope: "cluster", Micro: 1}, {Scope: "label/team=ml"}, {Scope: "namespace/b"}, {Scope: "nodepool/a"}},
	}
	out, _, err := anonymize.Snapshot(&s)
	if err != nil {
		t.Fatal(err)
	}
	p, n := out.Specs[0], out.Nodes[0]
	if !slices.IsSorted(p.Spread[0].Selector.Namespaces) || !p.Spread[0].Selector.Matches(p.Namespace, p.Labels) {
		t.Errorf("the selector does not select any more: %+v of %+v", p.Spread[0].Selector, p)
	}
	if key := p.Affinity[0][0].Key; n.Labels[key] != "12" || p.Affinity[0][0].Values[0] != "7" {
		t.Errorf("numbers that are compared are gone: %+v, %+v", p.Affinity, n.Labels)
	}
	if n.Labels["kubernetes.io/hostname"] != n.Name || n.Labels["topology.kubernetes.io/zone"] != "us-east-1a" {
		t.Errorf("labels %v of node %s", n.Labels, n.Name)
	}
	if out.Spent[0].Scope != "cluster" || !strings.HasPrefix(out.Spent[1].Scope, "label/x") {
		t.Errorf("scopes %v", out.Spent)
	}
	if strings.Contains(fmt.Sprint(out), "web") || s.Specs[0].Labels["app"] != "web" {
		t.Error("the original was changed, or the copy was not")
	}
}
