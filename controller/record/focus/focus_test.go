package focus

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

// definition is what FOCUS says of a column.
type definition struct {
	level, kind string
	nullable    bool
	allowed     []string
}

// published reads the definitions that testdata has of FOCUS 1.3.
func published(t *testing.T) map[string]definition {
	t.Helper()
	text, err := os.ReadFile("testdata/focus-1.3.csv")
	if err != nil {
		t.Fatal(err)
	}
	in := csv.NewReader(bytes.NewReader(text))
	in.Comment = '#'
	records, err := in.ReadAll()
	if err != nil || len(records) < 60 {
		t.Fatalf("%d definitions: %v", len(records), err)
	}
	out := map[string]definition{}
	for _, r := range records[1:] {
		d := definition{level: r[1], nullable: r[2] == "true", kind: r[3]}
		if r[4] != "" {
			d.allowed = strings.Split(r[4], "|")
		}
		out[r[0]] = d
	}
	return out
}

// periods are days of random clusters, as the ledger rounds them, and what the ledger has
// charged in all.
func periods(t *testing.T, seed uint64) ([]spend.Period, int64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 3))
	s := &model.Snapshot{
		Time:  time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		Pools: []model.Pool{{Name: "general", Labels: map[string]string{"team": "web", "env": "prod"}}, {Name: "gpu"}},
		Specs: []model.PodSpec{{Requests: model.Resources{model.CPU: 700}}, {Requests: model.Resources{model.CPU: 333}}},
	}
	for i := range 1 + r.IntN(12) {
		s.Nodes = append(s.Nodes, model.Node{
			Name: fmt.Sprint(i), Claim: fmt.Sprint(i), Pool: int32(r.IntN(2)), InstanceType: []string{"m5.large", "c6g.large"}[r.IntN(2)],
			CapacityType: []model.CapacityType{model.Spot, model.OnDemand}[r.IntN(2)], Price: model.Price(1 + r.IntN(3_000_000)), LaunchedAt: s.Time,
			Allocatable: model.Resources{model.CPU: 4_000},
		})
		for range r.IntN(6) {
			s.Pods = append(s.Pods, model.Pod{
				Namespace: []string{"shop", "batch"}[r.IntN(2)], Name: fmt.Sprint(len(s.Pods)), Workload: []string{"Deployment/web", "Job/nightly", ""}[r.IntN(3)],
				Spec: int32(r.IntN(2)), Node: int32(i), Daemon: r.IntN(5) == 0,
			})
		}
	}
	l := spend.New(s)
	for range 5 {
		s.Time = s.Time.Add(time.Duration(1 + r.Int64N(int64(40*time.Hour))))
		s.Nodes[0].Price = model.Price(1 + r.IntN(3_000_000))
		l = l.Advance(s)
	}
	total := l.Total()
	return l.Days.Periods(), total.Micro
}

// TestColumns: every column is one of FOCUS or has the prefix of others, and all that
// FOCUS demands are there.
func TestColumns(t *testing.T) {
	all, names := published(t), Columns()
	for _, name := range names {
		if _, known := all[name]; !known && !regexp.MustCompile(`^x_[A-Z][A-Za-z]+$`).MatchString(name) {
			t.Errorf("%s is no column of FOCUS %s, and does not begin with x_", name, Version)
		}
	}
	for name, d := range all {
		if d.level == "Mandatory" && !slices.Contains(names, name) {
			t.Errorf("%s is mandatory, and missing", name)
		}
		if strings.HasPrefix(name, "Allocated") && !slices.Contains(names, name) {
			t.Errorf("%s belongs to split costs, and is missing", name)
		}
	}
}

// TestRowsAreFocus: each field of each row is what FOCUS says of its column, and the rows
// add up to what the ledger has charged.
func TestRowsAreFocus(t *testing.T) {
	all := published(t)
	for seed := range uint64(40) {
		days, charged := periods(t, seed)
		var out bytes.Buffer
		if err := WriteCSV(&out, Rows(days, Account{ID: "111122223333", Region: "eu-west-1", Cluster: "shop"})); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(&out).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		sums, ratios := map[string]*big.Rat{}, map[string]*big.Rat{}
		for line, record := range records[1:] {
			row := map[string]string{}
			for i, value := range record {
				row[records[0][i]] = value
				if d, ok := all[records[0][i]]; ok {
					if wrong := d.check(value); wrong != "" {
						t.Fatalf("seed %d, line %d: %s %q: %s", seed, line, records[0][i], value, wrong)
					}
				}
			}
			checkRow(t, row)
			for _, cost := range []string{"BilledCost", "ContractedCost", "EffectiveCost", "ListCost"} {
				add(sums, cost, row[cost])
			}
			var details struct {
				Elements []struct{ AllocatedRatio json.Number }
			}
			if err := json.Unmarshal([]byte(row["AllocatedMethodDetails"]), &details); err != nil || len(details.Elements) != 1 {
				t.Fatalf("%s: %v", row["AllocatedMethodDetails"], err)
			}
			add(ratios, row["ChargePeriodStart"]+row["ResourceId"]+row["Tags"], details.Elements[0].AllocatedRatio.String())
		}
		for cost, sum := range sums {
			if want := big.NewRat(charged, 1_000_000); sum.Cmp(want) != 0 {
				t.Fatalf("seed %d: %s adds up to %s, the ledger has charged %s", seed, cost, sum.FloatString(6), want.FloatString(6))
			}
		}
		for origin, sum := range ratios {
			if sum.Cmp(big.NewRat(1, 1)) != 0 {
				t.Fatalf("seed %d: the ratios of %s add up to %s", seed, origin, sum.FloatString(12))
			}
		}
	}
}

func add(sums map[string]*big.Rat, key, value string) {
	n, ok := new(big.Rat).SetString(value)
	if !ok {
		return
	}
	if sums[key] == nil {
		sums[key] = new(big.Rat)
	}
	sums[key].Add(sums[key], n)
}

// check says what is wrong with a value of the column, "" for nothing.
func (d *definition) check(value string) string {
	switch {
	case value == "" && d.nullable:
		return ""
	case value == "":
		return "null is not allowed"
	case d.allowed != nil && !slices.Contains(d.allowed, value):
		return "not one of " + strings.Join(d.allowed, ", ")
	case d.kind == "Decimal" && !regexp.MustCompile(`^-?\d+(\.\d+)?$`).MatchString(value):
		return "no decimal"
	case d.kind == "JSON" && !json.Valid([]byte(value)):
		return "no JSON"
	case d.kind == "Date/Time":
		if at, err := time.Parse("2006-01-02T15:04:05Z", value); err != nil || at.Location() != time.UTC {
			return "no time in UTC"
		}
	}
	return ""
}

// checkRow checks what FOCUS says of columns together, on the page of each column: which are
// null together, and what key-value pairs may hold.
func checkRow(t *testing.T, row map[string]string) {
	t.Helper()
	idle := row["x_Kind"] == spend.Idle
	switch {
	case row["ChargePeriodStart"] >= row["ChargePeriodEnd"]:
		t.Errorf("a charge from %s to %s", row["ChargePeriodStart"], row["ChargePeriodEnd"])
	case row["BillingPeriodStart"] > row["ChargePeriodStart"] || row["BillingPeriodEnd"] < row["ChargePeriodEnd"]:
		t.Errorf("a charge from %s in the billing period of %s", row["ChargePeriodStart"], row["BillingPeriodStart"])
	case idle != (row["AllocatedResourceId"] == ""):
		t.Errorf("AllocatedResourceId %q of %s: null for what is not allocated, and only for that", row["AllocatedResourceId"], row["x_Kind"])
	case (row["AllocatedResourceId"] == "") != (row["AllocatedResourceName"] == ""):
		t.Errorf("AllocatedResourceName %q of AllocatedResourceId %q: both are null, or none", row["AllocatedResourceName"], row["AllocatedResourceId"])
	case (row["ResourceId"] == "") != (row["ResourceType"] == ""):
		t.Errorf("ResourceType %q of ResourceId %q: both are null, or none", row["ResourceType"], row["ResourceId"])
	case (row["RegionId"] == "") != (row["RegionName"] == ""):
		t.Errorf("RegionName %q of RegionId %q: both are null, or none", row["RegionName"], row["RegionId"])
	case !regexp.MustCompile(`^[A-Z]{3}$`).MatchString(row["BillingCurrency"]):
		t.Errorf("%s is no currency of ISO 4217", row["BillingCurrency"])
	case row["AllocatedMethodId"] == "" || row["AllocatedMethodDetails"] == "":
		t.Errorf("a part of a split without a method: %v", row)
	case (row["PricingQuantity"] == "") != (row["SkuPriceId"] == "") || (row["PricingUnit"] == "") != (row["PricingQuantity"] == ""):
		t.Errorf("a quantity without a price, or the reverse: %v", row)
	}
	var own, allocated map[string]any
	for text, into := range map[string]*map[string]any{row["Tags"]: &own, row["AllocatedTags"]: &allocated} {
		if text != "" {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Errorf("tags %s: %v", text, err)
			}
		}
	}
	for _, pairs := range []map[string]any{own, allocated} {
		for key, value := range pairs {
			switch value.(type) {
			case string, bool, float64, nil:
			default:
				t.Errorf("tag %s has a value %v that is not plain", key, value)
			}
		}
	}
	for key := range allocated {
		if _, both := own[key]; both {
			t.Errorf("tag %s is of the NodePool and of the workload", key)
		}
	}
}

// TestParquet: what is read back is what was written.
func TestParquet(t *testing.T) {
	days, _ := periods(t, 1)
	want := Rows(days, Account{ID: "unknown"})
	var out bytes.Buffer
	if err := WriteParquet(&out, want); err != nil {
		t.Fatal(err)
	}
	got, err := parquet.Read[Row](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestRatios(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		micro  []int64
		want   []string
	}{
		"one":    {"all of it", []int64{7}, []string{"1"}},
		"thirds": {"what is left goes to the first of those with the largest rest", []int64{1, 1, 1}, []string{"0.333333334", "0.333333333", "0.333333333"}},
		"tiny":   {"a part that is too small is none", []int64{1, 1 << 60}, []string{"0", "1"}},
		"free":   {"parts of nothing add up too", []int64{0, 0}, []string{"1", "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			var rows []spend.Row
			for _, micro := range tc.micro {
				rows = append(rows, spend.Row{Amount: spend.Amount{Micro: micro}})
			}
			if diff := cmp.Diff(tc.want, ratios(rows)); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}
