package focus

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// microDigits is how many decimal digits a micro-dollar has.
const microDigits = 6

// Columns returns the names of the columns, in order.
func Columns() []string {
	var out []string
	for f := range reflect.TypeFor[Row]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		out = append(out, name)
	}
	return out
}

// WriteCSV writes the rows as CSV with a header. Null is an empty field, times are UTC in
// ISO 8601, and amounts have at most six decimals.
func WriteCSV(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	if err := out.Write(Columns()); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	for i := range rows {
		v := reflect.ValueOf(&rows[i]).Elem()
		record := make([]string, v.NumField())
		for k := range record {
			record[k] = field(v.Field(k).Interface())
		}
		if err := out.Write(record); err != nil {
			return fmt.Errorf("write CSV: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

func field(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case *string:
		if v != nil {
			return *v
		}
	case int64:
		return decimal(v, microDigits)
	case *int64:
		if v != nil {
			return decimal(*v, microDigits)
		}
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05Z")
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// WriteJSON writes the rows as a JSON array. Amounts are numbers with at most six decimals.
func WriteJSON(w io.Writer, rows []Row) error {
	names, all := Columns(), make([]map[string]any, 0, len(rows))
	for i := range rows {
		v, row := reflect.ValueOf(&rows[i]).Elem(), map[string]any{}
		for k, name := range names {
			switch value := v.Field(k).Interface().(type) {
			case *string, bool:
				row[name] = value
			case int64, *int64:
				row[name] = json.RawMessage(cmp.Or(field(value), "null"))
			default:
				row[name] = field(value)
			}
		}
		all = append(all, row)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(all); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// WriteParquet writes the rows as Parquet: amounts as decimals with six digits, times in
// UTC, tags as the text of JSON objects.
func WriteParquet(w io.Writer, rows []Row) error {
	out := parquet.NewGenericWriter[Row](w, parquet.Compression(&zstd.Codec{}), parquet.CreatedBy("spokeshave", "", ""), parquet.KeyValueMetadata("FocusVersion", Version))
	if _, err := out.Write(rows); err != nil {
		return fmt.Errorf("write Parquet: %w", err)
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("write Parquet: %w", err)
	}
	return nil
}
