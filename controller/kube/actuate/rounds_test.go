package actuate

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInRounds: all are written, answers come in order, and nothing more is written after a
// round in which the API server did not answer.
func TestInRounds(t *testing.T) {
	down, refused := errors.New("connection refused"), errors.New("forbidden")
	upTo := func(n int) []int {
		var out []int
		for i := range n {
			out = append(out, i)
		}
		return out
	}
	for name, tc := range map[string]struct {
		reason string
		n      int
		fails  map[int]error
		want   []int // answered
		err    error
	}{
		"none":           {"there is nothing to write", 0, nil, nil, nil},
		"one round":      {"all are written", 5, nil, upTo(5), nil},
		"several rounds": {"the last round is smaller", 2*writtenAtOnce + 1, nil, upTo(2*writtenAtOnce + 1), nil},
		"refused":        {"a refusal ends nothing", writtenAtOnce + 2, map[int]error{0: refused}, upTo(writtenAtOnce + 2), nil},
		"down":           {"the rest of the round was written at the same time; the next one is not", 3 * writtenAtOnce, map[int]error{writtenAtOnce + 3: down, writtenAtOnce + 5: errors.New("the same")}, upTo(2 * writtenAtOnce), down},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var written, answered []int
			var atOnce, most atomic.Int64
			err := inRounds(tc.n, func(i int) error {
				now := atOnce.Add(1)
				defer atOnce.Add(-1)
				mu.Lock()
				defer mu.Unlock()
				most.Store(max(most.Load(), now))
				written = append(written, i)
				return tc.fails[i]
			}, func(i int, err error) error {
				answered = append(answered, i)
				if errors.Is(err, refused) {
					return nil
				}
				return err
			})
			if !errors.Is(err, tc.err) {
				t.Errorf("%s: %v, want %v", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff(tc.want, answered); diff != "" {
				t.Errorf("%s: answers (-want +got):\n%s", tc.reason, diff)
			}
			slices.Sort(written)
			if diff := cmp.Diff(tc.want, written); diff != "" {
				t.Errorf("%s: written (-want +got):\n%s", tc.reason, diff)
			}
			if most.Load() > writtenAtOnce {
				t.Errorf("%d at the same time, at most %d", most.Load(), writtenAtOnce)
			}
		})
	}
}
