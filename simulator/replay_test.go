package simulator_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"spokeshave.dev/simulator"
	"spokeshave.dev/simulator/iam/policy"
	"spokeshave.dev/test/kit/ec2"
)

// recordedCluster is the cluster that the recorded Karpenter ran in.
const recordedCluster = "mig"

// recorded is a request of Karpenter 1.14.1 as it was sent to AWS. Of each shape (action and
// names of parameters) at most two were kept. IDs that only a run decides stand as
// {instance.1}, of the fleet before, and {template.1}, both in the order of their creation. The
// address of the API server in user data is made up.
type recorded struct {
	Service    string            `json:"service"`
	Action     string            `json:"action"`
	Parameters map[string]string `json:"parameters"`
	Body       string            `json:"body"`
	// Code is the error that EC2 answers with; empty is success.
	Code string `json:"code"`
	// Onlooker says that a person's tool sent the request and not Karpenter, so that no
	// controller's policy allows it.
	Onlooker bool `json:"onlooker"`
}

// answered is what a successful answer to an action holds.
func answered() map[string]string {
	return map[string]string{
		"DescribeInstances": "<instanceId>", "DescribeInstanceTypes": "<instanceType>", "DescribeInstanceTypeOfferings": "<location>us-west-2",
		"DescribeSpotPriceHistory": "<spotPrice>", "GetProducts": "PricePerUnit", "GetParameter": `"Value":"ami-`, "DescribeImages": "<imageId>",
		"DescribeSubnets": "<subnetId>", "DescribeSecurityGroups": "<groupId>", "CreateInstanceProfile": "<InstanceProfileId>", "DescribeCluster": `"version":"1.36"`,
		"CreateLaunchTemplate": "<launchTemplateId>", "CreateTags": "<return>true</return>", "GetQueueUrl": "QueueUrl", "DeleteLaunchTemplate": "<launchTemplateId>",
		"DescribeInstanceAttribute": "<userData><value>", "DescribeVolumes": "<device>/dev/xvda</device>",
	}
}

// TestReplay sends all 65 recorded requests of a real Karpenter, in their order: each is
// answered as EC2 answers it, under no policy, under ours, and under what Karpenter's
// documentation allows.
func TestReplay(t *testing.T) {
	allowed := ec2.PoliciesOf(t, recordedCluster)
	for name, policies := range map[string][]*policy.Document{
		"everything is allowed": nil, "under our policy": {allowed["own"]}, "under Karpenter's policy": {allowed["karpenter"]},
	} {
		t.Run(name, func(t *testing.T) {
			all := readRecorded(t)
			r := newReplay(t, policies)
			r.prepare(t, all)
			r.run(t, all)
		})
	}
}

func readRecorded(t *testing.T) []recorded {
	t.Helper()
	raw, err := os.ReadFile("testdata/karpenter-1.14.1.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 65 {
		t.Fatalf("%d recorded requests, want all 65", len(all))
	}
	return all
}

func newReplay(t *testing.T, policies []*policy.Document) *replay {
	t.Helper()
	at := ec2.Start(t, []string{""}, func(cfg *simulator.Config) { cfg.Cluster, cfg.Policies = recordedCluster, policies })
	return &replay{url: at.URL, key: "AKIATEST", made: map[string]string{}}
}

// run sends all requests and checks the answers.
func (r *replay) run(t *testing.T, all []recorded) {
	t.Helper()
	templates := 0
	for i, in := range all {
		t.Run(strconv.Itoa(i)+" "+in.Action, func(t *testing.T) {
			text := r.send(t, in)
			want := answered()[in.Action]
			if in.Action == "DescribeInstances" && r.made["{instance.1}"] == "" {
				want = "<reservationSet></reservationSet>" // before the first launch
			}
			if in.Code == "" && !strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
				t.Errorf("the answer has no %s: %.500s", want, text)
			}
			if total := in.Parameters["TargetCapacitySpecification.TotalTargetCapacity"]; in.Action == "CreateFleet" && in.Code == "" {
				ids := regexp.MustCompile(`\bi-[0-9a-f]{17}`).FindAllString(text, -1)
				if strconv.Itoa(len(ids)) != total || strings.Contains(text, "<errorCode>") {
					t.Errorf("want %s instances and no error: %.500s", total, text)
				}
				for n, id := range ids {
					r.made["{instance."+strconv.Itoa(n+1)+"}"] = id
				}
			}
			if id := regexp.MustCompile(`lt-[0-9a-f]{17}`).FindString(text); in.Action == "CreateLaunchTemplate" {
				templates++
				r.made["{template."+strconv.Itoa(templates)+"}"] = id
			}
		})
	}
}

// replay sends recorded requests to one server.
type replay struct {
	url, key string
	made     map[string]string // placeholder to ID
}

// prepare makes the instance profiles and launch templates that recorded requests
// name and no recorded request makes.
func (r *replay) prepare(t *testing.T, all []recorded) {
	t.Helper()
	key := r.key
	r.key = simulator.JoinerKey // whom no policy binds
	defer func() { r.key = key }()
	made, templates := map[string]bool{}, map[string]bool{}
	var model recorded
	for _, in := range all {
		made[in.Parameters["InstanceProfileName"]] = made[in.Parameters["InstanceProfileName"]] || in.Action == "CreateInstanceProfile"
		if in.Action == "CreateLaunchTemplate" {
			model, templates[in.Parameters["LaunchTemplateName"]] = in, true
		}
	}
	for _, in := range all {
		name := in.Parameters["LaunchTemplateData.IamInstanceProfile.Name"]
		if name == "" || made[name] {
			continue
		}
		made[name] = true
		r.send(t, recorded{Service: "iam", Action: "CreateInstanceProfile", Parameters: map[string]string{"InstanceProfileName": name}})
		r.send(t, recorded{Service: "iam", Action: "AddRoleToInstanceProfile", Parameters: map[string]string{"InstanceProfileName": name, "RoleName": "KarpenterNodeRole-mig"}})
	}
	for _, in := range all {
		for key, name := range in.Parameters {
			if !strings.HasSuffix(key, "LaunchTemplateSpecification.LaunchTemplateName") || templates[name] {
				continue
			}
			templates[name] = true
			like := model
			like.Parameters = maps.Clone(model.Parameters)
			like.Parameters["LaunchTemplateName"], like.Parameters["ClientToken"] = name, name
			if in.Parameters["TargetCapacitySpecification.DefaultTargetCapacityType"] == "spot" {
				tagSpotRequests(like.Parameters)
			}
			r.send(t, like)
		}
	}
}

// tagSpotRequests has a template tag spot requests as it tags interfaces, which
// Karpenter's templates for spot do.
func tagSpotRequests(parameters map[string]string) {
	const from, to = "LaunchTemplateData.TagSpecification.1.", "LaunchTemplateData.TagSpecification.2."
	for key, value := range maps.Clone(parameters) {
		if rest, ok := strings.CutPrefix(key, from); ok {
			parameters[to+rest] = value
		}
	}
	parameters[to+"ResourceType"] = "spot-instances-request"
}

// send posts a request, fails unless it ends with its code, and gives the answer.
func (r *replay) send(t *testing.T, in recorded) string {
	t.Helper()
	method, path, body, kind := http.MethodPost, "/", in.Body, "application/x-amz-json-1.1"
	switch {
	case in.Service == "eks":
		method, path = http.MethodGet, "/clusters/"+recordedCluster
	case in.Body == "":
		form := url.Values{"Action": {in.Action}, "Version": {"2016-11-15"}}
		for key, value := range in.Parameters {
			for placeholder, id := range r.made {
				value = strings.ReplaceAll(value, placeholder, id)
			}
			form.Set(key, value)
		}
		if in.Code == "DryRunOperation" {
			form.Set("DryRun", "true")
		}
		body, kind = form.Encode(), "application/x-www-form-urlencoded"
	}
	body = strings.ReplaceAll(body, `"WaitTimeSeconds":20`, `"WaitTimeSeconds":0`)
	request, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", kind)
	key := r.key
	if in.Onlooker {
		key = simulator.JoinerKey
	}
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+key+"/20261122/us-west-2/"+in.Service+"/aws4_request, SignedHeaders=host, Signature=0")
	if in.Body != "" {
		request.Header.Set("X-Amz-Target", "Service."+in.Action)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	code := ""
	if found := regexp.MustCompile(`<Code>([^<]*)</Code>|"__type":"([^"]*)"`).FindSubmatch(text); found != nil {
		code = string(found[1]) + string(found[2])
	}
	if code != in.Code || (answer.StatusCode == http.StatusOK) != (in.Code == "") {
		t.Fatalf("%s ended with %d %q, EC2 says %q: %.500s", in.Action, answer.StatusCode, code, in.Code, text)
	}
	return string(text)
}
