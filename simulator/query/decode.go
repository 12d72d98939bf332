package query

import (
	"reflect"
	"strconv"
	"time"

	"spokeshave.dev/simulator/awserr"
)

// Decode fills a request struct from the parameter tree. A field takes the
// parameter of its own name, or of its `query` tag. A parameter without a field
// is refused, as EC2 refuses those it does not know.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html (UnknownParameter)
func Decode(f *Form, into any) error {
	return decodeStruct(f, reflect.ValueOf(into).Elem(), "")
}

func decodeStruct(f *Form, v reflect.Value, path string) error {
	known := make(map[string]bool, v.NumField())
	for _, field := range reflect.VisibleFields(v.Type()) {
		if field.Anonymous {
			continue // its members are listed themselves
		}
		name := field.Tag.Get("query")
		if name == "" {
			name = field.Name
		}
		known[name] = true
		kid := f.kids[name]
		if kid == nil {
			continue
		}
		if err := decodeValue(kid, v.FieldByIndex(field.Index), join(path, name)); err != nil {
			return err
		}
	}
	for name := range f.kids {
		if !known[name] {
			return awserr.New("UnknownParameter", "The parameter %s is not recognized", join(path, name))
		}
	}
	return nil
}

func decodeValue(f *Form, v reflect.Value, path string) error {
	if v.Type() == reflect.TypeFor[time.Time]() {
		t, err := time.Parse(time.RFC3339, f.value)
		if err != nil {
			return BadValue(path, f.value, "a time like 2006-01-02T15:04:05Z")
		}
		v.Set(reflect.ValueOf(t))
		return nil
	}
	switch v.Kind() { //nolint:exhaustive // all other kinds are scalars
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(f, v.Elem(), path)
	case reflect.Struct:
		if f.leaf {
			return awserr.New(awserr.InvalidQuery, "the parameter %s is a structure; name its members", path)
		}
		return decodeStruct(f, v, path)
	case reflect.Slice:
		return decodeList(f, v, path)
	default:
		if len(f.kids) > 0 {
			return awserr.New(awserr.InvalidQuery, "the parameter %s is a value; it has no members", path)
		}
		return decodeScalar(f.value, v, path)
	}
}

func decodeList(f *Form, v reflect.Value, path string) error {
	items, err := f.items(path)
	if err != nil {
		return err
	}
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, item := range items {
		if err := decodeValue(item, v.Index(i), join(path, strconv.Itoa(i+1))); err != nil {
			return err
		}
	}
	return nil
}

func decodeScalar(text string, v reflect.Value, path string) error {
	switch v.Kind() { //nolint:exhaustive // the default refuses all other kinds
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return BadValue(path, text, "true or false")
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return BadValue(path, text, "an integer")
		}
		v.SetInt(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return BadValue(path, text, "a number")
		}
		v.SetFloat(x)
	default:
		return awserr.New("InternalError", "the simulator cannot decode %s into %s", path, v.Type())
	}
	return nil
}

// BadValue refuses a parameter's text and says what is expected.
func BadValue(path, text, want string) error {
	return awserr.New(awserr.InvalidValue, "Value (%s) for parameter %s is invalid. Expected %s", text, path, want)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
