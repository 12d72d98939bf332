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

// Encode writes the snapshot as JSON, ended by a newline: byte for byte what
// json.Encoder writes, which makes the whole in memory first, some 20 MB for
// 10,000 pods. Here it is one pod, node or instance type at a time.
func (s *Snapshot) Encode(w io.Writer) error {
	e := encoder{to: bufio.NewWriter(w)}
	e.leaf = json.NewEncoder(&e.buffer)
	if err := e.value(reflect.ValueOf(s).Elem()); err != nil {
		return fmt.Errorf("encode snapshot: %w", err)
	}
	_ = e.to.WriteByte('\n') // like all else below, Flush says what failed
	if err := e.to.Flush(); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return nil
}

// encoder writes what is large in parts, and leaves to encoding/json what is
// small.
type encoder struct {
	to     *bufio.Writer
	buffer bytes.Buffer
	leaf   *json.Encoder
}

// large says of a type that it is a struct written field by field. These have
// plain fields: nothing embedded, renamed to nothing or quoted.
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

// omitted says whether a field is left out: omitempty of slices and scalars,
// omitzero of structs.
func omitted(v reflect.Value, options string) bool {
	switch options {
	case "omitempty":
		return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
	case "omitzero":
		return v.IsZero()
	}
	return false
}
