package upkeep_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/upkeep"
	"spokeshave.dev/controller/cloud/provider"
)

// testShifts: events on the classes with subnets in the zone, once for each
// change, by the leader alone.
func testShifts(t *testing.T, c client.Client) {
	for name, zones := range map[string][]string{"here": {"usw2-az1", "usw2-az2"}, "elsewhere": {"usw2-az3"}} {
		class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "shift-" + name}, Spec: validSpec()}
		if err := c.Create(t.Context(), class); err != nil {
			t.Fatal(err)
		}
		for _, z := range zones {
			class.Status.Subnets = append(class.Status.Subnets, awsv1.Subnet{ID: "subnet-" + z, Zone: "us-west-2a", ZoneID: z})
		}
		if err := c.Status().Update(t.Context(), class); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), class) })
	}
	var answer []provider.Shift
	var failure error
	recorder, woken, leading := &recorded{}, 0, true
	s := &upkeep.Shifts{
		Client: c, Events: recorder, Leading: func() bool { return leading }, Changed: func() { woken++ },
		Ask: func(context.Context) ([]provider.Shift, error) { return answer, failure },
	}
	until := time.Date(2026, 8, 3, 12, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		reason  string
		answer  []provider.Shift
		failure error
		follows bool
		want    []string
		woken   int
	}{
		{reason: "nothing is shifted"},
		{reason: "a shift begins", answer: []provider.Shift{{ZoneID: "usw2-az1", Until: until}}, want: []string{"shift-here Warning ZonalShiftActive 2026-08-03T12:00:00Z"}, woken: 1},
		{reason: "it goes on", answer: []provider.Shift{{ZoneID: "usw2-az1", Until: until.Add(time.Hour)}}, woken: 1},
		{reason: "ARC does not answer", answer: []provider.Shift{{ZoneID: "usw2-az1", Until: until}}, failure: errors.New("no answer"), woken: 1},
		{reason: "another begins by itself", answer: []provider.Shift{{ZoneID: "usw2-az1", Until: until}, {ZoneID: "usw2-az2"}}, want: []string{"shift-here Warning ZonalShiftActive autoshift"}, woken: 2},
		{reason: "both end", want: []string{"shift-here Normal ZonalShiftCleared over", "shift-here Normal ZonalShiftCleared over"}, woken: 3},
		{reason: "a replica that follows tells nobody", answer: []provider.Shift{{ZoneID: "usw2-az1"}}, follows: true, woken: 4},
	} {
		answer, failure, leading = step.answer, step.failure, !step.follows
		recorder.said = nil
		if err := s.Look(t.Context()); !errors.Is(err, step.failure) {
			t.Errorf("%s: %v", step.reason, err)
		}
		var got []string
		for i, e := range recorder.said {
			words := ""
			if i < len(step.want) {
				words = step.want[i][strings.LastIndexByte(step.want[i], ' ')+1:]
			}
			if !strings.Contains(e.note, words) {
				t.Errorf("%s: %q does not say %q", step.reason, e.note, words)
			}
			got = append(got, e.on+" "+e.kind+" "+e.reason+" "+words)
		}
		slices.Sort(got)
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", step.reason, diff)
		}
		if woken != step.woken {
			t.Errorf("%s: woken %d times, want %d", step.reason, woken, step.woken)
		}
	}
}
