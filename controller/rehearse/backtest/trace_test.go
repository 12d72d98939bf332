package backtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/rehearse/scenario"
)

const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [m7g]}]
  disruption: {budgets: [{nodes: "3"}]}
`

func loadText(t *testing.T, text string) (*Workload, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &scenario.Objects{}
	if err := o.Parse("pools.yaml", []byte(pool)); err != nil {
		t.Fatal(err)
	}
	return Load(&Source{Trace: path, Cluster: o, Options: scenario.Options{Time: monday()}})
}

func TestLoad(t *testing.T) {
	for name, text := range map[string]string{
		"csv": "arrival,lifetime,count,namespace,workload,cpu,memory,zone,labels,job\n# a comment\n90m,45m,2,shop,web,500m,1Gi,us-east-1a,tier=front,\n0,,1,shop,db,2,,,,true\n",
		"json": `{"arrival":"0","workload":"db","namespace":"shop","cpu":"2","job":true}

{"arrival":"2026-03-02T01:30:00Z","lifetime":"2700","count":2,"namespace":"shop","workload":"web","labels":{"tier":"front"},
"spec":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if name == "json" { // one object a line
				text = strings.Replace(text, ",\n\"spec\":{}", `,"spec":{"nodeSelector":{"topology.kubernetes.io/zone":"us-east-1a"},"containers":[{"name":"c","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}}]}`, 1)
			}
			w, err := loadText(t, text)
			if err != nil {
				t.Fatal(err)
			}
			if len(w.Pods) != 3 || w.Pods[0].Lifetime != 0 || !w.Pods[0].Job || w.Pods[1].Lifetime != 45*time.Minute {
				t.Fatalf("%+v", w.Pods)
			}
			if name == "csv" && !w.Pods[1].Arrival.Equal(monday().Add(90*time.Minute)) {
				t.Errorf("arrival %s", w.Pods[1].Arrival)
			}
			web := w.Base.Specs[w.Pods[1].Spec]
			if web.Requests[model.CPU] != 500 || web.Requests[model.Memory] != 1<<30 || web.Labels["tier"] != "front" || web.Labels["app"] != "web" {
				t.Errorf("%+v", web)
			}
			if zone := web.NodeSelector["topology.kubernetes.io/zone"]; zone != "us-east-1a" {
				t.Errorf("zone %q", zone)
			}
			if n, _, _ := w.Allow(0, monday(), 100, 1); n != 2 {
				t.Errorf("%d may go, of three with one leaving", n)
			}
			if len(w.Base.Pods)+len(w.Base.Nodes) != 0 {
				t.Errorf("%d pods, %d nodes in the base", len(w.Base.Pods), len(w.Base.Nodes))
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"empty":    {" \n", "the trace is empty"},
		"column":   {"arrival,cpus\n0,1\n", `trace:1: no column "cpus": a trace has arrival, lifetime`},
		"field":    {`{"arrival":"0","cpus":"1"}`, `trace:1: unknown field "cpus"`},
		"arrival":  {"arrival,cpu\n0,1\nnoon,1\n", `trace:3: arrival "noon": want a time`},
		"none":     {"cpu\n1\n", "trace:2: arrival must be set"},
		"lifetime": {"arrival,lifetime\n0,-5m\n", `trace:2: lifetime "-5m": want a duration`},
		"quantity": {"arrival,cpu\n0,two\n", `trace:2: cpu: "two" is not a quantity`},
		"count":    {"arrival,count\n0,x\n", `trace:2: count "x"`},
		"many":     {"arrival,count\n0,2000000000\n", "trace:2: more than 5000000 pods"},
		"selector": {"arrival,nodeSelector\n0,a\n", "want key=value"},
		"fields":   {"arrival,cpu\n0\n", "wrong number of fields"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := loadText(t, tc.text); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func FuzzTrace(f *testing.F) {
	f.Add([]byte("arrival,lifetime,count\n0,5m,2\n"))
	f.Add([]byte(`{"arrival":"1h","cpu":"500m","spec":{"nodeSelector":{"a":"b"}}}`))
	f.Add([]byte("arrival,labels,job\n2026-03-02T00:00:00Z,a=b;c=d,true\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		rows, err := parse("trace", raw)
		for i := range rows {
			if err == nil && (rows[i].Count < 1 || rows[i].lifetime < 0) {
				t.Errorf("row %d: %+v", i, rows[i])
			}
		}
	})
}
