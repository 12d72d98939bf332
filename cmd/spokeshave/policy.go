package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"spokeshave.dev/controller/rehearse/source"
)

// Exit codes of the policy commands.
const (
	exitRefused = 1 // the policy, or one of its cases, is wrong
	exitUnread  = 2 // the command cannot run: flags, files or the cluster are at fault
)

const policyHelp = `Policy helps those who write policies: it checks, tests, measures and compares
them with the controller's own engines, and sends them to a cluster.

PATH is a policy's folder (policy.yaml beside *.rego, data.json, module.wasm,
module.wasm.gz or a Go program, which is built), a folder of such folders, or
manifests with ConfigMaps.

Exit codes: 0 all is well, 1 a policy is wrong (rejected, a Go program that does
not compile, a case fails, a difference was found), 2 bad flags, files that cannot be read, a cluster that
does not answer.`

func policyCommand(ctx context.Context) *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "Write, check, test, compare and push policies",
		Long:  policyHelp,
	}
	group(c, newCommand(), vetCommand(ctx), testCommand(ctx), benchCommand(ctx), diffCommand(ctx), packCommand(ctx), pushCommand(ctx), listCommand(ctx))
	return c
}

func now() time.Time { return clock.RealClock{}.Now() }

// badPolicy, unread and unopened add the exit codes to errors of the policy commands.
func badPolicy(err error) error { return &exitError{exitRefused, err} }

func unread(command string, err error) error {
	return &exitError{exitUnread, fmt.Errorf("policy %s: %w", command, err)}
}

// unopened is unread, unless the policy's program does not compile: then the policy is wrong.
func unopened(command string, err error) error {
	if broken := (*source.BuildError)(nil); errors.As(err, &broken) {
		return badPolicy(fmt.Errorf("policy %s: %w", command, err))
	}
	return unread(command, err)
}

// outputFlag adds the flag -o with the allowed values, of which the first is the
// default.
func outputFlag(c *cobra.Command, into *string, values ...string) {
	c.Flags().StringVarP(into, "output", "o", values[0], strings.Join(values, " or "))
	completeFlag(c, "output", values...)
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if slices.Contains(values, *into) {
			return nil
		}
		return &exitError{exitUnread, fmt.Errorf("%s: -o %s: want %s", strings.TrimPrefix(c.CommandPath(), "spokeshave "), *into, strings.Join(values, " or "))}
	}
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return &exitError{exitUnread, fmt.Errorf("write the answer: %w", err)}
	}
	return nil
}

// say writes a line for users. Write errors are ignored.
func say(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format+"\n", args...)
}
