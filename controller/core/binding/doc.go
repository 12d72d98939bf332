// Package binding says which pods the scheduler will not bind to the nodes on which they
// are planned, because other pods were bound elsewhere than planned. The scheduler binds
// any pod to any node that admits it, so that a topology spread constraint or a pod
// affinity term that the plan kept may be broken by the time a pod's turn comes.
//
// It assumes that every pod which can be bound to its planned node will be. Where the
// pods that a constraint counts are those that have it, what is refused then is refused in
// any order of binding. Otherwise one order is tried.
package binding
