package aws_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
)

// eks answers as the simulated EC2 does, but tells of the cluster what cluster says.
func (w *simulatedEC2) eks(t *testing.T, cluster *atomic.Value) string {
	t.Helper()
	return serve(t, func(out http.ResponseWriter, in *http.Request) {
		if !strings.HasPrefix(in.URL.Path, "/clusters/") {
			w.server.ServeHTTP(out, in)
			return
		}
		if err := json.NewEncoder(out).Encode(map[string]any{"cluster": cluster.Load()}); err != nil {
			t.Error(err)
		}
	})
}

// told is what an instance launched now is told of its cluster.
func (w *simulatedEC2) told(t *testing.T, claim string) string {
	t.Helper()
	if _, err := w.provider.Launch(t.Context(), w.prepare(t, spec(claim, option("m7i.large", "us-west-2a", model.OnDemand)))); err != nil {
		t.Fatal(err)
	}
	all := w.server.State().Instances
	at := slices.IndexFunc(all, func(i sim.InstanceState) bool { return i.Tags[awsv1.TagNodeClaim] == claim })
	if at < 0 {
		t.Fatalf("no instance of %s", claim)
	}
	return all[at].UserData
}

func wantTold(t *testing.T, when, data string, want ...string) {
	t.Helper()
	for _, line := range want {
		if !strings.Contains(data, line+"\n") {
			t.Errorf("%s: user data lacks %q:\n%s", when, line, data)
		}
	}
}

// Endpoint, certificate and service range come from EKS, where they are not
// configured; the images are those for the version that it tells.
func TestClusterIsFoundOut(t *testing.T) {
	for name, c := range map[string]struct {
		reason  string
		network map[string]any
		change  func(*aws.Config)
		want    []string
	}{
		"all from EKS": {
			reason:  "nothing is configured",
			network: map[string]any{"serviceIpv4Cidr": "172.20.0.0/16", "ipFamily": "ipv4"},
			want:    []string{"    apiServerEndpoint: https://eks.example", "    certificateAuthority: RUtT", "    cidr: 172.20.0.0/16", "    name: demo"},
		},
		"IPv6": {
			reason:  "a cluster of IPv6 has one range only",
			network: map[string]any{"serviceIpv6Cidr": "fd00::/108", "ipFamily": "ipv6"},
			want:    []string{"    cidr: fd00::/108"},
		},
		"endpoint configured": {
			reason:  "what is configured goes before, one by one",
			network: map[string]any{"serviceIpv4Cidr": "172.20.0.0/16"},
			change:  func(cfg *aws.Config) { cfg.ClusterEndpoint = "https://own.example" },
			want:    []string{"    apiServerEndpoint: https://own.example", "    certificateAuthority: RUtT"},
		},
		"DNS": {
			reason:  "the service says where DNS is",
			network: map[string]any{"serviceIpv4Cidr": "172.20.0.0/16"},
			change: func(cfg *aws.Config) {
				cfg.ClusterDNS = func(context.Context) (string, error) { return "172.20.0.99", nil }
			},
			want: []string{"      clusterDNS:\n      - 172.20.0.99"},
		},
		"no DNS": {
			reason:  "nodes start without an answer: images know the usual address",
			network: map[string]any{"serviceIpv4Cidr": "172.20.0.0/16"},
			change: func(cfg *aws.Config) {
				cfg.ClusterDNS = func(context.Context) (string, error) { return "", errors.New("services \"kube-dns\" is forbidden") }
			},
			want: []string{"    config: {}", "    cidr: 172.20.0.0/16"},
		},
		"certificate configured": {
			reason:  "what is configured goes before, one by one",
			network: map[string]any{"serviceIpv4Cidr": "172.20.0.0/16"},
			change:  func(cfg *aws.Config) { cfg.ClusterCA = "T1dO" },
			want:    []string{"    apiServerEndpoint: https://eks.example", "    certificateAuthority: T1dO"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEC2Of(t, "m7i.")
			var said atomic.Value
			said.Store(map[string]any{
				"name": "demo", "version": "1.36", "endpoint": "https://eks.example",
				"certificateAuthority": map[string]string{"data": "RUtT"}, "kubernetesNetworkConfig": c.network,
			})
			change := c.change
			if change == nil {
				change = func(*aws.Config) {}
			}
			w.provider = w.newProvider(t, w.eks(t, &said), change)
			class := w.class(t, "default", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
			if len(class.Status.AMIs) == 0 || !strings.Contains(class.Status.AMIs[0].Name, "-1.36-") {
				t.Errorf("images %+v, want those for 1.36", class.Status.AMIs)
			}
			wantTold(t, c.reason, w.told(t, "a"), c.want...)
		})
	}
}

// EKS is asked every five minutes: a cluster that was upgraded gets images of its
// new version. While it does not answer, what it said holds, and it is asked again.
func TestClusterIsAskedAgain(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	first := w.requests("DescribeCluster")
	for range 5 {
		w.told(t, "a")
	}
	if n := w.requests("DescribeCluster"); first != 1 || n != first {
		t.Errorf("asked %d times, then %d times; want once", first, n)
	}
	w.order(t, sim.Fault{Action: "DescribeCluster", HTTPStatus: 503, Count: 2})
	w.clock.Step(6 * time.Minute)
	wantTold(t, "while EKS is down", w.told(t, "b"), "    certificateAuthority: Q0E=", "    cidr: 10.100.0.0/16")
	w.clock.Step(30 * time.Second)
	w.told(t, "c")
	if n := w.requests("DescribeCluster") - first; n != 1 {
		t.Errorf("asked %d times in the half minute after a failure, want once", n)
	}
	for range 2 {
		w.clock.Step(time.Minute)
		w.told(t, "d")
	}
	if left := w.server.State().Faults; w.requests("DescribeCluster")-first != 3 || len(left) > 0 {
		t.Errorf("asked %d times, want again after each minute until it answered; faults left %+v", w.requests("DescribeCluster")-first, left)
	}

	upgraded := newEC2Of(t, "m7i.")
	var said atomic.Value
	say := func(version string) {
		said.Store(map[string]any{
			"version": version, "endpoint": "https://eks.example", "certificateAuthority": map[string]string{"data": "RUtT"},
			"kubernetesNetworkConfig": map[string]any{"serviceIpv4Cidr": "172.20.0.0/16"},
		})
	}
	say("1.36")
	upgraded.provider = upgraded.newProvider(t, upgraded.eks(t, &said))
	class := upgraded.class(t, "default", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
	say("1.37")
	for _, step := range []struct {
		after time.Duration
		want  string
	}{{4 * time.Minute, "-1.36-"}, {2 * time.Minute, "-1.37-"}} {
		upgraded.clock.Step(step.after)
		found, err := upgraded.provider.NodeClasses().Images(t.Context(), class)
		if err != nil || len(found) == 0 || !strings.Contains(found[0].Name, step.want) {
			t.Errorf("another %s later: %+v, %v; want images for %s", step.after, found, err, step.want)
		}
	}
}

// What EKS said of a cluster, its service range among it, is not given up for what
// the API server knows when EKS may not be asked any more; and where it could not be
// asked at first, it is asked again before long.
func TestClusterOfEKSThatMayNotBeAsked(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		skip   int // calls that EKS answers before it refuses two
	}{
		"later": {"it was known", 1},
		"first": {"a role may need a while until it may do what it is to do", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEC2Of(t, "m7i.")
			w.order(t, sim.Fault{Action: "DescribeCluster", Code: "AccessDeniedException", HTTPStatus: 403, Skip: c.skip, Count: 2})
			w.provider = w.newProvider(t, w.url, func(cfg *aws.Config) {
				cfg.ClusterEndpoint = "https://own.example"
				cfg.APIServer = func(context.Context) (string, string, error) { return "1.36", "QVBJ", nil }
			})
			w.class(t, "default", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
			if c.skip > 0 {
				wantTold(t, "EKS answers", w.told(t, "a"), "    cidr: 10.100.0.0/16")
				w.clock.Step(6 * time.Minute)
				wantTold(t, c.reason, w.told(t, "b"), "    certificateAuthority: Q0E=", "    cidr: 10.100.0.0/16")
			}
			for range 3 {
				w.clock.Step(time.Minute)
				if _, err := w.provider.NodeClasses().Images(t.Context(), w.classes["default"]); err != nil {
					t.Fatal(err)
				}
			}
			wantTold(t, c.reason, w.told(t, "c"), "    certificateAuthority: Q0E=", "    cidr: 10.100.0.0/16")
			if left := w.server.State().Faults; len(left) > 0 {
				t.Errorf("not asked again: %+v", left)
			}
		})
	}
}

// A cluster that EKS does not know: the API server tells version and certificate,
// when its address is configured. The service range stays unknown.
func TestClusterThatIsNotOfEKS(t *testing.T) {
	asked := 0
	apiServer := func(context.Context) (string, string, error) { asked++; return "1.36", "QVBJ", nil }
	for name, c := range map[string]struct {
		reason    string
		code      string
		endpoint  string
		apiServer func(context.Context) (string, string, error)
		want      provider.Kind
	}{
		"unknown":        {reason: "it is not a cluster of EKS", code: "ResourceNotFoundException", endpoint: "https://own.example", apiServer: apiServer},
		"not allowed":    {reason: "EKS may not be asked", code: "AccessDeniedException", endpoint: "https://own.example", apiServer: apiServer},
		"no endpoint":    {reason: "the address that the controller uses may be one that nodes cannot reach", code: "ResourceNotFoundException", apiServer: apiServer, want: provider.NotFound},
		"EKS is down":    {reason: "it may tell more when it is back", code: "ServiceUnavailableException", endpoint: "https://own.example", apiServer: apiServer, want: provider.Unavailable},
		"neither is up":  {reason: "it is tried again", code: "ResourceNotFoundException", endpoint: "https://own.example", apiServer: func(context.Context) (string, string, error) { return "", "", errors.New("refused") }, want: provider.Unavailable},
		"nobody to ask":  {reason: "a person must help", code: "AccessDeniedException", endpoint: "https://own.example", want: provider.Unauthorized},
		"not configured": {reason: "a person must help", code: "AccessDeniedException", want: provider.Unauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEC2Of(t, "m7i.")
			w.order(t, sim.Fault{Action: "DescribeCluster", Code: c.code, Forever: true, HTTPStatus: map[bool]int{true: 503, false: 400}[c.code == "ServiceUnavailableException"]})
			w.provider = w.newProvider(t, w.url, func(cfg *aws.Config) { cfg.ClusterEndpoint, cfg.APIServer = c.endpoint, c.apiServer })
			before := asked
			found, err := w.provider.NodeClasses().Images(t.Context(), &awsv1.EC2NodeClass{Spec: awsv1.EC2NodeClassSpec{AMISelectorTerms: []awsv1.AMISelectorTerm{{Alias: "bottlerocket@latest"}}}})
			if c.want != "" {
				wantKind(t, err, c.want)
				return
			}
			if err != nil || len(found) == 0 || asked == before {
				t.Fatalf("%s: images %+v, %v; the API server was asked %d times", c.reason, found, err, asked-before)
			}
			w.class(t, "default", awsv1.AMISelectorTerm{Alias: "bottlerocket@latest"})
			wantTold(t, c.reason, w.told(t, "a"), "api-server = 'https://own.example'", "cluster-certificate = 'QVBJ'")
			w.class(t, "default", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
			_, err = w.provider.Prepare(t.Context(), spec("b", option("m7i.large", "us-west-2a", model.OnDemand)))
			wantKind(t, err, provider.ClassNotReady)
			if !strings.Contains(err.Error(), "service range") {
				t.Errorf("%q does not say what is missing", err)
			}
		})
	}
}
