package supply

import (
	"slices"
	"testing"

	"spokeshave.dev/controller/core/solver/vec"
)

// TestMemo: a set that was seen is changed as before without a call, whatever the caller did with
// the earlier result, and also after more sets than are kept.
func TestMemo(t *testing.T) {
	var m memo
	calls := 0
	even := func(size int, has ...int32) []int32 {
		set := vec.NewBits(size)
		for _, o := range has {
			set.Set(o)
		}
		m.change(set, func() {
			calls++
			for o := set.Next(0); o >= 0; o = set.Next(o + 1) {
				if o%2 == 1 {
					set.Unset(o)
				}
			}
		})
		var out []int32
		for o := set.Next(0); o >= 0; o = set.Next(o + 1) {
			out = append(out, o)
		}
		clear(set)
		return out
	}
	for range 2 {
		if got := even(100, 1, 2, 70, 71); !slices.Equal(got, []int32{2, 70}) {
			t.Errorf("%v remain, want 2 and 70", got)
		}
	}
	if calls != 1 {
		t.Errorf("%d calls for one set", calls)
	}
	for o := range int32(maxRemembered + 1) {
		even(2*maxRemembered, o, o+1)
	}
	if got := even(100, 1, 2, 70, 71); !slices.Equal(got, []int32{2, 70}) || len(m.made) > maxRemembered {
		t.Errorf("%v remain, want 2 and 70; %d sets are kept", got, len(m.made))
	}
}
