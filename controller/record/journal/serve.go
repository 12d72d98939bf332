package journal

import (
	"encoding/json"
	"net/http"
)

// ServeHTTP answers with the journal as JSON, oldest first. It encodes and sends one
// decision after the other from a copy of the list: a reader costs the memory of one
// decision, and however slowly it reads, decisions go on being recorded.
func (j *Journal) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	separator := byte('[')
	entries := j.Entries()
	for i := range entries {
		if _, err := w.Write(append([]byte{separator}, encoded(&entries[i])...)); err != nil {
			return // the client has gone
		}
		separator = ','
	}
	end := []byte("]")
	if len(entries) == 0 {
		end = []byte("[]")
	}
	_, _ = w.Write(end) // or the client has gone
}

// encoded returns an entry as JSON. In place of one that JSON cannot express, it returns
// an entry that says so.
func encoded(e *Entry) []byte {
	text, err := json.Marshal(e)
	if err == nil {
		return text
	}
	text, err = json.Marshal(Entry{Version: e.Version, ID: e.ID, Time: e.Time, Warnings: []string{"encode decision: " + err.Error()}})
	if err != nil {
		return []byte("null")
	}
	return text
}
