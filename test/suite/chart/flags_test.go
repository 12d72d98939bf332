package chart

import (
	"testing"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"

	"spokeshave.dev/controller/app"
)

// TestFlags: the controller understands every argument that the chart can pass.
func TestFlags(t *testing.T) {
	h := newHelm(t)
	for name, text := range map[string]string{
		"defaults": ``,
		"all": `
controller: {mode: Observe, decisionLog: {path: "-", inputs: true}, metrics: {port: 9090, certSecret: metrics-tls}, local: {port: 9092}, healthProbe: {port: 9091}}
webhook: {enabled: true, clientCA: "-----BEGIN CERTIFICATE-----", clientName: kube-apiserver}
logLevel: debug
settings:
  clusterEndpoint: https://api.example.com
  awsRegion: us-west-2
  preferencePolicy: Ignore
  minValuesPolicy: BestEffort
  interruptionQueue: test
  drainOnRebalance: true
  enableZonalShift: true
  enablePrefixDelegation: true
  featureGates: {nodeRepair: true, spotToSpotConsolidation: true, staticCapacity: true}
  awsEndpoint: http://ec2.example.com:4566
web: {enabled: true, service: true, certSecret: web-tls}
policies: {allowKubeSystem: true, required: [budget, quota], pluginNamespaces: [team-a, team-b], pluginScopes: {team-a: {nodePools: [team-a-*], hooks: [rank], failClosed: true}}, cache: {enabled: true}}
`,
	} {
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
			if name == "all" && (o.Mode != string(app.Observe) || o.MetricsPort != 9090 || o.LocalPort != 9092 || !o.MetricsSecure || o.MetricsCertDir == "" || o.WebCertDir == "" || o.WebhookClientName != "kube-apiserver" || o.WebhookClientCA != o.WebhookCertDir+"/client-ca.crt" || !o.AllowKubeSystem || o.DecisionLog != "-" || !o.DecisionLogInputs || len(o.RequiredPolicies) != 2 || o.PreferencePolicy != "Ignore" || o.MinValuesPolicy != "BestEffort" || len(o.PluginNamespaces) != 2 || !o.PluginScopes["team-a"].FailClosed) {
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
		if f.Name != "cluster-name" && f.Name != "namespace" && f.Value.String() != f.DefValue {
			t.Errorf("--%s is %s in the chart and %s in the controller", f.Name, f.Value, f.DefValue)
		}
	})
}
