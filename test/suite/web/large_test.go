package web

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/record/journal"
	page "spokeshave.dev/controller/record/web"
	"spokeshave.dev/test/kit/browser"
)

// TestFirstView reports how long a browser takes to show the views of a cluster with 2,000
// nodes and 20,000 pods. A slow machine fails nothing: the bounds on bytes are in
// controller/record/web.
func TestFirstView(t *testing.T) {
	b := browser.Start(t)
	server := &page.Server{Board: &page.Board{}, Journal: func() []journal.Entry { return nil }, Policies: func() []policy.Status { return nil }}
	server.Board.Add(largeCluster(), &decide.Decision{})
	handler, err := server.Handler()
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	for _, view := range []string{"", "?view=spend", "?view=nodes"} {
		b.Open(s.URL+"/"+view, 1280, 900, false)
		b.Await("something to be painted", "performance.getEntriesByName('first-contentful-paint').length > 0")
		t.Logf("/%s: first contentful paint after %s ms, loaded after %s ms, %s bytes", view,
			b.Text("Math.round(performance.getEntriesByName('first-contentful-paint')[0].startTime)"),
			b.Text("Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd)"), b.Text("performance.getEntriesByType('navigation')[0].decodedBodySize"))
		holds(b, map[string]string{"the node count is right": "location.search !== '' || document.querySelector('.tiles').innerText.includes('2,000')"})
	}
}

func largeCluster() *model.Snapshot {
	const nodes, pods = 2_000, 20_000
	s := &model.Snapshot{Time: time.Date(2026, 3, 11, 10, 0, 0, 0, time.UTC), Specs: []model.PodSpec{{Requests: model.Resources{model.CPU: 900, model.Memory: 3 << 30, model.PodSlots: 1}}}}
	for i := range 4 {
		s.Pools = append(s.Pools, model.Pool{Name: fmt.Sprint("general-", i)})
	}
	for i := range nodes {
		s.Nodes = append(s.Nodes, model.Node{
			Name: fmt.Sprintf("ip-10-0-%d-%d.ec2.internal", i/250, i%250), Claim: fmt.Sprint("general-", i), Pool: int32(i % 4), State: model.Initialized,
			InstanceType: "m7g.4xlarge", Zone: fmt.Sprint("us-east-1", string(rune('a'+i%3))), CapacityType: model.Spot, Price: 200_000, LaunchedAt: s.Time.Add(-time.Hour),
			Allocatable: model.Resources{model.CPU: 15_900, model.Memory: 60 << 30, model.PodSlots: 110},
		})
	}
	for i := range pods {
		s.Pods = append(s.Pods, model.Pod{Namespace: fmt.Sprintf("team-%03d", i%100), Name: fmt.Sprint("web-", i), Workload: fmt.Sprint("Deployment/web-", i%700), Node: int32(i * i % nodes)})
	}
	return s
}
