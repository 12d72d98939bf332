package focus

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"spokeshave.dev/controller/core/spend"
)

// Version is the version of FOCUS that the rows are written for.
const Version = "1.3"

// Method is the AllocatedMethodId of all rows: the rule of docs/spend.md, which ADR 59
// decided.
const Method = "spokeshave-largest-request"

// tagPrefix is the prefix of tags that Spokeshave defines.
const tagPrefix = "spokeshave.dev/"

// Row is one charge. The fields are the columns, in the order of the file: those of FOCUS,
// then those of our own, whose names begin with x_. A nil pointer is null.
//
// Size: the columns are those that FOCUS demands.
type Row struct {
	AllocatedMethodDetails string    `parquet:"AllocatedMethodDetails"`
	AllocatedMethodID      string    `parquet:"AllocatedMethodId"`
	AllocatedResourceID    *string   `parquet:"AllocatedResourceId,optional"`
	AllocatedResourceName  *string   `parquet:"AllocatedResourceName,optional"`
	AllocatedTags          *string   `parquet:"AllocatedTags,optional"`
	BilledCost             int64     `parquet:"BilledCost,decimal(6:18)"`
	BillingAccountID       string    `parquet:"BillingAccountId"`
	BillingAccountName     *string   `parquet:"BillingAccountName,optional"`
	BillingCurrency        string    `parquet:"BillingCurrency"`
	BillingPeriodEnd       time.Time `parquet:"BillingPeriodEnd,timestamp(microsecond)"`
	BillingPeriodStart     time.Time `parquet:"BillingPeriodStart,timestamp(microsecond)"`
	ChargeCategory         string    `parquet:"ChargeCategory"`
	ChargeClass            *string   `parquet:"ChargeClass,optional"`
	ChargeDescription      string    `parquet:"ChargeDescription"`
	ChargeFrequency        string    `parquet:"ChargeFrequency"`
	ChargePeriodEnd        time.Time `parquet:"ChargePeriodEnd,timestamp(microsecond)"`
	ChargePeriodStart      time.Time `parquet:"ChargePeriodStart,timestamp(microsecond)"`
	ContractedCost         int64     `parquet:"ContractedCost,decimal(6:18)"`
	EffectiveCost          int64     `parquet:"EffectiveCost,decimal(6:18)"`
	HostProviderName       string    `parquet:"HostProviderName"`
	InvoiceID              *string   `parquet:"InvoiceId,optional"`
	InvoiceIssuerName      string    `parquet:"InvoiceIssuerName"`
	ListCost               int64     `parquet:"ListCost,decimal(6:18)"`
	PricingQuantity        *int64    `parquet:"PricingQuantity,optional,decimal(6:18)"`
	PricingUnit            *string   `parquet:"PricingUnit,optional"`
	ProviderName           string    `parquet:"ProviderName"`
	PublisherName          string    `parquet:"PublisherName"`
	RegionID               *string   `parquet:"RegionId,optional"`
	RegionName             *string   `parquet:"RegionName,optional"`
	ResourceID             string    `parquet:"ResourceId"`
	ResourceName           *string   `parquet:"ResourceName,optional"`
	ResourceType           string    `parquet:"ResourceType"`
	ServiceCategory        string    `parquet:"ServiceCategory"`
	ServiceName            string    `parquet:"ServiceName"`
	ServiceProviderName    string    `parquet:"ServiceProviderName"`
	ServiceSubcategory     string    `parquet:"ServiceSubcategory"`
	Tags                   *string   `parquet:"Tags,optional"`
	CapacityType           *string   `parquet:"x_CapacityType,optional"`
	Cluster                *string   `parquet:"x_Cluster,optional"`
	Estimated              bool      `parquet:"x_Estimated"`
	InstanceFamily         *string   `parquet:"x_InstanceFamily,optional"`
	Kind                   string    `parquet:"x_Kind"`
	Namespace              *string   `parquet:"x_Namespace,optional"`
	NodePool               *string   `parquet:"x_NodePool,optional"`
	Workload               *string   `parquet:"x_Workload,optional"`
}

// Account says of what the rows are, which the ledger does not know.
type Account struct {
	// ID is the billing account, which no row can do without. Region and Cluster may be
	// empty.
	ID, Region, Cluster string
}

// Rows returns the rows of the periods, in order.
func Rows(periods []spend.Period, of Account) []Row {
	var out []Row
	for i := range periods {
		p := &periods[i]
		for start := 0; start < len(p.Rows); {
			end := start + 1
			for end < len(p.Rows) && p.Rows[end].Rented == p.Rows[start].Rented {
				end++
			}
			origin := p.Rows[start:end]
			for k, ratio := range ratios(origin) {
				out = append(out, row(p, &origin[k], ratio, &of))
			}
			start = end
		}
	}
	return out
}

func row(p *spend.Period, r *spend.Row, ratio string, of *Account) Row {
	const amazon = "Amazon Web Services"
	month := spend.NewHistory(p.From).Month
	out := Row{
		AllocatedMethodID: Method, AllocatedMethodDetails: `{"Elements":[{"AllocatedRatio":` + ratio + `}]}`,
		BilledCost: r.Amount.Micro, ContractedCost: r.Amount.Micro, EffectiveCost: r.Amount.Micro, ListCost: r.Amount.Micro,
		BillingAccountID: of.ID, BillingCurrency: "USD",
		BillingPeriodStart: month, BillingPeriodEnd: month.AddDate(0, 1, 0),
		ChargeCategory: "Usage", ChargeFrequency: "Usage-Based",
		ChargePeriodStart: p.From.Truncate(time.Second), ChargePeriodEnd: p.To.Add(time.Second - 1).Truncate(time.Second),
		HostProviderName: amazon, InvoiceIssuerName: amazon, ProviderName: amazon, PublisherName: amazon, ServiceProviderName: amazon,
		RegionID: optional(of.Region), RegionName: optional(of.Region),
		ResourceID: resource(r, of.Cluster), ResourceName: optional(r.Pool), ResourceType: "NodePool",
		ServiceCategory: "Compute", ServiceName: "Amazon Elastic Compute Cloud", ServiceSubcategory: "Virtual Machines",
		Tags: tags(labels(r.Labels)), CapacityType: optional(string(r.CapacityType)), Cluster: optional(of.Cluster), Estimated: p.Estimated,
		InstanceFamily: optional(r.Family), Kind: r.Kind, Namespace: optional(r.Namespace), NodePool: optional(r.Pool), Workload: optional(r.Workload),
	}
	where := fmt.Sprintf("%s instances (%s) of NodePool %s", cmp.Or(r.Family, "EC2"), cmp.Or(string(r.CapacityType), "any capacity"), cmp.Or(r.Pool, spend.Other))
	switch r.Kind {
	case spend.Idle: // the part that is not allocated has no allocated resource
		out.ChargeDescription = "unused capacity of " + where
	case spend.Daemon:
		out.ChargeDescription = "pods of DaemonSets on " + where
		out.AllocatedResourceID, out.AllocatedResourceName = optional("daemonsets"), optional("DaemonSets")
		out.AllocatedTags = tags(map[string]any{tagPrefix + "kind": r.Kind})
	default:
		space := cmp.Or(r.Namespace, spend.Other)
		out.ChargeDescription = fmt.Sprintf("%s in namespace %s on %s", r.Workload, space, where)
		out.AllocatedResourceID, out.AllocatedResourceName = optional(space+"/"+r.Workload), optional(r.Workload)
		out.AllocatedTags = tags(map[string]any{tagPrefix + "kind": r.Kind, tagPrefix + "namespace": space, tagPrefix + "workload": r.Workload})
	}
	return out
}

// resource identifies what was rented: the origin of the split.
func resource(r *spend.Row, cluster string) string {
	parts := []string{"nodepool", cmp.Or(r.Pool, spend.Other), cmp.Or(r.Family, spend.Other), cmp.Or(string(r.CapacityType), spend.Other)}
	if cluster != "" {
		parts = append([]string{cluster}, parts...)
	}
	return strings.Join(parts, "/")
}

func labels(joined string) map[string]any {
	out := map[string]any{}
	for pair := range strings.SplitSeq(joined, ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			out[key] = value
		}
	}
	return out
}

// tags returns key-value pairs as JSON, with sorted keys.
func tags(pairs map[string]any) *string {
	if len(pairs) == 0 {
		return nil
	}
	text, err := json.Marshal(pairs)
	if err != nil { // strings can be encoded
		return nil
	}
	return optional(string(text))
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
