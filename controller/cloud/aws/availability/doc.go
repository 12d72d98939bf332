// Package availability knows what of the region's offer cannot be had at the moment, or
// only here: offerings that EC2 found sold out a moment ago (Shortage), capacity
// reservations with free places (Reservations), and zones that the cluster is shifted
// away from (ZonalShifts). Each applies to a catalogue without changing the one it is
// given.
//
// Not here: types and prices (package market).
package availability
