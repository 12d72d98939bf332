package rego

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"spokeshave.dev/controller/core/policy"
)

// Limits on the files of a policy.
const (
	maxSource = 256 << 10
	maxConfig = 256 << 10

	dataFile   = "data.json"
	configKey  = "config"
	rootKey    = "spokeshave"
	testSuffix = "_test.rego"
)

// source holds a policy's parsed files.
type source struct {
	modules map[string]*ast.Module
	tests   map[string]*ast.Module
	data    map[string]any
}

// parse parses all files and reports every syntax error.
func parse(src *policy.Source) (*source, error) {
	size := 0
	for _, text := range src.Files {
		size += len(text)
	}
	if size > maxSource {
		return nil, fmt.Errorf("%d bytes of source, at most %d are allowed", size, maxSource)
	}
	if len(src.Config) > maxConfig {
		return nil, fmt.Errorf("config of %d bytes, at most %d are allowed", len(src.Config), maxConfig)
	}
	out := &source{modules: map[string]*ast.Module{}, tests: map[string]*ast.Module{}, data: map[string]any{}}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(src.Files)) {
		errs = append(errs, out.add(name, src.Files[name]))
	}
	if len(src.Config) > 0 {
		var config any
		if err := json.Unmarshal(src.Config, &config); err != nil {
			errs = append(errs, fmt.Errorf("config: %w", err))
		}
		out.data[configKey] = config
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(out.modules) == 0 {
		return nil, errors.New("no *.rego file: a Rego policy needs at least one that is not a test")
	}
	return out, nil
}

func (s *source) add(name, text string) error {
	if name == dataFile {
		if err := json.Unmarshal([]byte(text), &s.data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, key := range []string{configKey, rootKey} {
			if _, taken := s.data[key]; taken {
				return fmt.Errorf("%s: the key %q is not free: data.%s is the controller's to fill", name, key, key)
			}
		}
		return nil
	}
	if !strings.HasSuffix(name, ".rego") {
		return fmt.Errorf("%s: neither *.rego nor %s", name, dataFile)
	}
	module, err := ast.ParseModuleWithOpts(name, text, ast.ParserOptions{
		ProcessAnnotation: true, RegoVersion: ast.RegoV1, Capabilities: capabilities(testBuiltins()...),
	})
	if err != nil {
		return readable(err)
	}
	if path := module.Package.Path; len(path) > 1 && path[1].Equal(ast.StringTerm(configKey)) {
		return fmt.Errorf("%s: package %s is not free: data.config is the policy's configuration", module.Package.Location, module.Package.Path)
	}
	if strings.HasSuffix(name, testSuffix) {
		s.tests[name] = module
	} else {
		s.modules[name] = module
	}
	return nil
}

// readable formats the compiler's list of errors as lines of file:line:column: text.
func readable(err error) error {
	var list ast.Errors
	if !errors.As(err, &list) {
		return err
	}
	lines := make([]error, 0, len(list))
	for _, e := range list {
		text := e.Message
		if e.Code == ast.TypeErr && strings.HasPrefix(text, "undefined ref: input") {
			text = explainField(e)
		}
		if e.Location == nil {
			lines = append(lines, errors.New(text))
			continue
		}
		lines = append(lines, fmt.Errorf("%s:%d:%d: %s", e.Location.File, e.Location.Row, e.Location.Col, text))
	}
	return errors.Join(lines...)
}

// explainField adds the existing fields to the error about an unknown one.
func explainField(e *ast.Error) string {
	text := e.Message
	detail, ok := e.Details.(*ast.RefErrUnsupportedDetail)
	if ok {
		return text + " (" + strings.Join(detail.Lines(), " ") + ")"
	}
	var lines []string
	if e.Details != nil {
		for _, line := range e.Details.Lines() {
			if line = strings.TrimSpace(line); line != "" && strings.Trim(line, "^") != "" {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) == 0 {
		return text
	}
	return text + " (" + strings.Join(lines, " ") + ")"
}
