package wire

import (
	"bytes"
	"reflect"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// TestEveryFieldIsTold: every field of a question changes the bytes that the guest gets.
// A field that no encoder reads would be told to Rego policies only.
func TestEveryFieldIsTold(t *testing.T) {
	rank := func(pool policy.PoolFacts, row policy.RankRow) ([]byte, error) {
		return new(Encoder).rankBatch(&policy.RankInput{Call: call(), Pool: pool, Rows: []policy.RankRow{row}})
	}
	ceiling := func(scope policy.ScopeSpend, launch policy.Launch) ([]byte, error) {
		return new(Encoder).ceilingBatch(&policy.CeilingInput{Call: call(), Scopes: []policy.ScopeSpend{scope}, Launches: []policy.Launch{launch}})
	}
	everyField(t, func(p policy.PoolFacts) ([]byte, error) { return rank(p, policy.RankRow{}) })
	everyField(t, func(r policy.RankRow) ([]byte, error) { return rank(policy.PoolFacts{}, r) })
	everyField(t, func(c policy.Candidate) ([]byte, error) {
		return new(Encoder).consolidateBatch(&policy.ConsolidateInput{Call: call(), Candidates: []policy.Candidate{c}})
	})
	everyField(t, func(s policy.ScopeSpend) ([]byte, error) { return ceiling(s, policy.Launch{}) })
	everyField(t, func(l policy.Launch) ([]byte, error) { return ceiling(policy.ScopeSpend{}, l) })
}

// everyField encodes a zero row and then one row for each field of T, with that field set.
func everyField[T any](t *testing.T, encode func(T) ([]byte, error)) {
	t.Helper()
	var zero T
	plain, err := encode(zero)
	if err != nil {
		t.Fatal(err)
	}
	for field := range reflect.TypeFor[T]().Fields() {
		var row T
		value := reflect.ValueOf(&row).Elem().FieldByIndex(field.Index)
		switch to := value.Addr().Interface().(type) {
		case *string:
			*to = map[string]string{"Arch": "arm64", "Method": "Drifted", "Action": "replace", "CapacityType": string(model.Spot)}[field.Name]
			if *to == "" {
				*to = "text"
			}
		case *model.CapacityType:
			*to = model.Spot
		case *float64:
			*to = 7
		case *uint32:
			*to = 7
		case *int:
			*to = 7
		case *map[string]string:
			*to = map[string]string{"team": "ml"}
		case *[]string:
			*to = []string{"apps"}
		default:
			t.Fatalf("%T.%s: no value of type %s", row, field.Name, field.Type)
		}
		told, err := encode(row)
		if err != nil {
			t.Fatalf("%T.%s: %v", row, field.Name, err)
		}
		if bytes.Equal(told, plain) {
			t.Errorf("%T.%s is not told to WebAssembly policies", row, field.Name)
		}
	}
}
