package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// call is one line of a history: what a client asked, when, and what it was told. Times are in nanoseconds of one
// monotonic clock.
type call struct {
	Model  string `json:"model"`
	Key    string `json:"key"`
	Client int    `json:"client"`
	Call   int64  `json:"call"`
	// Return is 0 where there was no answer, or one that says nothing about the effect.
	Return int64   `json:"return"`
	Input  input   `json:"input"`
	Output *output `json:"output"`
}

// input is what a client asked for. Which fields count depends on the operation.
type input struct {
	Op       string `json:"op"`
	Value    string `json:"value"`
	Expected int    `json:"expected"`
	// Uses is how often the object of the call can be used in all.
	Uses int `json:"uses"`
	// began and ended are the times of the call, for laws that know of time; ended is 0 where there was no answer.
	began int64
	ended int64
}

// output is what a client was told.
type output struct {
	Ok      bool   `json:"ok"`
	Version int    `json:"version"`
	Value   string `json:"value"`
}

// readHistory reads one JSON object a line.
func readHistory(source io.Reader) ([]call, error) {
	var calls []call
	lines := bufio.NewScanner(source)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		var one call
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if _, known := models[one.Model]; !known {
			return nil, fmt.Errorf("line %d: there is no model %q", number, one.Model)
		}
		calls = append(calls, one)
	}
	return calls, lines.Err()
}
