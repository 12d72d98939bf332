package chart

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/app"
)

const karpenterValues = "testdata/karpenter-values.yaml"

// TestKarpenterValues: a values file with every value of Karpenter's chart is accepted
// whole. What means something here arrives, of the rest each has a line after the
// installation and a finding of the controller.
func TestKarpenterValues(t *testing.T) {
	h := newHelm(t)
	h.must(t, "lint", "--strict", chartDir, "--values", karpenterValues)
	objs := parse(t, h.must(t, "template", "spokeshave", stamped(t), "--namespace", "system", "--values", karpenterValues))
	d := get[appsv1.Deployment](t, objs, "Deployment/nodes")
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]

	o, fs := app.Options{}, pflag.NewFlagSet("spokeshave-controller", pflag.ContinueOnError)
	o.Bind(fs)
	if err := o.Parse(fs, c.Args, environment(&c)); err != nil {
		t.Fatal(err)
	}
	gates := app.FeatureGates{NodeRepair: true, SpotToSpotConsolidation: true, StaticCapacity: true, NoReservedCapacity: true, Absent: "NodeOverlay=true,CapacityBuffer=true"}
	if o.ClusterName != "blue" || o.InterruptionQueue != "blue-queue" || !o.EnableZonalShift || !o.IsolatedVPC || o.ReservedENIs != 1 || o.ClusterCABundle != "Yw==" ||
		o.AMIRefresh.Minutes() != 5 || o.SubnetRefresh.Minutes() != 3 || o.Gates != gates || !o.DisableClusterStateObservability || !o.DisableDryRun || o.MetricsPort != 8000 || o.BatchIdle.Seconds() != 2 {
		t.Errorf("settings do not arrive: %+v", o)
	}
	notes := h.notes(t, karpenterValues)
	want := map[string]string{ // name of a finding: name in the notes
		"NodeOverlay": "settings.featureGates.nodeOverlay", "CapacityBuffer": "settings.featureGates.capacityBuffer", "AWS_FEATURE_GATES": "settings.awsFeatureGates",
		"eks-control-plane": "settings.eksControlPlane", "ignore-dra-requests": "settings.ignoreDRARequests",
		"log-output-paths": "logOutputPaths", "log-error-output-paths": "logErrorOutputPaths",
	}
	for _, f := range o.Findings {
		if want[f.Name] == "" || strings.Count(notes, "\n  "+want[f.Name]+"\n") != 1 {
			t.Errorf("finding %+v is not once in the notes", f)
		}
		delete(want, f.Name)
	}
	if len(want) > 0 {
		t.Errorf("no findings about %v", want)
	}
	if !strings.Contains(notes, "controller.image (it is Karpenter's") || c.Image != released {
		t.Errorf("image %s", c.Image)
	}
	if c.SecurityContext.AppArmorProfile != nil || c.SecurityContext.SELinuxOptions != nil || c.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("security context %+v", c.SecurityContext)
	}
	if mounts := pod.Containers[1].VolumeMounts; len(mounts) != 2 {
		t.Errorf("mounts of the sidecar: %v", mounts)
	}
	anti := pod.Affinity.PodAntiAffinity
	for _, term := range append(anti.RequiredDuringSchedulingIgnoredDuringExecution, anti.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm) {
		if diff := cmp.Diff(d.Spec.Selector, term.LabelSelector); diff != "" {
			t.Errorf("a term of the affinity does not select the chart's pods (-pods +term):\n%s", diff)
		}
	}
	if limit := objs["ServiceMonitor/nodes"].Object["spec"].(map[string]any)["sampleLimit"]; fmt.Sprint(limit) != "50000" {
		t.Errorf("sampleLimit %v", limit)
	}
	if len(pod.InitContainers) != 0 {
		t.Errorf("init containers %v", pod.InitContainers)
	}
}

// environment returns the variables of a container that have values.
func environment(c *corev1.Container) []string {
	var out []string
	for _, e := range c.Env {
		out = append(out, e.Name+"="+e.Value)
	}
	return out
}

// notes returns what an installation with a values file prints. Helm prints it only where
// there is a cluster: a copy of the chart has it in an object.
func (h helm) notes(t *testing.T, file string) string {
	t.Helper()
	dir := stamped(t)
	if err := os.Rename(dir+"/templates/NOTES.txt", dir+"/files/NOTES.txt"); err != nil {
		t.Fatal(err)
	}
	const object = `{"kind": "Notes", "metadata": {"name": "notes"}, "text": {{ tpl (.Files.Get "files/NOTES.txt") . | toJson }}}`
	if err := os.WriteFile(dir+"/templates/notes.yaml", []byte(object), 0o600); err != nil {
		t.Fatal(err)
	}
	objs := parse(t, h.must(t, "template", "spokeshave", dir, "--namespace", "system", "--values", file))
	text, _ := objs["Notes/notes"].Object["text"].(string)
	if !strings.Contains(text, "Is it running?") {
		t.Fatalf("notes: %q", text)
	}
	return text
}

// TestKarpenterDefaults: the values that Karpenter's chart has by default need no words.
func TestKarpenterDefaults(t *testing.T) {
	h := newHelm(t)
	file := values(t, `
initContainers: {}
logOutputPaths: [stdout]
logErrorOutputPaths: [stderr]
serviceMonitor: {sampleLimit: null}
settings: {clusterName: test, reservedENIs: "0", eksControlPlane: false, ignoreDRARequests: true, disableClusterStateObservability: false, disableDryRun: false}
`)
	notes := h.notes(t, file)
	if strings.Contains(notes, "have no effect") {
		t.Errorf("the notes name values without effect:\n%s", notes)
	}
	d := get[appsv1.Deployment](t, parse(t, h.must(t, "template", "spokeshave", chartDir, "--namespace", "system", "--set", image, "--values", file)), "Deployment/spokeshave")
	o, fs := app.Options{}, pflag.NewFlagSet("spokeshave-controller", pflag.ContinueOnError)
	o.Bind(fs)
	if err := o.Parse(fs, d.Spec.Template.Spec.Containers[0].Args, nil); err != nil || len(o.Findings) != 0 {
		t.Errorf("%v, findings %v", err, o.Findings)
	}
}

// TestNames: the names that the chart knows are those of its schema, which leaves
// unknown ones to the chart.
func TestNames(t *testing.T) {
	var known map[string][]string
	text, err := os.ReadFile(chartDir + "/files/names.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, &known); err != nil {
		t.Fatal(err)
	}
	type schema struct {
		Properties           map[string]schema `json:"properties"`
		AdditionalProperties any               `json:"additionalProperties"`
	}
	var root schema
	if text, err = os.ReadFile(chartDir + "/values.schema.json"); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	groups := 0
	var walk func(path string, s schema)
	walk = func(path string, s schema) {
		if s.Properties == nil {
			return
		}
		if s.AdditionalProperties == nil {
			groups++
			var names []string
			for name := range s.Properties {
				names = append(names, name)
			}
			slices.Sort(names)
			key := strings.TrimPrefix(path, ".")
			if key == "" {
				key = "."
			}
			if diff := cmp.Diff(names, known[key]); diff != "" {
				t.Errorf("names of %s (-schema +names.yaml):\n%s", key, diff)
			}
		}
		for name, each := range s.Properties {
			walk(path+"."+name, each)
		}
	}
	walk("", root)
	if groups != len(known) || groups < 10 {
		t.Errorf("%d groups in the schema, %d in names.yaml", groups, len(known))
	}
}
