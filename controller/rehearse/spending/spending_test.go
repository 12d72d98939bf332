package spending

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

var march = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// ledger is one after two days and an hour of a node of 1 $/h, which is idle.
func ledger() spend.Ledger {
	s := &model.Snapshot{
		Time: march, Pools: []model.Pool{{Name: "general"}},
		Nodes: []model.Node{{Name: "a", Claim: "a", Pool: 0, InstanceType: "m5.large", CapacityType: model.Spot, Price: 1_000_000, LaunchedAt: march}},
	}
	l := spend.New(s)
	s.Time = march.Add(49 * time.Hour)
	return l.Advance(s)
}

func pack(t testing.TB, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// manifest is a ConfigMap as kubectl prints it.
func manifest(t testing.TB, name, key string, encode func() ([]byte, error)) string {
	t.Helper()
	text, err := encode()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  namespace: spokeshave\nbinaryData:\n  %s: %s\n", name, key, pack(t, text))
}

// TestFromFiles: days are found in the ledger and in the history, each once, in one file
// or several.
func TestFromFiles(t *testing.T) {
	l := ledger()
	h := spend.NewHistory(march)
	for _, p := range l.Days.Ended {
		h = h.With(&p)
	}
	filed := l
	filed.Days = l.Days.Recorded(func(*spend.Period) bool { return true })
	whole := manifest(t, spend.LedgerName, spend.LedgerKey, l.Encode)
	rest := manifest(t, spend.LedgerName, spend.LedgerKey, filed.Encode)
	days := manifest(t, spend.HistoryName(march), spend.HistoryKey, h.Encode)
	earlier := manifest(t, "spokeshave-ledger-previous", spend.LedgerKey, (&spend.Ledger{Version: spend.LedgerVersion, Month: march, Through: march}).Encode)
	for name, tc := range map[string]struct {
		reason string
		files  []string
	}{
		"ledger alone":      {"days wait in the ledger", []string{whole}},
		"both have the day": {"a write that was repeated counts once", []string{whole, days}},
		"filed":             {"the history has what the ledger no longer has", []string{rest, days}},
		"one file":          {"objects stand behind each other", []string{rest + "---\n" + earlier + "---\n" + days}},
		"earlier ledger":    {"the ledger counts, in whatever order", []string{earlier, whole, earlier}},
	} {
		t.Run(name, func(t *testing.T) {
			var paths []string
			for i, text := range tc.files {
				path := filepath.Join(t.TempDir(), fmt.Sprint(i))
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, path)
			}
			b, err := FromFiles(paths)
			if err != nil {
				t.Fatal(err)
			}
			r := Of(b, Range{From: march, To: march.AddDate(0, 1, 0)}, "day")
			want := []Sum{{"2026-03-01", 24_000_000, 24}, {"2026-03-02", 24_000_000, 24}, {"2026-03-03", 1_000_000, 1}}
			if diff := cmp.Diff(want, r.Sums); diff != "" || len(r.Gaps) > 0 {
				t.Errorf("%s: gaps %v, -want +got\n%s", tc.reason, r.Gaps, diff)
			}
			if r := Of(b, Range{From: march.AddDate(0, 0, 1), To: march.AddDate(0, 0, 2)}, "day"); r.Total.Micro != 24_000_000 {
				t.Errorf("%s: the second day has cost %d", tc.reason, r.Total.Micro)
			}
		})
	}
}

func TestUnpackIsBounded(t *testing.T) {
	packed, err := base64.StdEncoding.DecodeString(pack(t, make([]byte, maxUnpacked+1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unpack(packed); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a record of %d bytes: %v", maxUnpacked+1, err)
	}
}

func FuzzDecode(f *testing.F) {
	l := ledger()
	f.Add(manifest(f, spend.LedgerName, spend.LedgerKey, l.Encode))
	f.Add(`{"kind":"List","items":[{"kind":"ConfigMap","binaryData":{"days.json.gz":"AAAA"}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		maps, err := decode(strings.NewReader(text))
		if err != nil {
			return
		}
		b, err := read(maps)
		if err != nil {
			if b != nil || errors.Is(err, ErrNothing) && len(maps) > 0 && len(maps[0].BinaryData[spend.LedgerKey]) > 0 {
				t.Errorf("%v, and a book %+v", err, b)
			}
			return
		}
		for _, month := range b.months {
			for _, p := range b.Periods(Range{From: month.Month, To: month.Month.AddDate(0, 1, 0)}) {
				if total := p.Total(); !total.Valid() {
					t.Errorf("a total of %+v", total)
				}
			}
		}
	})
}
