package catalog

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

func TestExportRoundTrip(t *testing.T) {
	for _, region := range Regions() {
		want := load(t, region)
		var buf bytes.Buffer
		if err := Write(&buf, &want); err != nil {
			t.Fatal(err)
		}
		got, err := Read(region+".json", buf.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		want.NodeClass = ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", region, diff)
		}
	}
}

func TestRead(t *testing.T) {
	const capacity = `"capacity":{"cpu":4,"memory":"16Gi","pods":"58"}`
	cases := map[string]struct {
		reason string
		in     string
		want   string // of the error; empty wants none
	}{
		"numbers and quantities": {"both forms of amounts", `[{"name":"a","arch":"amd64",` + capacity + `,"offerings":[{"zone":"z","capacityType":"spot","price":0.1}]}]`, ""},
		"empty":                  {"no types is a catalogue", `[]`, ""},
		"object":                 {"not an array", `{}`, "c.json:1: read catalog: want a JSON array"},
		"unknown field":          {"typos must not pass", "[\n{\"nam\":\"a\"}]", `c.json:2: read catalog: instance type 0: json: unknown field "nam"`},
		"no name":                {"a type needs a name", "[\n\n{}]", "c.json:3: read catalog: instance type 0 (\"\"): name and arch must be set"},
		"bad quantity":           {"names the resource", `[{"name":"a","arch":"amd64","capacity":{"cpu":"four"}}]`, `capacity: cpu: "four" is not a quantity`},
		"negative":               {"amounts cannot be negative", `[{"name":"a","arch":"amd64","capacity":{"cpu":-1}}]`, `cpu: -1 is out of range`},
		"no memory":              {"the three basic resources are required", `[{"name":"a","arch":"amd64","capacity":{"cpu":1}}]`, "capacity: memory must be set"},
		"capacity type":          {"a closed list", `[{"name":"a","arch":"amd64",` + capacity + `,"offerings":[{"zone":"z","capacityType":"Spot","price":1}]}]`, `offering 0: capacityType "Spot": want spot, on-demand or reserved`},
		"price":                  {"no negative prices", `[{"name":"a","arch":"amd64",` + capacity + `,"offerings":[{"zone":"z","capacityType":"spot","price":-1}]}]`, `price -1: want 0 to`},
		"twice":                  {"names are unique", `[{"name":"a","arch":"amd64",` + capacity + "},\n" + `{"name":"a","arch":"amd64",` + capacity + `}]`, `c.json:2: read catalog: instance type "a" stands there twice`},
		"label":                  {"labels may not contradict", `[{"name":"a","arch":"amd64","labels":{"kubernetes.io/arch":"arm64"},` + capacity + `}]`, `label kubernetes.io/arch is "arm64", want "amd64"`},
		"cut off":                {"the end is missing", "[\n\n{\"name\":", "c.json:3: "},
		"trailing":               {"two arrays", "[]\n[]", "c.json:2: read catalog: more text"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Read("c.json", []byte(tc.in))
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("%s: %v", tc.reason, err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%s: got %v, want %s", tc.reason, err, tc.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`[{"name":"a","arch":"amd64","capacity":{"cpu":4,"memory":"16Gi","pods":"58"},"offerings":[{"zone":"z","capacityType":"spot","price":0.1,"available":false}]}]`))
	f.Add([]byte("[\n]"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := Read("f", raw)
		if err != nil {
			return
		}
		var buf bytes.Buffer
		if err := Write(&buf, &c); err != nil {
			t.Fatal(err)
		}
		again, err := Read("f", buf.Bytes())
		if err != nil {
			t.Fatalf("what Write wrote does not read: %v\n%s", err, &buf)
		}
		if again.Generation != c.Generation {
			t.Errorf("changed by a round trip: %s", cmp.Diff(c, again))
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"types", "us-east-2"} {
		raw, err := data.ReadFile("data/" + name + suffix)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		types, _ := decodeTypes(raw)
		sales, _ := decodeSales(raw)
		c := Lower(types, sales, Options{})
		for i := range c.Types {
			for name, n := range c.Types[i].Allocatable {
				if n < 0 || n > c.Types[i].Capacity[name] {
					t.Errorf("%s: allocatable %s %d of %d", c.Types[i].Name, name, n, c.Types[i].Capacity[name])
				}
			}
		}
	})
}

func BenchmarkLoadAndLower(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		types, sales, err := Load("us-west-2")
		if err != nil {
			b.Fatal(err)
		}
		c := Lower(types, sales, Options{})
		if len(c.Types) < 800 {
			b.Fatal(len(c.Types), model.OnDemand)
		}
	}
}
