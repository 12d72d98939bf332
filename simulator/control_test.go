package simulator_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go"

	"spokeshave.dev/simulator"
	"spokeshave.dev/test/kit/eventually"
)

// post gives an order over HTTP and reads the answer.
func (w *testEndpoint) post(t *testing.T, path, body string) (int, map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if bytes.HasPrefix(text, []byte("{")) {
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
	}
	return answer.StatusCode, out
}

func TestFaults(t *testing.T) {
	w := newEndpoint(t)
	describe := func() error {
		_, err := w.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
		return err
	}
	status, _ := w.post(t, "/_sim/faults", `{"action":"DescribeInstances","code":"RequestLimitExceeded","count":2}`)
	if status != http.StatusOK {
		t.Fatalf("ordering a fault: %d", status)
	}
	for _, code := range []string{"RequestLimitExceeded", "RequestLimitExceeded", ""} {
		wantCode(t, describe(), code)
	}
	// Another protocol, a status of its own, another action untouched.
	order(t, w, simulator.Fault{Action: "GetParameter", HTTPStatus: 500, Code: "InternalServerError"})
	wantCode(t, describe(), "")
	_, err := ssm.NewFromConfig(w.cfg).GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String("/x")})
	wantCode(t, err, "InternalServerError")
	order(t, w, simulator.Fault{Cut: true, Forever: true})
	if describe() == nil {
		t.Error("a cut connection answered")
	}
	w.server.ClearFaults()
	wantCode(t, describe(), "")
	if got := w.server.State().Requests["DescribeInstances"]["RequestLimitExceeded"]; got != 2 {
		t.Errorf("%d refused requests were counted, want 2", got)
	}
	last := w.server.Requests()
	if r := last[len(last)-1]; r.Action != "DescribeInstances" || r.Service != "ec2" {
		t.Errorf("the last request is %+v", r)
	}
	for body, reason := range map[string]string{
		`{}`:                                    "it does nothing",
		`{"offering":{}}`:                       "no code",
		`{"code":"X","colour":"blue"}`:          "no such field",
		`{"latency":"soon"}`:                    "not a duration",
		`{"code":"X","httpStatus":200}`:         "not an error",
		`{"code":"X","latency":-5}`:             "negative",
		`{"code":"X"`:                           "not JSON",
		`{"offering":{},"code":"X","cut":true}`: "an offering's fault is inside the answer",
	} {
		if status, out := w.post(t, "/_sim/faults", body); status != http.StatusBadRequest || out["error"] == "" {
			t.Errorf("%s was accepted (%d, %v): %s", body, status, out, reason)
		}
	}
}

// A fault that skips calls lets so many go well, then strikes as often as it is
// ordered to, and is spent. What another fault spoils has not gone well.
func TestFaultsThatSkip(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		faults []string
		// want are the codes of one DescribeInstances after another.
		want []string
	}{
		"once":             {"two go well, the third does not", []string{`{"action":"DescribeInstances","code":"A","skip":2}`}, []string{"", "", "A", "", ""}},
		"often":            {"it skips once, not before each", []string{`{"action":"DescribeInstances","code":"A","skip":1,"count":2}`}, []string{"", "A", "A", ""}},
		"forever":          {"it has no end", []string{`{"action":"DescribeInstances","code":"A","skip":1,"forever":true}`}, []string{"", "A", "A", "A"}},
		"any action":       {"calls of every action count", []string{`{"code":"A","skip":3}`}, []string{"", "", "", "A", ""}},
		"other actions":    {"only its own calls count", []string{`{"action":"DescribeSubnets","code":"A"}`, `{"action":"DescribeInstances","code":"B","skip":1}`}, []string{"", "B", ""}},
		"two that skip":    {"each has its own count", []string{`{"action":"DescribeInstances","code":"A","skip":1}`, `{"action":"DescribeInstances","code":"B","skip":2}`}, []string{"", "A", "", "B", ""}},
		"first one spoils": {"what is spoilt is not skipped", []string{`{"action":"DescribeInstances","code":"A"}`, `{"action":"DescribeInstances","code":"B","skip":1}`}, []string{"A", "", "B", ""}},
		"last one spoils":  {"whichever was ordered first", []string{`{"action":"DescribeInstances","code":"B","skip":1}`, `{"action":"DescribeInstances","code":"A"}`}, []string{"A", "", "B", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEndpoint(t)
			for _, f := range c.faults {
				if status, out := w.post(t, "/_sim/faults", f); status != http.StatusOK {
					t.Fatalf("order %s: %d, %v", f, status, out)
				}
			}
			for i, code := range c.want {
				_, err := w.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
				got := ""
				if failure, refused := errors.AsType[smithy.APIError](err); refused {
					got = failure.ErrorCode()
				}
				if got != code {
					t.Errorf("%s: call %d ended with %q, want %q", c.reason, i+1, got, code)
				}
			}
		})
	}
	w := newEndpoint(t)
	for _, body := range []string{`{"code":"A","skip":-1}`, `{"code":"A","offering":{},"skip":1}`} {
		if status, _ := w.post(t, "/_sim/faults", body); status != http.StatusBadRequest {
			t.Errorf("%s was accepted", body)
		}
	}
}

func TestLatency(t *testing.T) {
	w := newEndpoint(t)
	order(t, w, simulator.Fault{Action: "DescribeInstances", Latency: simulator.Duration{Duration: time.Minute}})
	done := make(chan error, 1)
	go func() {
		_, err := w.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
		done <- err
	}()
	eventually.True(t, "the server to wait on its clock", w.clock.HasWaiters)
	w.clock.Step(time.Minute)
	wantCode(t, <-done, "")
}

func TestInterruption(t *testing.T) {
	w := newEndpoint(t)
	ctx := t.Context()
	out, err := w.ec2.CreateFleet(ctx, fleet(w.template(t, "one"), spot, override("m5.large", "us-west-2a", 0)))
	wantCode(t, err, "")
	id := out.Instances[0].InstanceIds[0]
	client := sqs.NewFromConfig(w.cfg)
	url, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("demo")})
	wantCode(t, err, "")
	receive := func() *sqs.ReceiveMessageOutput {
		t.Helper()
		out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: url.QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 20, VisibilityTimeout: 30,
			MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{"SentTimestamp"},
		})
		wantCode(t, err, "")
		return out
	}
	// The receiver waits before the message is there.
	waiting := make(chan *sqs.ReceiveMessageOutput, 1)
	go func() { waiting <- receive() }()
	eventually.True(t, "the server to wait on its clock", w.clock.HasWaiters)
	if status, out := w.post(t, "/_sim/interrupt", `{"instanceId":"`+id+`"}`); status != http.StatusOK {
		t.Fatalf("interrupt: %d %v", status, out)
	}
	got := <-waiting
	if len(got.Messages) != 1 || got.Messages[0].Attributes["SentTimestamp"] == "" {
		t.Fatalf("messages %+v, want one with its time", got.Messages)
	}
	var event struct {
		DetailType string `json:"detail-type"`
		Source     string
		Detail     map[string]string
	}
	if err := json.Unmarshal([]byte(*got.Messages[0].Body), &event); err != nil {
		t.Fatal(err)
	}
	if event.DetailType != "EC2 Spot Instance Interruption Warning" || event.Source != "aws.ec2" || event.Detail["instance-id"] != id {
		t.Errorf("event %+v", event)
	}
	// Not deleted, it comes again after the visibility timeout; the instance
	// runs for two minutes.
	w.clock.Step(31 * time.Second)
	if i := w.describe(t, id); i.State.Name != "running" {
		t.Errorf("after 31 s the instance is %s", i.State.Name)
	}
	again := receive()
	if len(again.Messages) != 1 {
		t.Fatalf("%d messages after the visibility timeout, want 1", len(again.Messages))
	}
	_, err = client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: url.QueueUrl, ReceiptHandle: again.Messages[0].ReceiptHandle})
	wantCode(t, err, "")
	w.clock.Step(90 * time.Second)
	if i := w.describe(t, id); i.State.Name != "shutting-down" || *i.StateReason.Code != "Server.SpotInstanceTermination" {
		t.Errorf("after two minutes the instance is %s", i.State.Name)
	}
	if n := w.server.State().Messages["demo"]; n != 0 {
		t.Errorf("%d messages are left", n)
	}
	if status, _ := w.post(t, "/_sim/interrupt", `{"instanceId":"`+id+`"}`); status != http.StatusNotFound {
		t.Errorf("interrupting an ended instance: %d, want 404", status)
	}
	_, err = client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: url.QueueUrl, MessageBody: aws.String("hello")})
	wantCode(t, err, "")
	_, err = client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("other")})
	wantCode(t, err, "AWS.SimpleQueueService.NonExistentQueue")
}

func TestStatusChecks(t *testing.T) {
	w := newEndpoint(t)
	out, err := w.ec2.CreateFleet(t.Context(), fleet(w.template(t, "one"), spot, override("m5.large", "us-west-2a", 0)))
	wantCode(t, err, "")
	id := out.Instances[0].InstanceIds[0]
	w.clock.Step(time.Minute)
	if err := w.server.SetStatus(simulator.StatusCheck{InstanceID: id, Check: "system", Impaired: true}); err != nil {
		t.Fatal(err)
	}
	got, err := w.ec2.DescribeInstanceStatus(t.Context(), &ec2.DescribeInstanceStatusInput{InstanceIds: []string{id}})
	wantCode(t, err, "")
	s := got.InstanceStatuses[0]
	if s.SystemStatus.Status != "impaired" || s.InstanceStatus.Status != "ok" || !s.SystemStatus.Details[0].ImpairedSince.Equal(w.clock.Now()) {
		t.Errorf("status %+v", s)
	}
}

func TestCapacityAndReset(t *testing.T) {
	w := newEndpoint(t)
	status, _ := w.post(t, "/_sim/capacity", `[{"type":"m5.large","zone":"us-west-2a","capacityType":"spot","free":1}]`)
	if status != http.StatusOK {
		t.Fatal(status)
	}
	launch := func(want int) string {
		t.Helper()
		name := "one"
		in := fleet("", spot, override("m5.large", "us-west-2a", 0))
		in.LaunchTemplateConfigs[0].LaunchTemplateSpecification.LaunchTemplateId, in.LaunchTemplateConfigs[0].LaunchTemplateSpecification.LaunchTemplateName = nil, &name
		out, err := w.ec2.CreateFleet(t.Context(), in)
		wantCode(t, err, "")
		if len(out.Instances) != want {
			t.Fatalf("%d instances, want %d (%+v)", len(out.Instances), want, out.Errors)
		}
		if want == 0 {
			return ""
		}
		return out.Instances[0].InstanceIds[0]
	}
	w.template(t, "one")
	id := launch(1)
	launch(0)
	if err := w.server.Interrupt(simulator.Interruption{InstanceID: id, In: &simulator.Duration{}}); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(time.Minute)
	launch(1) // the ended instance gave its place back
	w.post(t, "/_sim/settings", `{"lag":"1m"}`)
	if status, out := w.post(t, "/_sim/reset", ""); status != http.StatusOK || out["running"] != 0.0 {
		t.Errorf("reset: %d %v", status, out)
	}
	if s := w.server.State(); len(s.Instances) != 0 || len(s.Templates) != 0 || w.server.Set(simulator.Settings{}).Lag.Duration != 0 {
		t.Errorf("after a reset there is %+v", s)
	}
}

func TestWithoutCredentials(t *testing.T) {
	w := newEndpoint(t)
	for name, tc := range map[string]struct{ header, want string }{
		"nothing":        {"", "MissingAuthenticationToken"},
		"not version 4":  {"Basic abc", "AuthFailure"},
		"no scope":       {"AWS4-HMAC-SHA256 SignedHeaders=host", "AuthFailure"},
		"another region": {"AWS4-HMAC-SHA256 Credential=A/20260801/eu-west-1/ec2/aws4_request, Signature=0", "AuthFailure"},
		"no such action": {"AWS4-HMAC-SHA256 Credential=A/20260801/us-west-2/ec2/aws4_request, Signature=0", "InvalidAction"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url, strings.NewReader("Action=Fly&Version=2016-11-15"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if tc.header != "" {
			r.Header.Set("Authorization", tc.header)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || !bytes.Contains(text, []byte("<Code>"+tc.want+"</Code>")) {
			t.Errorf("%s: got %s, want %s", name, text, tc.want)
		}
	}
}
