// Records what clients of an etcd cluster see, and judges the recording with etcd's own robustness checkers. The recorder
// exists because etcd's has neither TLS nor a login; both programs read and write etcd's own report format.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

const usage = `robustness record --endpoints URL,URL --out DIR [--duration 6s] [--help for the rest]
robustness judge DIR [--data DIR]... [--help for the rest]`

// What a program ends with: 1 means that a check failed, or that the recording is not worth judging.
const (
	exitFine     = 0
	exitFailed   = 1
	exitUnusable = 2
)

var errUsage = errors.New(usage)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func run(args []string) (int, error) {
	if len(args) == 0 {
		return exitUnusable, errUsage
	}
	switch args[0] {
	case "record":
		return record(args[1:])
	case "judge":
		return judge(args[1:])
	}
	return exitUnusable, errUsage
}

// One line, so that a caller reads it without knowing where it ends.
func printLine(to *os.File, value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(to, string(line))
	return err
}
