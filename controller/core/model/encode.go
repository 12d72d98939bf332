package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Encode writes the snapshot as JSON with a final newline, byte for byte as
// json.Encoder does. It encodes one pod, node or instance type at a time.
// json.Encoder would hold the whole text in memory, about 20 MB for 10,000 pods.
func (s *Snapshot) Encode(w io.Writer) error {
	e := encoder{to: bufio.NewWriter(w)}
	e.leaf = json.NewEncoder(&e.buffer)
	if err := e.value(reflect.ValueOf(s).Elem()); err != nil {
		return fmt.Errorf("encode snapshot: %w", err)
	}
	_ = e.to.WriteByte('\n') // errors of the writes are sticky: Flush returns the first
	if err := e.to.Flush(); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return nil
}

// encoder writes large structs and slices in parts and uses encoding/json for the
// rest.
type encoder struct {
	to     *bufio.Writer
	buffer bytes.Buffer
	leaf   *json.Encoder
}

// large reports whether a type is a struct that is written field by field. Such
// structs must have plain fields: no embedded fields, and no json tags "-" or
// ",string".
func large(t reflect.Type) bool {
	return t == reflect.TypeFor[Snapshot]() || t == reflect.TypeFor[Catalog]()
}

func (e *encoder) value(v reflect.Value) error {
	switch {
	case large(v.Type()):
		return e.fields(v)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct && !v.IsNil():
		return e.elements(v)
	}
	e.buffer.Reset()
	if err := e.leaf.Encode(v.Addr().Interface()); err != nil {
		return err
	}
	_, _ = e.to.Write(bytes.TrimSuffix(e.buffer.Bytes(), []byte{'\n'}))
	return nil
}

func (e *encoder) elements(v reflect.Value) error {
	_ = e.to.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			_ = e.to.WriteByte(',')
		}
		if err := e.value(v.Index(i)); err != nil {
			return fmt.Errorf("%d: %w", i, err)
		}
	}
	return e.to.WriteByte(']')
}

func (e *encoder) fields(v reflect.Value) error {
	_ = e.to.WriteByte('{')
	first := true
	for field, value := range v.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if omitted(value, options) {
			continue
		}
		if !first {
			_ = e.to.WriteByte(',')
		}
		first = false
		_, _ = fmt.Fprintf(e.to, "%q:", name)
		if err := e.value(value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return e.to.WriteByte('}')
}

// omitted reports whether a field is left out: omitempty for slices and scalars,
// omitzero for structs.
func omitted(v reflect.Value, options string) bool {
	switch options {
	case "omitempty":
		return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
	case "omitzero":
		return v.IsZero()
	}
	return false
}
