package replay

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spokeshave.dev/controller/record/journal"
)

// FuzzRead: whatever is in a file, it is read as records of this version that have a decision
// and are the same after they are written again, or the error names the file and the record.
func FuzzRead(f *testing.F) {
	const one = `{"version":1,"id":"a","time":"2026-03-11T09:00:00Z","decision":{"id":"a"},"asked":{"missing":["b"],"search":true},"inputs":{"namespace":"spokeshave","snapshot":"H4sI","policies":[{"namespace":"n","name":"p","files":{"p.rego":"eA=="}}]}}`
	f.Add([]byte(one))
	f.Add([]byte(one + "\n" + one + "\n{"))
	f.Add([]byte(`{"version":1,"id":"a","decision":null}`))
	f.Add([]byte(`{"kind":"Pod"}`))
	f.Add([]byte(`{"version":2,"id":"a","decision":{}}`))
	f.Add([]byte(``))
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write([]byte(one)); err != nil {
		f.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(packed.Bytes())
	f.Add(packed.Bytes()[:packed.Len()-5])
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "the-file")
		records := read(t, path, text)
		if len(records) == 0 {
			return
		}
		written := write(t, records)
		again := read(t, path, written)
		if twice := write(t, again); !bytes.Equal(written, twice) {
			t.Errorf("%s became %s", written, twice)
		}
	})
}

// read reads a text as a file, and fails if what is read is no record or the error does not say
// where it is.
func read(t *testing.T, path string, text []byte) []journal.Record {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	records, err := Read(path)
	if err != nil {
		if records != nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%d records, and %v", len(records), err)
		}
		return nil
	}
	for i := range records {
		if r := &records[i]; r.Version != journal.Version || r.ID == "" || !json.Valid(r.Decision) {
			t.Errorf("record %d: %+v", i+1, r)
		}
	}
	if len(records) == 0 {
		t.Error("no record, and no error")
	}
	return records
}

// write returns the records as they are in a file.
func write(t *testing.T, records []journal.Record) []byte {
	t.Helper()
	var out bytes.Buffer
	for i := range records {
		if err := json.NewEncoder(&out).Encode(&records[i]); err != nil {
			t.Skip("JSON has times that are read and not written, such as one with the zone +24:00: ", err)
		}
	}
	return out.Bytes()
}
