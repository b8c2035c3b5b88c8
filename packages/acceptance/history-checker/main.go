// Command history-checker reads a history of calls from its standard input, one JSON object a line, and decides for each
// object whether one order of its calls explains all answers (linearizability). It prints one JSON object: the number of
// calls and objects by model, and the objects that cannot be explained.
//
// It exits with 0 when all are explained, 1 when one is not, 2 when a check did not end in time, and 3 when the history
// cannot be read.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// budget bounds the check of one object.
const budget = 30 * time.Second

type verdict struct {
	Calls   map[string]int `json:"calls"`
	Objects map[string]int `json:"objects"`
	Illegal []string       `json:"illegal"`
	Unknown []string       `json:"unknown"`
}

func main() {
	calls, err := readHistory(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	found := check(calls)
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		os.Exit(3)
	}
	switch {
	case len(found.Illegal) > 0:
		os.Exit(1)
	case len(found.Unknown) > 0:
		os.Exit(2)
	}
}

func check(calls []call) verdict {
	found := verdict{Calls: map[string]int{}, Objects: map[string]int{}, Illegal: []string{}, Unknown: []string{}}
	objects := map[string][]call{}
	for _, one := range calls {
		name := one.Model + " " + one.Key
		objects[name] = append(objects[name], one)
		found.Calls[one.Model]++
	}
	names := make([]string, 0, len(objects))
	for name := range objects {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		history := objects[name]
		found.Objects[history[0].Model]++
		switch porcupine.CheckOperationsTimeout(modelOf(history[0].Model), operationsOf(history), budget) {
		case porcupine.Illegal:
			found.Illegal = append(found.Illegal, name)
		case porcupine.Unknown:
			found.Unknown = append(found.Unknown, name)
		}
	}
	return found
}

func modelOf(name string) porcupine.Model {
	law := models[name]
	return porcupine.Model{
		Init: func() any { return state{} },
		Step: func(before, in, out any) (bool, any) {
			return law(before.(state), in.(input), out.(*output))
		},
	}
}

// operationsOf lets a call without an answer end never: it may take effect at any later time, or after everything else,
// which is as good as not at all.
func operationsOf(history []call) []porcupine.Operation {
	operations := make([]porcupine.Operation, 0, len(history))
	for _, one := range history {
		end, out := one.Return, one.Output
		one.Input.began, one.Input.ended = one.Call, one.Return
		if end == 0 {
			end, out = math.MaxInt64, nil
		}
		operations = append(operations, porcupine.Operation{ClientId: one.Client, Input: one.Input, Call: one.Call, Output: out, Return: end})
	}
	return operations
}
