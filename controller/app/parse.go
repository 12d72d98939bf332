package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"

	"spokeshave.dev/controller/app/setting"
)

// Parse reads the command line, and for flags that were not given the environment
// ("NAME=value"), into the options that are bound to fs. As in Karpenter, a flag may begin
// with one dash. The error for an unknown flag names the nearest one. Findings say which
// settings have no effect.
func (o *Options) Parse(fs *pflag.FlagSet, args, environment []string) error {
	var known []string
	fs.VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if err := fs.Parse(twoDashes(args)); err != nil {
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
			return setting.UnknownFlag(unknown.GetSpecifiedName(), known)
		}
		return err
	}
	in := &setting.Input{Flags: map[string]string{}, Environment: map[string]string{}, Known: known}
	for _, each := range environment {
		name, value, _ := strings.Cut(each, "=")
		in.Environment[name] = value
	}
	fs.Visit(func(f *pflag.Flag) { in.Flags[f.Name] = f.Value.String() })
	o.Findings = setting.Review(in)
	return fromEnvironment(fs, in.Environment)
}

// twoDashes returns arguments whose flags all begin with two dashes.
func twoDashes(args []string) []string {
	out := make([]string, 0, len(args))
	for i, arg := range args {
		if arg == "--" {
			return append(out, args[i:]...)
		}
		if name, one := strings.CutPrefix(arg, "-"); one && len(name) > 1 && name[0] != '-' {
			arg = "--" + name
		}
		out = append(out, arg)
	}
	return out
}

// fromEnvironment sets every flag that was not given from its environment variable.
func fromEnvironment(fs *pflag.FlagSet, environment map[string]string) error {
	var errs []error
	fs.VisitAll(func(f *pflag.Flag) {
		name := setting.FlagVariable(f.Name)
		value := environment[name]
		if f.Changed || value == "" {
			return
		}
		if err := f.Value.Set(value); err != nil {
			errs = append(errs, fmt.Errorf("environment variable %s: %w", name, err))
		}
	})
	return errors.Join(errs...)
}

// logFindings writes a line for each setting that has no effect.
func (o *Options) logFindings(log logr.Logger) {
	for _, f := range o.Findings {
		log.Info("setting without effect", "kind", f.Kind, "source", f.Source, "name", f.Name, "value", f.Value, "message", f.Message, "nearest", f.Nearest)
	}
}
