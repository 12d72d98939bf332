package model

import (
	"math"
	"testing"
	"time"
)

func TestRequirementMatches(t *testing.T) {
	req := func(op Operator, values ...string) Requirement { return Requirement{Operator: op, Values: values} }
	cases := map[string]struct {
		reason  string
		req     Requirement
		value   string
		present bool
		want    bool
	}{
		"in":            {reason: "the value is listed", req: req(In, "a", "b"), value: "b", present: true, want: true},
		"in absent":     {reason: "an absent label is in nothing", req: req(In, ""), want: false},
		"not in":        {reason: "the value is listed", req: req(NotIn, "a"), value: "a", present: true, want: false},
		"not in absent": {reason: "an absent label is in no list (Kubernetes)", req: req(NotIn, "a"), want: true},
		"exists":        {reason: "an empty value exists", req: req(Exists), present: true, want: true},
		"not exists":    {reason: "absent is absent", req: req(DoesNotExist), want: true},
		"gt":            {reason: "10 > 9, by number and not by letter", req: req(Gt, "9"), value: "10", present: true, want: true},
		"gt equal":      {reason: "Gt is strict", req: req(Gt, "9"), value: "9", present: true},
		"gte":           {reason: "Gte is not", req: req(Gte, "9"), value: "9", present: true, want: true},
		"lt":            {reason: "8 < 9", req: req(Lt, "9"), value: "8", present: true, want: true},
		"lte":           {reason: "9 <= 9", req: req(Lte, "9"), value: "9", present: true, want: true},
		"lt absent":     {reason: "an absent label is less than nothing", req: req(Lt, "9"), value: "0"},
		"gt text":       {reason: "what is no integer compares with nothing", req: req(Gt, "9"), value: "x", present: true},
		"gt bound":      {reason: "neither does a bound that is none", req: req(Gt, "x"), value: "9", present: true},
		"gt two":        {reason: "there is one bound", req: req(Gt, "1", "2"), value: "9", present: true},
		"unknown":       {reason: "an operator nobody knows holds for nothing", req: req("Near", "9"), value: "9", present: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.req.Matches(tc.value, tc.present); got != tc.want {
				t.Errorf("%s: Matches = %v", tc.reason, got)
			}
		})
	}
}

func TestPriceOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		usd    float64
		want   Price
	}{
		"spot":     {reason: "the cheapest spot prices keep their digits", usd: 0.0016, want: 1600},
		"rounded":  {reason: "to the nearest micro-dollar", usd: 0.0000016, want: 2},
		"nan":      {reason: "what is no number costs nothing", usd: math.NaN(), want: 0},
		"infinite": {reason: "saturates", usd: math.Inf(1), want: math.MaxInt64},
		"negative": {reason: "saturates", usd: math.Inf(-1), want: math.MinInt64},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := PriceOf(tc.usd); got != tc.want {
				t.Errorf("%s: PriceOf(%v) = %d, want %d", tc.reason, tc.usd, got, tc.want)
			}
		})
	}
	if got := Price(83_200).String(); got != "0.0832" {
		t.Errorf("String = %s", got)
	}
}

func TestDigest(t *testing.T) {
	a := Snapshot{Time: time.Unix(1, 0).UTC(), Seed: 1}
	b := a
	da, err := a.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if db, _ := b.Digest(); db != da {
		t.Error("equal snapshots have different digests")
	}
	b.Seed = 2
	if db, _ := b.Digest(); db == da {
		t.Error("different snapshots have equal digests")
	}
}
