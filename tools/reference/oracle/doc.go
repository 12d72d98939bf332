// Package oracle runs Karpenter's own scheduler on a cluster in memory, and says where
// it puts the pods and which nodes its consolidation would remove.
//
// Karpenter reads its objects from a client and from its cluster state. Both are filled
// once from a World: the client is controller-runtime's in-memory client, which nothing
// else in this repository may use, because Karpenter only lists from it here. Instance
// types come from a cloud provider that launches nothing.
package oracle
