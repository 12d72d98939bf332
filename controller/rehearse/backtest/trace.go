package backtest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	strictjson "sigs.k8s.io/json"

	"spokeshave.dev/api/quantity"
)

// row is a line of a trace: pods that arrive together.
//
// Size: one field for each column of a trace.
type row struct {
	Arrival      string            `json:"arrival"`
	Lifetime     string            `json:"lifetime,omitempty"`
	Count        int               `json:"count,omitempty"`
	Namespace    string            `json:"namespace,omitempty"`
	Workload     string            `json:"workload,omitempty"`
	CPU          string            `json:"cpu,omitempty"`
	Memory       string            `json:"memory,omitempty"`
	GPU          string            `json:"gpu,omitempty"`
	Priority     *int32            `json:"priority,omitempty"`
	Zone         string            `json:"zone,omitempty"`
	CapacityType string            `json:"capacityType,omitempty"`
	Arch         string            `json:"arch,omitempty"`
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"`
	Job          bool              `json:"job,omitempty"`
	DoNotDisrupt bool              `json:"doNotDisrupt,omitempty"`
	// Spec is the pod's whole spec, for what the other fields cannot express.
	Spec *corev1.PodSpec `json:"spec,omitempty"`
}

// moment is the arrival of a row: a time, or an offset from the start of the trace.
type moment struct {
	time   time.Time
	offset time.Duration
}

// entry is a row with its times parsed.
type entry struct {
	row

	line     int
	arrival  moment
	lifetime time.Duration
}

// maxPods is the largest number of pods in a trace.
const maxPods = 5_000_000

// columns returns the columns that a CSV trace may have.
func columns() []string {
	return []string{"arrival", "lifetime", "count", "namespace", "workload", "cpu", "memory", "gpu", "priority", "zone", "capacityType", "arch", "nodeSelector", "labels", "job", "doNotDisrupt"}
}

// parse reads a trace: CSV with a header line, or JSON lines.
func parse(file string, raw []byte) ([]entry, error) {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 {
		return nil, fmt.Errorf("%s: the trace is empty", file)
	}
	read := parseCSV
	if trimmed[0] == '{' {
		read = parseJSON
	}
	out, err := read(file, raw)
	if err != nil {
		return nil, err
	}
	total := 0
	for i := range out {
		if err := out[i].check(); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, out[i].line, err)
		}
		if total += out[i].Count; total > maxPods {
			return nil, fmt.Errorf("%s:%d: more than %d pods in all", file, out[i].line, maxPods)
		}
	}
	return out, nil
}

func parseJSON(file string, raw []byte) ([]entry, error) {
	var out []entry
	for i, line := range bytes.Split(raw, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e := entry{line: i + 1}
		unknown, err := strictjson.UnmarshalStrict(line, &e.row)
		if err := errors.Join(append(unknown, err)...); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
		out = append(out, e)
	}
	return out, nil
}

func parseCSV(file string, raw []byte) ([]entry, error) {
	r := csv.NewReader(bytes.NewReader(raw))
	r.Comment, r.TrimLeadingSpace, r.ReuseRecord = '#', true, true
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	names := append([]string(nil), head...)
	for _, name := range names {
		if err := (&row{}).set(name, ""); err != nil {
			return nil, fmt.Errorf("%s:1: %w", file, err)
		}
	}
	var out []entry
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		line, _ := r.FieldPos(0)
		e := entry{line: line}
		for i, value := range fields {
			if err := e.set(names[i], value); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, line, err)
			}
		}
		out = append(out, e)
	}
}

// set reads one column.
func (r *row) set(name, value string) (err error) {
	texts := map[string]*string{
		"arrival": &r.Arrival, "lifetime": &r.Lifetime, "namespace": &r.Namespace, "workload": &r.Workload, "cpu": &r.CPU,
		"memory": &r.Memory, "gpu": &r.GPU, "zone": &r.Zone, "capacityType": &r.CapacityType, "arch": &r.Arch,
	}
	if into, ok := texts[name]; ok {
		*into = strings.Clone(value)
		return nil
	}
	switch name {
	case "nodeSelector":
		r.NodeSelector, err = pairs(value)
	case "labels":
		r.Labels, err = pairs(value)
	case "job", "doNotDisrupt":
		yes := false
		if value != "" {
			yes, err = strconv.ParseBool(value)
		}
		r.Job, r.DoNotDisrupt = r.Job || yes && name == "job", r.DoNotDisrupt || yes && name == "doNotDisrupt"
	case "count", "priority":
		n := int64(0)
		if value == "" {
			return nil
		}
		if n, err = strconv.ParseInt(value, 10, 32); err == nil && name == "count" {
			r.Count = int(n)
		} else if err == nil {
			p := int32(n)
			r.Priority = &p
		}
	default:
		return fmt.Errorf("no column %q: a trace has %s", name, strings.Join(columns(), ", "))
	}
	if err != nil {
		return fmt.Errorf("%s %q: %w", name, value, err)
	}
	return nil
}

// pairs reads "a=b;c=d".
func pairs(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	out := map[string]string{}
	for each := range strings.SplitSeq(text, ";") {
		key, value, ok := strings.Cut(each, "=")
		if !ok || key == "" {
			return nil, errors.New("want key=value, and ; between several")
		}
		out[strings.Clone(key)] = strings.Clone(value)
	}
	return out, nil
}

// check parses the times and fills in defaults.
func (e *entry) check() error {
	if e.Arrival == "" {
		return errors.New("arrival must be set")
	}
	if t, err := time.Parse(time.RFC3339, e.Arrival); err == nil {
		e.arrival.time = t.UTC()
	} else if e.arrival.offset, err = span(e.Arrival); err != nil {
		return fmt.Errorf("arrival %q: want a time as 2026-01-31T12:00:00Z, or since the beginning, as 90m or in seconds", e.Arrival)
	}
	var err error
	if e.lifetime, err = span(e.Lifetime); err != nil {
		return fmt.Errorf("lifetime %q: want a duration, as 45m or in seconds; empty for ever", e.Lifetime)
	}
	if e.Count < 0 {
		return fmt.Errorf("count %d: must not be negative", e.Count)
	}
	e.Count = max(1, e.Count)
	for name, amount := range map[string]string{"cpu": e.CPU, "memory": e.Memory, "gpu": e.GPU} {
		if amount == "" {
			continue
		}
		if q, err := quantity.Parse(amount); err != nil || q.Sign() < 0 {
			return fmt.Errorf("%s: %q is not a quantity such as 500m or 2Gi", name, amount)
		}
	}
	return nil
}

// span parses a duration, or a number of seconds; "" is 0.
func span(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		seconds, numeric := strconv.ParseFloat(text, 64)
		if numeric != nil || !(seconds >= 0 && seconds < 1e9) {
			return 0, err
		}
		d = time.Duration(seconds * float64(time.Second))
	}
	if d < 0 {
		return 0, errors.New("negative")
	}
	return d, nil
}

// key returns a text that is equal for rows whose pods have equal specs.
func (e *entry) key() (string, error) {
	r := e.row
	r.Arrival, r.Lifetime, r.Count, r.Job, r.DoNotDisrupt = "", "", 0, false, false
	raw, err := json.Marshal(&r)
	if err != nil {
		return "", fmt.Errorf("line %d: %w", e.line, err)
	}
	return string(raw), nil
}
