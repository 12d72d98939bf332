package api

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
)

const (
	pool  = "karpenter/v1/testdata/nodepool-minimal.yaml"
	claim = "karpenter/v1/testdata/nodeclaim-standalone.yaml"
	class = "aws/v1/testdata/al2023.yaml"
)

// refusal is a change to a valid manifest and what the server says of it; an
// empty message means that the change is fine.
type refusal struct{ base, patch, message string }

func refused(t *testing.T, client dynamic.Interface) {
	for name, tc := range refusals() {
		t.Run(name, func(t *testing.T) {
			obj := load(t, "../../../api/"+tc.base)
			obj.SetName("dry-run")
			merge(obj.Object, parse(t, tc.patch))
			opts := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
			_, err := client.Resource(resources[obj.GetKind()]).Create(t.Context(), obj, opts)
			expect(t, tc.patch, err, tc.message)
		})
	}
}

func requirement(r string) string {
	return `{spec: {template: {spec: {requirements: [` + r + `]}}}}`
}

func claimRequirement(r string) string {
	return `{spec: {requirements: [` + r + `]}}`
}

func template(spec string) string {
	return `{spec: {template: {spec: {` + spec + `}}}}`
}

func labels(l string) string {
	return `{spec: {template: {metadata: {labels: {` + l + `}}}}}`
}

func disruption(d string) string {
	return `{spec: {disruption: {` + d + `}}}`
}

func spec(s string) string {
	return `{spec: {` + s + `}}`
}

func refusals() map[string]refusal {
	const (
		domain    = `label domain "karpenter.sh" is restricted`
		awsDomain = `label domain "karpenter.k8s.aws" is restricted`
	)
	return map[string]refusal{
		"kubelet: grace of a day, 1d":     {class, spec(`kubelet: {evictionSoft: {memory.available: 5%}, evictionSoftGracePeriod: {memory.available: 1d}}`), "spec.kubelet.evictionSoftGracePeriod.memory.available in body should match"},
		"kubelet: grace of a day, 24h":    {class, spec(`kubelet: {evictionSoft: {memory.available: 5%}, evictionSoftGracePeriod: {memory.available: 24h}}`), ""},
		"requirement: no value":           {pool, requirement(`{key: a, operator: In}`), "'In' must have a value defined"},
		"requirement: empty values":       {pool, requirement(`{key: a, operator: In, values: []}`), "'In' must have a value defined"},
		"requirement: unknown operator":   {pool, requirement(`{key: a, operator: Equals, values: [b]}`), `Unsupported value: "Equals"`},
		"requirement: no operator":        {pool, requirement(`{key: a}`), "requirements[0].operator: Required value"},
		"requirement: Gt of a word":       {pool, requirement(`{key: a, operator: Gt, values: [big]}`), "must have one value, an integer"},
		"requirement: Lt of a negative":   {pool, requirement(`{key: a, operator: Lt, values: ["-1"]}`), "must have one value, an integer"},
		"requirement: Gte of two":         {pool, requirement(`{key: a, operator: Gte, values: ["1", "2"]}`), "must have one value, an integer"},
		"requirement: Lte of none":        {pool, requirement(`{key: a, operator: Lte}`), "must have one value, an integer"},
		"requirement: Gte is fine":        {pool, requirement(`{key: a, operator: Gte, values: ["1"]}`), ""},
		"requirement: too few values":     {pool, requirement(`{key: a, operator: In, values: [b], minValues: 2}`), "at least 'minValues' values"},
		"requirement: minValues of 51":    {pool, requirement(`{key: a, operator: Exists, minValues: 51}`), "should be less than or equal to 50"},
		"requirement: minValues of 0":     {pool, requirement(`{key: a, operator: Exists, minValues: 0}`), "should be greater than or equal to 1"},
		"requirement: bad key":            {pool, requirement(`{key: "a b", operator: Exists}`), "requirements[0].key"},
		"requirement: bad value":          {pool, requirement(`{key: a, operator: In, values: ["b c"]}`), "requirements[0].values[0]"},
		"requirement: nodepool label":     {pool, requirement(`{key: karpenter.sh/nodepool, operator: Exists}`), `label "karpenter.sh/nodepool" is restricted`},
		"requirement: our domain":         {pool, requirement(`{key: karpenter.sh/registered, operator: Exists}`), domain},
		"requirement: our subdomain":      {pool, requirement(`{key: x.karpenter.sh/y, operator: Exists}`), domain},
		"requirement: lookalike domain":   {pool, requirement(`{key: mykarpenter.sh/y, operator: Exists}`), ""},
		"requirement: unknown AWS label":  {pool, requirement(`{key: karpenter.k8s.aws/instance-colour, operator: Exists}`), awsDomain},
		"requirement: hostname":           {pool, requirement(`{key: kubernetes.io/hostname, operator: Exists}`), `label "kubernetes.io/hostname" is restricted`},
		"claim: nodepool label is fine":   {claim, claimRequirement(`{key: karpenter.sh/nodepool, operator: Exists}`), ""},
		"claim: our domain":               {claim, claimRequirement(`{key: karpenter.sh/x, operator: Exists}`), domain},
		"claim: no value":                 {claim, claimRequirement(`{key: a, operator: In}`), "'In' must have a value defined"},
		"claim: Gt of a word":             {claim, claimRequirement(`{key: a, operator: Gt, values: [big]}`), "must have one value, an integer"},
		"claim: too few values":           {claim, claimRequirement(`{key: a, operator: In, values: [b], minValues: 2}`), "at least 'minValues' values"},
		"claim: no class":                 {claim, spec(`nodeClassRef: null`), "spec.nodeClassRef: Required value"},
		"claim: bad taint":                {claim, spec(`taints: [{key: a, effect: Whenever}]`), `Unsupported value: "Whenever"`},
		"class reference: empty name":     {pool, template(`nodeClassRef: {name: ""}`), "name may not be empty"},
		"class reference: empty kind":     {pool, template(`nodeClassRef: {kind: ""}`), "kind may not be empty"},
		"class reference: empty group":    {pool, template(`nodeClassRef: {group: ""}`), "group may not be empty"},
		"class reference: with a version": {pool, template(`nodeClassRef: {group: karpenter.k8s.aws/v1}`), "nodeClassRef.group"},
		"pool: no requirements":           {pool, template(`requirements: null`), "requirements: Required value"},
		"pool: no template":               {pool, spec(`template: null`), "spec.template: Required value"},
		"label: our domain":               {pool, labels(`karpenter.sh/registered: "true"`), domain},
		"label: nodepool":                 {pool, labels(`karpenter.sh/nodepool: other`), `label "karpenter.sh/nodepool" is restricted`},
		"label: capacity type is fine":    {pool, labels(`karpenter.sh/capacity-type: spot`), ""},
		"label: hostname":                 {pool, labels(`kubernetes.io/hostname: a`), `label "kubernetes.io/hostname" is restricted`},
		"label: unknown AWS label":        {pool, labels(`karpenter.k8s.aws/colour: blue`), awsDomain},
		"label: bad value":                {pool, labels(`a: "b c"`), "should match"},
		"label: long value":               {pool, labels(`a: aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg`), "may not be more than 63"},
		"taint: no effect":                {pool, template(`taints: [{key: a}]`), "taints[0].effect: Required value"},
		"taint: unknown effect":           {pool, template(`taints: [{key: a, effect: Sometimes}]`), `Unsupported value: "Sometimes"`},
		"taint: bad key":                  {pool, template(`startupTaints: [{key: "a b", effect: NoSchedule}]`), "startupTaints[0].key"},
		"taint: bad value":                {pool, template(`taints: [{key: a, value: "b c", effect: NoSchedule}]`), "taints[0].value"},
		"taint: empty value is fine":      {pool, template(`taints: [{key: a, value: "", effect: NoSchedule}]`), ""},
		"duration: expireAfter in days":   {pool, template(`expireAfter: 30d`), "spec.template.spec.expireAfter"},
		"duration: expireAfter negative":  {pool, template(`expireAfter: -1h`), "spec.template.spec.expireAfter"},
		"duration: grace period of Never": {pool, template(`terminationGracePeriod: Never`), "spec.template.spec.terminationGracePeriod"},
		"disruption: bare number":         {pool, disruption(`consolidateAfter: 30`), "spec.disruption.consolidateAfter"},
		"disruption: without a delay":     {pool, disruption(`consolidationPolicy: WhenEmpty`), "consolidateAfter: Required value"},
		"disruption: unknown policy":      {pool, disruption(`consolidateAfter: 0s, consolidationPolicy: Always`), `Unsupported value: "Always"`},
		"budget: schedule alone":          {pool, disruption(`consolidateAfter: 0s, budgets: [{nodes: "1", schedule: "@daily"}]`), "'schedule' must be set with 'duration'"},
		"budget: duration alone":          {pool, disruption(`consolidateAfter: 0s, budgets: [{nodes: "1", duration: 1h}]`), "'schedule' must be set with 'duration'"},
		"budget: seconds":                 {pool, disruption(`consolidateAfter: 0s, budgets: [{nodes: "1", schedule: "@daily", duration: 30s}]`), "budgets[0].duration"},
		"budget: bad schedule":            {pool, disruption(`consolidateAfter: 0s, budgets: [{nodes: "1", schedule: "* * *", duration: 1h}]`), "budgets[0].schedule"},
		"budget: unknown macro":           {pool, disruption(`consolidateAfter: 0s, budgets: [{nodes: "1", schedule: "@fortnightly", duration: 1h}]`), "budgets[0].schedule"},
		"budget: negative":                {pool, disruption(`consolidateAfter: 0s, budgets: [{nodes: "-1"}]`), "budgets[0].nodes"},
		"budget: 101 %":                   {pool, disruption(`consolidateAfter: 0s, budgets: [{nodes: "101%"}]`), "budgets[0].nodes"},
		"budget: unknown reason":          {pool, disruption(`consolidateAfter: 0s, budgets: [{nodes: "1", reasons: [Expired]}]`), `Unsupported value: "Expired"`},
		"budget: repeated reason":         {pool, disruption(`consolidateAfter: 0s, budgets: [{nodes: "1", reasons: [Empty, Empty]}]`), "Duplicate value"},
		"budget: default nodes is fine":   {pool, disruption(`consolidateAfter: 0s, budgets: [{reasons: [Empty]}]`), ""},
		"weight: 0":                       {pool, spec(`weight: 0`), "should be greater than or equal to 1"},
		"weight: 101":                     {pool, spec(`weight: 101`), "should be less than or equal to 100"},
		"limits: not a quantity":          {pool, spec(`limits: {cpu: lots}`), "spec.limits.cpu"},
		"static: weight":                  {pool, spec(`replicas: 1, weight: 1`), "'weight' is not supported on static NodePools"},
		"static: CPU limit":               {pool, spec(`replicas: 1, limits: {cpu: 1}`), "only 'limits.nodes' is supported"},
		"static: node limit is fine":      {pool, spec(`replicas: 1, limits: {nodes: 1}`), ""},
		"static: negative":                {pool, spec(`replicas: -1`), "should be greater than or equal to 0"},
		"identity: both":                  {class, spec(`instanceProfile: x`), "must specify exactly one of ['role', 'instanceProfile']"},
		"identity: none":                  {class, spec(`role: null`), "must specify exactly one of ['role', 'instanceProfile']"},
		"identity: empty role":            {class, spec(`role: ""`), "role cannot be empty"},
		"subnets: none":                   {class, spec(`subnetSelectorTerms: []`), "subnetSelectorTerms cannot be empty"},
		"subnets: empty term":             {class, spec(`subnetSelectorTerms: [{}]`), "expected at least one, got none, ['tags', 'id']"},
		"subnets: id and tags":            {class, spec(`subnetSelectorTerms: [{id: subnet-1, tags: {a: b}}]`), "'id' is mutually exclusive"},
		"subnets: bad id":                 {class, spec(`subnetSelectorTerms: [{id: vpc-1}]`), "subnetSelectorTerms[0].id"},
		"subnets: empty tag value":        {class, spec(`subnetSelectorTerms: [{tags: {a: ""}}]`), "empty tag keys or values aren't supported"},
		"groups: none":                    {class, spec(`securityGroupSelectorTerms: []`), "securityGroupSelectorTerms cannot be empty"},
		"groups: name and id":             {class, spec(`securityGroupSelectorTerms: [{id: sg-1, name: a}]`), "is mutually exclusive"},
		"images: none":                    {class, spec(`amiSelectorTerms: []`), "amiSelectorTerms"},
		"images: empty term":              {class, spec(`amiSelectorTerms: [{owner: self}], amiFamily: AL2023`), "expected at least one, got none, ['tags', 'id', 'name', 'alias', 'ssmParameter']"},
		"images: alias and id":            {class, spec(`amiSelectorTerms: [{alias: al2023@latest, id: ami-1}]`), "'alias' is mutually exclusive"},
		"images: two aliases":             {class, spec(`amiSelectorTerms: [{alias: al2023@latest}, {alias: al2@latest}]`), "cannot be set with a combination of other amiSelectorTerms"},
		"images: alias without version":   {class, spec(`amiSelectorTerms: [{alias: al2023}]`), "must match the format 'family@version'"},
		"images: unknown family":          {class, spec(`amiSelectorTerms: [{alias: ubuntu@latest}]`), "family is not supported"},
		"images: pinned Windows":          {class, spec(`amiSelectorTerms: [{alias: windows2022@v1}]`), "windows families may only specify version 'latest'"},
		"images: no family":               {class, spec(`amiSelectorTerms: [{id: ami-1}]`), "must specify amiFamily"},
		"images: other family":            {class, spec(`amiFamily: Bottlerocket`), "must be 'Custom' or the family of the alias"},
		"images: Custom is fine":          {class, spec(`amiFamily: Custom`), ""},
		"images: same family is fine":     {class, spec(`amiFamily: AL2023`), ""},
		"tags: cluster":                   {class, spec(`tags: {kubernetes.io/cluster/x: owned}`), "restricted tag matching kubernetes.io/cluster/"},
		"tags: pool":                      {class, spec(`tags: {karpenter.sh/nodepool: x}`), "restricted tag matching karpenter.sh/nodepool"},
		"tags: empty key":                 {class, spec(`tags: {"": x}`), "empty tag keys aren't supported"},
		"disks: two roots":                {class, spec(`blockDeviceMappings: [{rootVolume: true}, {rootVolume: true}]`), "must have only one blockDeviceMappings with rootVolume"},
		"disks: nothing":                  {class, spec(`blockDeviceMappings: [{ebs: {encrypted: true}}]`), "snapshotID or volumeSize must be defined"},
		"disks: too large":                {class, spec(`blockDeviceMappings: [{ebs: {volumeSize: 65T}}]`), "volumeSize can be at most 64T"},
		"disks: unit":                     {class, spec(`blockDeviceMappings: [{ebs: {volumeSize: 100Mi}}]`), "ebs.volumeSize"},
		"disks: largest is fine":          {class, spec(`blockDeviceMappings: [{ebs: {volumeSize: 58Ti}}]`), ""},
		"disks: rate without snapshot":    {class, spec(`blockDeviceMappings: [{ebs: {volumeSize: 1Gi, volumeInitializationRate: 100}}]`), "snapshotID must be set"},
		"metadata: hops":                  {class, spec(`metadataOptions: {httpPutResponseHopLimit: 65}`), "should be less than or equal to 64"},
		"metadata: tokens":                {class, spec(`metadataOptions: {httpTokens: maybe}`), `Unsupported value: "maybe"`},
		"kubelet: reserved key":           {class, spec(`kubelet: {kubeReserved: {disk: 1Gi}}`), "valid keys for kubeReserved"},
		"kubelet: negative":               {class, spec(`kubelet: {systemReserved: {cpu: "-1"}}`), "cannot be a negative resource quantity"},
		"kubelet: not a quantity":         {class, spec(`kubelet: {systemReserved: {cpu: lots}}`), "systemReserved.cpu"},
		"kubelet: threshold":              {class, spec(`kubelet: {evictionHard: {memory.available: 101%}}`), "evictionHard.memory.available"},
		"kubelet: soft without grace":     {class, spec(`kubelet: {evictionSoft: {memory.available: 5%}}`), "needs its evictionSoftGracePeriod"},
		"kubelet: grace without soft":     {class, spec(`kubelet: {evictionSoftGracePeriod: {memory.available: 1m}}`), "needs its evictionSoft"},
		"kubelet: image thresholds":       {class, spec(`kubelet: {imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 60}`), "must be greater than imageGCLowThresholdPercent"},
		"interfaces: no primary":          {class, spec(`networkInterfaces: [{networkCardIndex: 1, deviceIndex: 1, interfaceType: interface}]`), "must include a primary interface"},
		"interfaces: repeated":            {class, spec(`networkInterfaces: [{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}, {networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}]`), "must not repeat a pair"},
		"interfaces: two EFA on one card": {class, spec(`networkInterfaces: [{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}, {networkCardIndex: 1, deviceIndex: 0, interfaceType: efa-only}, {networkCardIndex: 1, deviceIndex: 1, interfaceType: efa-only}]`), "at most one efa-only interface per network card"},
		"placement: both":                 {class, spec(`placementGroupSelector: {name: a, id: pg-1}`), "'name' and 'id' are mutually exclusive"},
		"placement: none":                 {class, spec(`placementGroupSelector: {}`), "expected at least one, got none, ['name', 'id']"},
		"reservations: empty term":        {class, spec(`capacityReservationSelectorTerms: [{ownerID: "123456789012"}]`), "expected at least one, got none, ['tags', 'id', 'instanceMatchCriteria']"},
		"reservations: bad owner":         {class, spec(`capacityReservationSelectorTerms: [{ownerID: me, tags: {a: b}}]`), "ownerID"},
		"connection tracking: none":       {class, spec(`connectionTracking: {}`), "at least one of tcpEstablishedTimeout"},
		"connection tracking: too short":  {class, spec(`connectionTracking: {udpTimeout: 29}`), "should be greater than or equal to 30"},
	}
}
