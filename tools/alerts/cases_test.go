package alerts

import "time"

// m is a number of minutes.
func m(n int) time.Duration { return time.Duration(n) * time.Minute }

// cases are the occasions of each alert. Two pods run the controller: the one without the lease, b,
// exports zero or nothing.
//
//nolint:gochecknoglobals // a table
var cases = map[string][]occasion{
	"SpokeshaveCapReached": {
		{"nothing is left for ten minutes", `
			spokeshave_headroom_usd{scope="cluster",policy="budget",period="hour",kind="hard",pod="a"} 5 0x30`, m(11),
			[]string{"The cap of policy budget on cluster (hour) has left nothing for 10 minutes."}},
		{"for a shorter time", `
			spokeshave_headroom_usd{scope="cluster",policy="budget",period="hour",kind="hard",pod="a"} 5 0x30`, m(10), nil},
		{"a soft cap is reached", `
			spokeshave_headroom_usd{scope="cluster",policy="budget",period="hour",kind="soft",pod="a"} 0x30`, m(30), nil},
	},
	"SpokeshaveSoftCapReached": {
		{"nothing is left for five minutes", `
			spokeshave_headroom_usd{scope="cluster",policy="budget",period="hour",kind="soft",pod="a"} 0x30`, m(5),
			[]string{"The soft cap of policy budget on cluster (hour) is reached; launches go on."}},
		{"a cent is left", `
			spokeshave_headroom_usd{scope="cluster",policy="budget",period="hour",kind="soft",pod="a"} 0.01x30`, m(30), nil},
	},
	"SpokeshaveLedgerInDoubt": {
		{"the leader doubts", `
			spokeshave_spend_in_doubt{pod="a"} 0 1x10
			spokeshave_spend_in_doubt{pod="b"} 0x11`, m(3),
			[]string{"It is not certain what the month has cost, so that nothing is launched under monthly caps."}},
		{"exact", `
			spokeshave_spend_in_doubt{pod="a"} 0x11`, m(11), nil},
	},
	"SpokeshaveLedgerLost": {
		{"an hour ago", `
			spokeshave_spend_ledger_lost_timestamp_seconds{pod="a"} 60x100`, m(60),
			[]string{"The ledger of spend was lost, or could not be read, within the last day. Without SpokeshaveLedgerInDoubt beside this, it continues from its copy, and up to an hour of spend may be missing."}},
		{"never, and no pod exports a time", `
			spokeshave_spend_in_doubt{pod="a"} 0x11`, m(11), nil},
		{"two days ago", `
			spokeshave_spend_ledger_lost_timestamp_seconds{pod="a"} -172800x11`, m(11), nil},
	},
	"SpokeshaveMonthlyCapSoon": {
		{"in two days", `
			spokeshave_time_to_cap_seconds{scope="cluster",policy="budget",kind="hard",pod="a"} 172800x40`, m(30),
			[]string{"At the present rate the month's cap of policy budget on cluster is used up in 2d 0h 0m 0s."}},
		{"in a week", `
			spokeshave_time_to_cap_seconds{scope="cluster",policy="budget",kind="hard",pod="a"} 604800x40`, m(40), nil},
		{"reached: another alert's", `
			spokeshave_time_to_cap_seconds{scope="cluster",policy="budget",kind="hard",pod="a"} 0x40`, m(40), nil},
	},
	"SpokeshaveNodeMislabelled": {
		{"two nodes", `
			spokeshave_nodes_mislabelled{pod="a"} 2x10
			spokeshave_nodes_mislabelled{pod="b"} 0x10`, m(5),
			[]string{"2 nodes have labels that contradict what they are; events NodeIdentityMismatch name them."}},
		{"none", `
			spokeshave_nodes_mislabelled{pod="a"} 0x10`, m(10), nil},
	},
	"SpokeshaveDisruptionStopped": {
		{"expiry is stopped", `
			spokeshave_disruption_stopped{kind="Expired",pod="a"} 0 3
			spokeshave_disruption_stopped{kind="Drifted",pod="a"} 0 0`, m(1),
			[]string{"Mass deletion of nodes (Expired) is stopped: nobody has asked for it. Events DisruptionStopped of ConfigMap spokeshave-breakers say why, and how to allow it."}},
		{"nothing is", `
			spokeshave_disruption_stopped{kind="Expired",pod="a"} 0x10`, m(10), nil},
	},
	"SpokeshaveAdmissionPolicyMissing": {
		{"one is", `
			spokeshave_admission_policy_missing{policy="spokeshave-system-pods",pod="a"} 1x10
			spokeshave_admission_policy_missing{policy="spokeshave-system-nodeclaims",pod="a"} 0x10`, m(5),
			[]string{"The admission policy spokeshave-system-pods is missing, does not deny, or was edited. Events AdmissionPolicyMissing say why."}},
		{"helm upgrade replaces it", `
			spokeshave_admission_policy_missing{policy="spokeshave-system-pods",pod="a"} 0 1 1 0x10`, m(9), nil},
	},
	"SpokeshaveRecordRefused": {
		{"the ledger", `
			spokeshave_record_refused{record="spokeshave-ledger",pod="a"} 1x10`, m(2),
			[]string{"The API server refuses what the controller writes (spokeshave-ledger). Events RecordRefused say why."}},
		{"an API server has just started", `
			spokeshave_record_refused{record="spokeshave-ledger",pod="a"} 0 1 0x10`, m(10), nil},
	},
	"SpokeshavePriceUnknown": {
		{"one node", `
			spokeshave_nodes_price_assumed{pod="a"} 1x40`, m(30),
			[]string{"The price of 1 nodes is not known; they count at an assumed one, on the high side. Events PriceUnknown name them."}},
		{"none", `
			spokeshave_nodes_price_assumed{pod="a"} 0x40`, m(40), nil},
	},
	"SpokeshavePodsWait": {
		{"three pods", `
			karpenter_scheduler_unschedulable_pods_count{pod="a"} 3x40`, m(30),
			[]string{"3 pods have had no place for 30 minutes; spokeshave explain pod NAMESPACE/NAME says why."}},
		{"a node came", `
			karpenter_scheduler_unschedulable_pods_count{pod="a"} 3x20 0x30`, m(50), nil},
	},
	"SpokeshaveDecisionsFail": {
		{"the first panic: the series begins with it", `
			spokeshave_decision_failures_total{kind="Panic",part="solver",pod="a"} _x5 1x20`, m(7),
			[]string{"solver fails (Panic): 1 times in 15 minutes."}},
		{"a further one", `
			spokeshave_decision_failures_total{kind="Panic",part="solver",pod="a"} 1x30 2x20`, m(33),
			[]string{"solver fails (Panic): 1 times in 15 minutes."}},
		{"the last one is long ago", `
			spokeshave_decision_failures_total{kind="Panic",part="solver",pod="a"} _x5 1x40`, m(40), nil},
		{"six errors since the series began", `
			spokeshave_decision_failures_total{kind="Error",part="round",pod="a"} _x5 1 2 3 4 5 6x20`, m(11),
			[]string{"round fails (Error): 6 times in 15 minutes."}},
		{"five errors", `
			spokeshave_decision_failures_total{kind="Error",part="round",pod="a"} _x5 1 2 3 4 5x20`, m(11), nil},
		{"the controller restarted after one panic", `
			spokeshave_decision_failures_total{kind="Panic",part="solver",pod="a"} 1x20
			spokeshave_decision_failures_total{kind="Panic",part="solver",pod="b"} _x40`, m(40), nil},
	},
	"SpokeshaveLoopStuck": {
		{"for five minutes", `
			karpenter_scheduler_unfinished_work_seconds{pod="a"} 0+60x10`, m(5),
			[]string{"A decision has been made for 5m 0s. After 10 minutes the controller ends and another replica takes over."}},
		{"each takes ten seconds", `
			karpenter_scheduler_unfinished_work_seconds{pod="a"} 10x10`, m(10), nil},
	},
	"SpokeshaveStateUnsynced": {
		{"for four minutes", `
			karpenter_cluster_state_unsynced_time_seconds{pod="a"} 0+60x10`, m(4),
			[]string{"No snapshot of the cluster could be taken for 4m 0s: nothing is launched or removed."}},
		{"synced", `
			karpenter_cluster_state_unsynced_time_seconds{pod="a"} 0x10`, m(10), nil},
	},
	"SpokeshaveWritesRefused": {
		{"one write, and the series begins with it", `
			spokeshave_writes_refused_total{kind="NodeClaim",pod="a"} _x5 1x30`, m(12),
			[]string{"The API server refuses NodeClaim objects of decisions; the condition NodeClaimsAccepted of NodePools and events say which and why."}},
		{"none for an hour", `
			spokeshave_writes_refused_total{kind="NodeClaim",pod="a"} 7x60`, m(60), nil},
	},
	"SpokeshavePodsHeldBack": {
		{"two pods", `
			spokeshave_pods_held_back{pod="a"} 2x20`, m(15),
			[]string{"2 pods are left out of decisions, because planning for them failed or their NodeClaims are refused; spokeshave explain pod NAMESPACE/NAME says why."}},
		{"for five minutes", `
			spokeshave_pods_held_back{pod="a"} 2x5 0x20`, m(20), nil},
	},
	"SpokeshavePricesStale": {
		{"spot prices", `
			spokeshave_aws_market_stale{what="spot prices",pod="a"} 1x40
			spokeshave_aws_market_stale{what="instance types",pod="a"} 0x40`, m(30),
			[]string{"The spot prices of AWS could not be read for twice as long as they are taken for current: decisions and caps use old ones, or those that Spokeshave was built with."}},
		{"current", `
			spokeshave_aws_market_stale{what="spot prices",pod="a"} 0x40`, m(40), nil},
	},
	"SpokeshaveClassStale": {
		{"its images", `
			spokeshave_aws_class_stale{class="default",what="images",pod="a"} 1x10`, m(5),
			[]string{"The images of EC2NodeClass default could not be read from AWS for ten minutes or more: what its status had before is used, and changes are not seen."}},
		{"current", `
			spokeshave_aws_class_stale{class="default",what="images",pod="a"} 0x10`, m(10), nil},
	},
	"SpokeshavePolicyFails": {
		{"each question", `
			spokeshave_policy_faults_total{namespace="team",policy="rank",hook="rank",kind="Trap",pod="a"} 0+3x30`, m(11),
			[]string{"Policy team/rank gives no usable answer to rank."}},
		{"once, and the series begins with it: for ten minutes", `
			spokeshave_policy_faults_total{namespace="team",policy="rank",hook="rank",kind="Trap",pod="a"} _x5 1x30`, m(14), nil},
		{"long ago", `
			spokeshave_policy_faults_total{namespace="team",policy="rank",hook="rank",kind="Trap",pod="a"} 9x30`, m(30), nil},
	},
	"SpokeshavePolicySuspended": {
		{"by an annotation", `
			spokeshave_policy_state{namespace="system",policy="budget",state="Suspended",pod="a"} 1x5`, m(1),
			[]string{"Policy system/budget is suspended by an annotation: its caps and refusals do not hold."}},
		{"in force", `
			spokeshave_policy_state{namespace="system",policy="budget",state="Active",pod="a"} 1x5`, m(5), nil},
	},
	"SpokeshavePolicyEndsItsProcess": {
		{"twice", `
			spokeshave_policy_kills{namespace="team",policy="bomb",pod="a"} 2x5`, m(1),
			[]string{"Policy team/bomb has ended the process of Rego policies 2 times: it exceeds its deadline or its memory. Its failure policy applies, and it is asked less often."}},
		{"never", `
			spokeshave_policy_kills{namespace="team",policy="good",pod="a"} 0x5`, m(5), nil},
	},
	"SpokeshavePolicyRejected": {
		{"for five minutes", `
			spokeshave_policy_state{namespace="team",policy="rank",state="Rejected",pod="a"} 1x10`, m(5),
			[]string{"Policy team/rank was rejected; the last good version, if any, stays in force."}},
		{"mended within four", `
			spokeshave_policy_state{namespace="team",policy="rank",state="Rejected",pod="a"} 1x4 0x10`, m(10), nil},
	},
}
