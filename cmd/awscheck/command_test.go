package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"spokeshave.dev/controller/cloud/aws/accountcheck"
	"spokeshave.dev/test/kit/ec2"
)

func TestCommand(t *testing.T) {
	at := ec2.Start(t, []string{"t3."})
	for name, value := range map[string]string{
		"AWS_REGION": ec2.Region, "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	cases := map[string]struct {
		reason string
		args   []string
		fails  bool   // with errFailed
		err    string // part of another error
		rows   int    // lines of the table, or objects of the JSON
	}{
		"table":          {reason: "a heading and a row for each check", args: []string{"--cluster", ec2.Cluster}, rows: 21},
		"json":           {reason: "an object for each check", args: []string{"--cluster", ec2.Cluster, "-o", "json"}, rows: 20},
		"a check fails":  {reason: "scripts read the exit code", args: []string{"--cluster", "other", "-o", "json"}, fails: true, rows: 20},
		"list":           {reason: "a heading and a row for each check, without an account", args: []string{"--list"}, rows: 21},
		"no cluster":     {reason: "the message names the flag", err: "--cluster"},
		"unknown format": {reason: "the message names the formats", args: []string{"--cluster", ec2.Cluster, "-o", "yaml"}, err: "want table or json"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := command()
			var out bytes.Buffer
			c.SetOut(&out)
			c.SetErr(t.Output())
			c.SetArgs(append([]string{"--aws-endpoint", at.URL}, tc.args...))
			err := c.ExecuteContext(t.Context())
			switch {
			case tc.err != "":
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: got %v, want an error with %q", tc.reason, err, tc.err)
				}
			case errors.Is(err, errFailed) != tc.fails:
				t.Errorf("%s: got %v, want a failed check: %v", tc.reason, err, tc.fails)
			}
			rows := strings.Count(out.String(), "\n")
			var list []accountcheck.Result
			if json.Unmarshal(out.Bytes(), &list) == nil {
				rows = len(list)
			}
			if rows != tc.rows {
				t.Errorf("%s: %d rows, want %d:\n%s", tc.reason, rows, tc.rows, &out)
			}
		})
	}
}
