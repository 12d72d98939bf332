package policy

import "spokeshave.dev/sdk/abi"

// Spend is what a scope spends: see abi.ScopeRow for the fields.
type Spend = abi.ScopeRow

// Launch is a node that the plan would launch: see abi.LaunchRow for the
// fields. Its texts come from Launches.
type Launch = abi.LaunchRow

// Scopes are the scopes in play: "cluster", "nodepool/<name>",
// "label/<key>=<value>" and "namespace/<name>".
type Scopes struct{ s *session }

// Call is the decision's time and seed.
func (c Scopes) Call() Call { return Call(c) }

// Len is the number of scopes.
func (c Scopes) Len() int { return int(c.s.batch.Pool.Count) }

// At is scope i. It must not be changed.
func (c Scopes) At(i int) *Spend { return (*Spend)(c.s.row(&c.s.batch.Pool, i)) }

// Name is the name of scope i.
func (c Scopes) Name(i int) string { return c.s.text(c.At(i).Scope) }

// Launches are the launches to review; there are none before the solve.
type Launches struct{ s *session }

// Len is the number of launches.
func (l Launches) Len() int { return int(l.s.batch.Rows.Count) }

// At is launch i. It must not be changed.
func (l Launches) At(i int) *Launch { return (*Launch)(l.s.row(&l.s.batch.Rows, i)) }

// Text is the text of a string id, such as Launch.Zone.
func (l Launches) Text(id uint32) string { return l.s.text(id) }

// NodePool is the name of launch i's NodePool.
func (l Launches) NodePool(i int) string { return l.s.text(l.At(i).Pool) }

// PoolLabels are the labels of launch i's NodePool.
func (l Launches) PoolLabels(i int) Labels {
	row := l.At(i)
	return Labels{l.s, row.PoolLabelsFirst, row.PoolLabelsCount}
}

// Namespaces are the namespaces of launch i's pods, as keys without a value.
func (l Launches) Namespaces(i int) Labels {
	row := l.At(i)
	return Labels{l.s, row.NamespacesFirst, row.NamespacesCount}
}

// Caps are the answers: caps by scope and refusals by launch.
type Caps struct{ s *session }

func (c Caps) at(i int) *abi.CeilingOut { return (*abi.CeilingOut)(c.s.row(&c.s.batch.Out, i)) }

// Hourly caps scope i at USD per hour.
func (c Caps) Hourly(scope int, usd float64) {
	out := c.at(scope)
	out.HourlyUSD, out.Flags = usd, out.Flags|abi.CeilingHourly
}

// Monthly caps scope i at USD per month, months in UTC.
func (c Caps) Monthly(scope int, usd float64) {
	out := c.at(scope)
	out.MonthlyUSD, out.Flags = usd, out.Flags|abi.CeilingMonthly
}

// Soft makes the caps of scope i warn instead of refuse.
func (c Caps) Soft(scope int) { c.at(scope).Flags |= abi.CeilingSoft }

// soft is the soft cap beside the caps of a scope: they follow the launches.
func (c Caps) soft(scope int) *abi.CeilingOut {
	return c.at(int(c.s.batch.Pool.Count) + int(c.s.batch.Rows.Count) + scope)
}

// SoftHourly warns from USD per hour on, beside the caps of scope i.
func (c Caps) SoftHourly(scope int, usd float64) {
	out := c.soft(scope)
	out.HourlyUSD, out.Flags = usd, out.Flags|abi.CeilingHourly
}

// SoftMonthly warns from USD per month on, months in UTC, beside the caps of
// scope i.
func (c Caps) SoftMonthly(scope int, usd float64) {
	out := c.soft(scope)
	out.MonthlyUSD, out.Flags = usd, out.Flags|abi.CeilingMonthly
}

// Deny refuses launch i.
func (c Caps) Deny(launch int, reason string) {
	out := c.at(int(c.s.batch.Pool.Count) + launch)
	out.Flags, out.Reason = abi.CeilingDeny, c.s.reason(reason)
}
