package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestEncodeIsJSON: written in parts, a snapshot is what encoding/json makes of
// the whole, so that digests and files stay what they are.
func TestEncodeIsJSON(t *testing.T) {
	cases := map[string]struct {
		why string
		s   Snapshot
	}{
		"Zero":  {"nil lists are null, omitted ones absent", Snapshot{}},
		"Empty": {"empty lists are not null", Snapshot{Pools: []Pool{}, Pods: []Pod{}, Spent: []Spent{}, Budgets: []PodBudget{}, Catalogs: []Catalog{{}, {Types: []InstanceType{}, Away: []string{}}}}},
		"Text":  {"text is escaped in the same way", Snapshot{Cluster: "<&> \u2028 \xff \"", Time: time.Unix(0, 1), Nodes: []Node{{Name: "<b>"}, {}}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { sameJSON(t, &tc.s) })
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var s Snapshot
		fill(reflect.ValueOf(&s).Elem(), random, 0)
		sameJSON(t, &s)
	}
}

func sameJSON(t *testing.T, s *Snapshot) {
	t.Helper()
	var want, got bytes.Buffer
	if err := json.NewEncoder(&want).Encode(s); err != nil {
		t.Fatal(err)
	}
	if err := s.Encode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), got.String()); diff != "" {
		t.Fatalf("Encode differs from encoding/json (-want +got):\n%s", diff)
	}
}

// fill sets about half of all fields, two elements to a list.
func fill(v reflect.Value, random *rand.Rand, depth int) {
	if depth > 12 || depth > 0 && random.IntN(2) == 0 {
		return
	}
	switch v.Kind() { //nolint:exhaustive // the rest panics
	case reflect.Struct:
		if at, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
			*at = time.Unix(random.Int64N(1<<32), 0).UTC()
			return
		}
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(field, random, depth+1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), random.IntN(3), 3))
		for i := range v.Len() {
			fill(v.Index(i), random, depth+1)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), random, depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range random.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, random, depth+1)
			fill(value, random, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString([]string{"a", "<&>", "\u2028\xff", ""}[random.IntN(4)])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(random.Int64N(100) - 50)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(random.Uint64N(100))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(random.Float64())
	default:
		panic("a kind of field that this test does not fill: " + v.Kind().String())
	}
}

// TestEncodeInParts: no more than a few kB are made before they are written.
func TestEncodeInParts(t *testing.T) {
	s := Snapshot{Pods: make([]Pod, 1000), Catalogs: []Catalog{{Types: make([]InstanceType, 1000)}}}
	var w longest
	if err := s.Encode(&w); err != nil {
		t.Fatal(err)
	}
	if w > 8<<10 {
		t.Errorf("%d bytes were made before they were written", w)
	}
}

// longest is the length of the longest write.
type longest int

func (l *longest) Write(p []byte) (int, error) {
	*l = max(*l, longest(len(p)))
	return len(p), nil
}

func TestEncodeSaysWhatFailed(t *testing.T) {
	if err := (&Snapshot{}).Encode(full{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
