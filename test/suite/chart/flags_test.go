package chart

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/app"
	"spokeshave.dev/controller/cloud/aws/market"
)

// allSettings gives every value from which the chart makes an argument.
const allSettings = `
additionalLabels: {team: platform, cost: a1}
controller: {mode: Observe, decisionLog: {path: "-", inputs: true}, metrics: {port: 9090, certSecret: metrics-tls}, local: {port: 9092, profiling: true}, healthProbe: {port: 9091}}
webhook: {enabled: true, clientCA: "-----BEGIN CERTIFICATE-----", clientName: kube-apiserver}
logLevel: debug
settings:
  clusterCABundle: Y2E=
  announcedPods: false
  disableClusterStateObservability: true
  isolatedVPC: true
  disableDryRun: true
  priceDiscounts: {discounts: [{instanceType: p5.48xlarge, hourlyUSD: 55.04}, {family: m7i, capacityType: on-demand, share: 0.28}, {share: 0.05}]}
  interval: 30s
  workers: 50
  clusterEndpoint: https://api.example.com
  awsRegion: us-west-2
  preferencePolicy: Ignore
  minValuesPolicy: BestEffort
  moveCost: 0.002
  interruptionQueue: test
  drainOnRebalance: true
  enableZonalShift: true
  enablePrefixDelegation: true
  featureGates: {nodeRepair: true, spotToSpotConsolidation: true, staticCapacity: true}
  awsEndpoint: http://ec2.example.com:4566
web: {enabled: true, service: true, certSecret: web-tls}
policies: {allowKubeSystem: true, regoEvaluator: opa, required: [budget, quota], pluginNamespaces: [team-a, team-b], pluginScopes: {team-a: {nodePools: [team-a-*], hooks: [rank], failClosed: true}}, cache: {enabled: true}}
`

// TestFlags: the controller understands every argument that the chart can pass.
func TestFlags(t *testing.T) {
	h := newHelm(t)
	for name, text := range map[string]string{"defaults": ``, "all": allSettings} {
		t.Run(name, func(t *testing.T) {
			d := get[appsv1.Deployment](t, h.render(t, text), "Deployment/spokeshave")
			var o app.Options
			fs := pflag.NewFlagSet("spokeshave-controller", pflag.ContinueOnError)
			o.Bind(fs)
			if err := fs.Parse(d.Spec.Template.Spec.Containers[0].Args); err != nil {
				t.Fatal(err)
			}
			if err := o.Validate(); err != nil {
				t.Fatal(err)
			}
			if o.ClusterName != "test" || o.Namespace != "system" {
				t.Errorf("cluster %q, namespace %q", o.ClusterName, o.Namespace)
			}
			if name == "all" && (o.Mode != string(app.Observe) || o.MetricsPort != 9090 || o.LocalPort != 9092 || !o.MetricsSecure || o.MetricsCertDir == "" || o.WebCertDir == "" || o.WebhookClientName != "kube-apiserver" || o.WebhookClientCA != o.WebhookCertDir+"/client-ca.crt" || !o.AllowKubeSystem || o.DecisionLog != "-" || !o.DecisionLogInputs || len(o.RequiredPolicies) != 2 || o.PreferencePolicy != "Ignore" || o.MinValuesPolicy != "BestEffort" || o.MoveCost != 0.002 || len(o.PluginNamespaces) != 2 || !o.PluginScopes["team-a"].FailClosed) {
				t.Errorf("settings do not arrive: %+v", o)
			}
			if name == "all" && (o.Interval != 30*time.Second || o.Workers != 50 || !o.EnableProfiling || len(o.RecordLabels) != 2 || o.RecordLabels["team"] != "platform") {
				t.Errorf("settings do not arrive: %+v", o)
			}
			mounted := false
			for _, m := range d.Spec.Template.Spec.Containers[0].VolumeMounts {
				mounted = mounted || m.MountPath == o.PolicyCache && !m.ReadOnly
			}
			if mounted != (name == "all") || (o.PolicyCache != "") != (name == "all") {
				t.Errorf("the cache of policies at %q is mounted: %v", o.PolicyCache, mounted)
			}
			gates := app.FeatureGates{NodeRepair: true, SpotToSpotConsolidation: true, StaticCapacity: true}
			if name == "all" && (o.InterruptionQueue != "test" || !o.DrainOnRebalance || !o.EnableZonalShift || !o.PrefixDelegation || o.Gates != gates) {
				t.Errorf("settings do not arrive: %+v", o)
			}
		})
	}
}

// TestDefaultsAgree: where chart and controller both have a default, it is the same one.
func TestDefaultsAgree(t *testing.T) {
	d := get[appsv1.Deployment](t, newHelm(t).render(t, ``), "Deployment/spokeshave")
	var o app.Options
	fs := pflag.NewFlagSet("spokeshave-controller", pflag.ContinueOnError)
	o.Bind(fs)
	if err := fs.Parse(d.Spec.Template.Spec.Containers[0].Args); err != nil {
		t.Fatal(err)
	}
	fs.Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"cluster-name", "namespace", "admission-policies"}, f.Name) && f.Value.String() != f.DefValue {
			t.Errorf("--%s is %s in the chart and %s in the controller", f.Name, f.Value, f.DefValue)
		}
	})
}

// valueless are the flags that no value of the chart sets, and why.
func valueless() map[string]string {
	return map[string]string{
		"disable-leader-election":   "for development only: two controllers would act at once",
		"leader-election-namespace": "the release's own, which the chart's permissions are for",
		"memory-limit":              "MEMORY_LIMIT has what controller.resources.limits.memory says, by the downward API",
	}
}

// TestEveryFlagHasAValue: the chart can set every flag of the controller, or there is a
// reason why not.
func TestEveryFlagHasAValue(t *testing.T) {
	h := newHelm(t)
	var o app.Options
	fs := pflag.NewFlagSet("spokeshave-controller", pflag.ContinueOnError)
	o.Bind(fs)
	for _, values := range []string{allSettings, `controller: {metrics: {secure: false}}`} {
		d := get[appsv1.Deployment](t, h.render(t, values), "Deployment/spokeshave")
		if err := fs.Parse(d.Spec.Template.Spec.Containers[0].Args); err != nil {
			t.Fatal(err)
		}
	}
	without := valueless()
	fs.VisitAll(func(f *pflag.Flag) {
		_, excused := without[f.Name]
		delete(without, f.Name)
		switch {
		case f.Changed && excused:
			t.Errorf("--%s has a value: remove it from the flags without", f.Name)
		case !f.Changed && !excused && !f.Hidden:
			t.Errorf("no value of the chart sets --%s, or allSettings lacks it: add one, or say in valueless why there is none", f.Name)
		}
	})
	for name := range without {
		t.Errorf("--%s is no flag of the controller", name)
	}
}

// TestPriceDiscounts: discounts reach the file that the controller reads, and pods start
// again when they change; a ConfigMap that somebody else keeps is mounted in their place.
func TestPriceDiscounts(t *testing.T) {
	h := newHelm(t)
	text := func(share string) string {
		return `settings: {priceDiscounts: {discounts: [{instanceType: p5.48xlarge, hourlyUSD: 55.04}, {family: m7i, capacityType: on-demand, share: ` + share + `}, {share: 0}]}}`
	}
	objects := h.render(t, text("0.28"))
	got, err := market.ParseDiscounts([]byte(get[corev1.ConfigMap](t, objects, "ConfigMap/spokeshave-price-discounts").Data["discounts.yaml"]))
	if err != nil {
		t.Fatal(err)
	}
	price, share, none := 55.04, 0.28, 0.0
	want := []market.Discount{{InstanceType: "p5.48xlarge", HourlyUSD: &price}, {Family: "m7i", CapacityType: "on-demand", Share: &share}, {Share: &none}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("discounts (-want +got):\n%s", diff)
	}
	first, changed := get[appsv1.Deployment](t, objects, "Deployment/spokeshave"), get[appsv1.Deployment](t, h.render(t, text("0.29")), "Deployment/spokeshave")
	if a, b := first.Spec.Template.Annotations, changed.Spec.Template.Annotations; len(a) == 0 || cmp.Equal(a, b) {
		t.Errorf("pods with other discounts have the annotations %v, then %v", a, b)
	}
	for values, name := range map[string]string{text("0.28"): "spokeshave-price-discounts", `settings: {priceDiscounts: {configMap: negotiated}}`: "negotiated"} {
		objects := h.render(t, values)
		pod := get[appsv1.Deployment](t, objects, "Deployment/spokeshave").Spec.Template.Spec
		if v := pod.Volumes[0]; v.ConfigMap == nil || v.ConfigMap.Name != name {
			t.Errorf("%s: the volume is %+v, want ConfigMap %s", values, v, name)
		}
		if m := pod.Containers[0].VolumeMounts[0]; m.Name != pod.Volumes[0].Name || !slices.Contains(pod.Containers[0].Args, "--price-discounts="+m.MountPath+"/discounts.yaml") {
			t.Errorf("%s: the file is not in the mount %+v: %v", values, m, pod.Containers[0].Args)
		}
	}
}
