package main

import "time"

// late bounds how long servers issue what a cap has no more room for: they count anew what the others have issued within
// five seconds, or within twenty times what a count takes, which is more where a fault or a busy machine holds up counts.
const late = int64(12 * time.Second)

// state is what an object is, as far as its model asks.
type state struct {
	version int
	value   string
	// used counts uses; a flag where an object can be used once.
	used int
	// maybe counts uses that may have had an effect.
	maybe int
	// full is when the last use was answered that there was room for.
	full int64
}

// step says whether the output is possible in this state, and what the state is after it. A nil output explains
// anything: the call may have had its effect, or none.
type step func(before state, in input, out *output) (bool, state)

// models maps the name of a kind of object to the law that its calls must keep.
var models = map[string]step{
	"register": register,
	"token":    token,
	"once":     once,
	"uses":     uses,
	"repeat":   repeat,
	"loan":     loan,
	"quota":    quota,
}

// register is a secret of version 2 of key-value: each write makes the next version, and check-and-set succeeds for the
// current version alone.
func register(before state, in input, out *output) (bool, state) {
	next := state{version: before.version + 1, value: in.Value}
	switch {
	case in.Op == "read":
		return out == nil || (out.Version == before.version && out.Value == before.value), before
	case in.Op == "write" && out == nil:
		return true, next
	case in.Op == "write":
		return out.Ok && out.Version == next.version, next
	case in.Op == "cas" && in.Expected != before.version:
		return out == nil || !out.Ok, before
	case in.Op == "cas" && out == nil:
		return true, next
	case in.Op == "cas":
		return out.Ok && out.Version == next.version, next
	}
	return false, before
}

// token lives until it is revoked, and never again.
func token(before state, in input, out *output) (bool, state) {
	switch in.Op {
	case "lookup":
		return out == nil || out.Ok == (before.used == 0), before
	case "revoke":
		return out == nil || out.Ok, state{used: 1}
	}
	return false, before
}

// once is a wrapping token: the first unwrapping succeeds, and no other.
func once(before state, _ input, out *output) (bool, state) {
	return out == nil || out.Ok == (before.used == 0), state{used: 1}
}

// uses is a secret id, good for a number of logins.
func uses(before state, in input, out *output) (bool, state) {
	left := before.used < in.Uses
	if !left {
		return out == nil || !out.Ok, before
	}
	return out == nil || out.Ok, state{used: before.used + 1}
}

// repeat is an idempotency key: all calls with it are answered by one lease.
func repeat(before state, _ input, out *output) (bool, state) {
	if out == nil || !out.Ok {
		return true, before
	}
	return before.value == "" || before.value == out.Value, state{value: out.Value}
}

// loan is a set with one account: it is lent to one borrower at a time. A loan of which nobody knows may be undone.
// A check-in brings back as many accounts as the version of its answer.
func loan(before state, in input, out *output) (bool, state) {
	switch {
	case in.Op == "check-in" && out != nil && out.Version == 0:
		return out.Ok, before
	case in.Op == "check-in":
		return out == nil || out.Ok, state{}
	case in.Op == "check-out" && before.used == 1:
		return out == nil || !out.Ok, before
	case in.Op == "check-out":
		return out == nil || out.Ok, state{used: 1, value: in.Value}
	case in.Op == "undo" && in.Value == before.value:
		return true, state{}
	case in.Op == "undo":
		return true, before
	}
	return false, before
}

// quota is a cap on leases of which none ends: nothing is refused while there is room, and soon after there is none all
// is refused, on every server.
func quota(before state, in input, out *output) (bool, state) {
	after := before
	if out == nil {
		after.maybe++
		return true, after
	}
	if !out.Ok {
		return before.used+before.maybe >= in.Uses, before
	}
	if before.used < in.Uses {
		after.used++
		after.full = max(after.full, in.ended)
		return true, after
	}
	return in.began <= before.full+late, before
}
