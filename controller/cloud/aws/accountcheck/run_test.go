package accountcheck

import (
	"context"
	"testing"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/simulator"
	"spokeshave.dev/test/kit/ec2"
)

// ended checks that no instance of the endpoint runs and returns how many there were.
func ended(t *testing.T, at *ec2.Endpoint) int {
	t.Helper()
	all := at.Server.State().Instances
	for _, i := range all {
		if i.State != "terminated" && i.State != "shutting-down" {
			t.Errorf("instance %s is still %s", i.ID, i.State)
		}
	}
	return len(all)
}

func TestRun(t *testing.T) {
	own := ec2.Policies(t)["own"]
	launching := []string{"template", "may launch", "on-demand launch", "spot launch", "end"}
	cases := map[string]struct {
		reason   string
		changes  []func(*simulator.Config)
		config   Config
		failed   []string // checks
		skipped  []string
		launched int
	}{
		"reading": {
			reason:  "without Spend nothing is made",
			changes: []func(*simulator.Config){ec2.Under(own)},
			config:  Config{Queue: ec2.Cluster}, skipped: launching,
		},
		"everything": {
			reason:  "the policy of examples/iam is enough",
			changes: []func(*simulator.Config){ec2.Under(own)},
			config:  Config{Queue: ec2.Cluster, Spend: true}, launched: 2,
		},
		"no queue": {
			reason: "what is not named is not checked",
			config: Config{Spend: true}, skipped: []string{"queue"}, launched: 2,
		},
		"other discovery": {
			reason: "without subnets and groups the other checks go on",
			config: Config{Queue: ec2.Cluster, Spend: true, Discovery: "other"},
			failed: []string{"subnets", "security groups"}, skipped: append([]string{"may make templates"}, launching...),
		},
		"no cluster": {
			reason:  "images need a version, which may be given in place of the cluster's",
			changes: []func(*simulator.Config){func(c *simulator.Config) { c.Cluster = "other" }},
			config:  Config{Discovery: "other", Queue: "other"},
			failed:  []string{"cluster"}, skipped: append([]string{"images", "may make templates"}, launching...),
		},
		"no cluster, a version": {
			reason:  "images need a version, which may be given in place of the cluster's",
			changes: []func(*simulator.Config){func(c *simulator.Config) { c.Cluster = "other" }},
			config:  Config{Discovery: "other", Queue: "other", KubernetesVersion: "1.36"},
			failed:  []string{"cluster"}, skipped: launching,
		},
		"no spot": {
			reason:  "a launch that is refused leaves nothing behind",
			changes: []func(*simulator.Config){func(c *simulator.Config) { c.SpotVCPUs = 1 }},
			config:  Config{Queue: ec2.Cluster, Spend: true}, failed: []string{"spot launch"}, launched: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			at := ec2.Start(t, []string{"t3.", "t3a.", "m7i."}, tc.changes...)
			cfg := ec2.SDK(at.URL)
			tc.config.At, tc.config.Cluster = client.Location{SDK: &cfg}, ec2.Cluster
			got, err := Run(t.Context(), tc.config)
			if err != nil || len(got) != 20 {
				t.Fatalf("%d results, want 20: %v", len(got), err)
			}
			want := map[string]Outcome{}
			for _, c := range tc.failed {
				want[c] = Failed
			}
			for _, c := range tc.skipped {
				want[c] = Skipped
			}
			for _, r := range got {
				w := want[r.Check]
				if w == "" {
					w = OK
				}
				if r.Outcome != w || r.Found == "" {
					t.Errorf("%s: %s is %s, want %s: %s", tc.reason, r.Check, r.Outcome, w, r.Found)
				}
			}
			if n := ended(t, at); n != tc.launched {
				t.Errorf("%s: %d instances were launched, want %d", tc.reason, n, tc.launched)
			}
		})
	}
}

// An interrupted run ends what it has launched.
func TestInterrupted(t *testing.T) {
	at := ec2.Start(t, []string{"t3.", "t3a."})
	cfg := ec2.SDK(at.URL)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got, err := Run(ctx, Config{
		At: client.Location{SDK: &cfg}, Cluster: ec2.Cluster, Spend: true,
		Progress: func(_ int, c Check) {
			if c.Name == "spot launch" {
				cancel()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range got {
		if want := map[string]Outcome{"spot launch": Failed, "end": OK}[r.Check]; want != "" && r.Outcome != want {
			t.Errorf("%s is %s, want %s: %s", r.Check, r.Outcome, want, r.Found)
		}
	}
	if n := ended(t, at); n != 1 {
		t.Errorf("%d instances were launched before the interruption, want 1", n)
	}
}
