// Records what Go's text/template makes of the templates in ../go-cases.json, and writes the file again.
//
//	go run record.go            records
//	go run record.go -check     fails where a recorded result is not what this Go gives
//
// The language and its built-in functions are Go's own. The functions below are written from OpenBao's documentation of
// username templates. The clock stands still and the random source repeats itself, as in go-cases.test.ts.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode/utf16"
)

type Data struct {
	DisplayName, RoleName, Empty, Uni string
	N, Neg, Zero                      int
	F                                 float64
	Yes, No                           bool
	List, None                        []string
	Nums                              []int
	M                                 map[string]any
	Nested                            struct{ A struct{ B string } }
	Nil                               any
}

var now = time.Date(2024, 3, 5, 7, 8, 9, 12_000_000, time.UTC)

func data() Data {
	d := Data{
		DisplayName: "token-with-long-name", RoleName: "Read Only", Uni: "grüße日本",
		N: 42, Neg: -7, F: 3.14159, Yes: true,
		List: []string{"a", "b", "c"}, None: []string{}, Nums: []int{3, 1, 2},
		M: map[string]any{"k": "v", "j": "w"},
	}
	d.Nested.A.B = "deep"
	return d
}

func firstBytes(text string, length int) string {
	if len(text) <= length {
		return text
	}
	end := 0
	for i, r := range text {
		if i+len(string(r)) > length {
			break
		}
		end = i + len(string(r))
	}
	return text[:end]
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

var functions = template.FuncMap{
	"random": func(length int) (string, error) {
		if length < 0 {
			return "", fmt.Errorf("length must be >= 0 but was %d", length)
		}
		return strings.Repeat("r", length), nil
	},
	"truncate": func(length int, text string) (string, error) {
		if length <= 0 {
			return "", fmt.Errorf("max length must be > 0 but was %d", length)
		}
		return firstBytes(text, length), nil
	},
	"truncate_sha256": func(length int, text string) (string, error) {
		if length <= 8 {
			return "", fmt.Errorf("max length must be > 8 but was %d", length)
		}
		if len(text) <= length {
			return text, nil
		}
		kept := firstBytes(text, length-8)
		return kept + hash(text[len(kept):])[:8], nil
	},
	"uppercase": strings.ToUpper,
	"lowercase": strings.ToLower,
	"replace":   func(from, to, text string) string { return strings.ReplaceAll(text, from, to) },
	"sha256":    hash,
	"base64":    func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) },
	"decode_base64": func(text string) (string, error) {
		plain, err := base64.StdEncoding.DecodeString(text)
		return string(plain), err
	},
	"hex": func(text string) string { return hex.EncodeToString([]byte(text)) },
	"decode_hex": func(text string) (string, error) {
		plain, err := hex.DecodeString(text)
		return string(plain), err
	},
	"unix_time":        func() string { return strconv.FormatInt(now.Unix(), 10) },
	"unix_time_millis": func() string { return strconv.FormatInt(now.UnixMilli(), 10) },
	"timestamp":        func(layout string) string { return now.Format(layout) },
	"glob":             func(pattern, value string) (bool, error) { return path.Match(pattern, value) },
	"utf16le": func(text string) string {
		var out bytes.Buffer
		for _, unit := range utf16.Encode([]rune(text)) {
			out.Write([]byte{byte(unit), byte(unit >> 8)})
		}
		return out.String()
	},
}

// render gives the kind of the result, and the text or the error.
func render(source string) (string, string) {
	compiled, err := template.New("template").Funcs(functions).Parse(source)
	if err != nil {
		return "syntax", err.Error()
	}
	var out bytes.Buffer
	if err := compiled.Execute(&out, data()); err != nil {
		var exec template.ExecError
		if !errors.As(err, &exec) {
			panic(err)
		}
		return "render", err.Error()
	}
	return "output", out.String()
}

func main() {
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	text, err := os.ReadFile("../go-cases.json")
	if err != nil {
		panic(err)
	}
	var cases struct {
		Output [][2]string `json:"output"`
		Syntax [][2]string `json:"syntax"`
		Render [][2]string `json:"render"`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		panic(err)
	}
	recorded := map[string][][2]string{"output": cases.Output, "syntax": cases.Syntax, "render": cases.Render}
	different := 0
	for kind, list := range recorded {
		for i, one := range list {
			found, result := render(one[0])
			if found != kind || result != one[1] {
				different++
				fmt.Printf("%q: recorded %s %q, Go gives %s %q\n", one[0], kind, one[1], found, result)
			}
			list[i][1] = result
		}
	}
	if *check {
		if different > 0 {
			os.Exit(1)
		}
		return
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(cases); err != nil {
		panic(err)
	}
	if err := os.WriteFile("../go-cases.json", out.Bytes(), 0o644); err != nil {
		panic(err)
	}
}
