// What programs that wait make of objects, by their own code: kstatus, which Flux and Helm 4 share; Flux with its
// healthCheckExprs; and the Lua of Argo CD, set up as Argo CD sets it up. Reads a case as JSON, prints a verdict an object.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling/engine"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
	"sigs.k8s.io/yaml"
)

type request struct {
	// YAML of a part of the spec of a Kustomization of Flux.
	Flux string `json:"flux"`
	// A script a kind.
	Scripts map[string]string           `json:"scripts"`
	Objects []unstructured.Unstructured `json:"objects"`
}

type kustomization struct {
	Wait             bool                          `json:"wait"`
	HealthCheckExprs []kustomize.CustomHealthCheck `json:"healthCheckExprs"`
}

type health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

type verdict struct {
	Kstatus health `json:"kstatus"`
	Flux    health `json:"flux"`
	Argo    health `json:"argo"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(from io.Reader, to io.Writer) error {
	var asked request
	if err := json.NewDecoder(from).Decode(&asked); err != nil {
		return err
	}
	reader, err := fluxReader(asked.Flux)
	if err != nil {
		return err
	}
	verdicts := make([]verdict, 0, len(asked.Objects))
	for index := range asked.Objects {
		object := &asked.Objects[index]
		said, err := judge(object, reader, asked.Scripts)
		if err != nil {
			return fmt.Errorf("object %d: %w", index, err)
		}
		verdicts = append(verdicts, said)
	}
	return json.NewEncoder(to).Encode(verdicts)
}

func judge(object *unstructured.Unstructured, flux engine.StatusReader, scripts map[string]string) (verdict, error) {
	computed, err := status.Compute(object)
	if err != nil {
		return verdict{}, fmt.Errorf("kstatus: %w", err)
	}
	said := verdict{Kstatus: health{Status: computed.Status.String(), Message: computed.Message}}
	read, err := flux.ReadStatusForObject(context.Background(), nil, object)
	if err != nil {
		return verdict{}, fmt.Errorf("flux: %w", err)
	}
	said.Flux = health{Status: read.Status.String(), Message: read.Message}
	if read.Error != nil {
		said.Flux.Message = read.Error.Error()
	}
	if said.Argo, err = argo(object, scripts); err != nil {
		return verdict{}, fmt.Errorf("argo: %w", err)
	}
	return said, nil
}

// As kustomize-controller makes it from a Kustomization; a field that Flux does not know is an error.
func fluxReader(text string) (engine.StatusReader, error) {
	var spec kustomization
	if err := yaml.UnmarshalStrict([]byte(text), &spec); err != nil {
		return nil, err
	}
	make, err := cel.NewStatusReader(spec.HealthCheckExprs)
	if err != nil {
		return nil, err
	}
	// It is for finding the objects of others, which a reader of single objects does not do.
	return make(nil), nil
}

// Argo CD calls what is being deleted progressing before it asks a script.
func argo(object *unstructured.Unstructured, scripts map[string]string) (health, error) {
	if object.GetDeletionTimestamp() != nil {
		return health{Status: "Progressing", Message: "Pending deletion"}, nil
	}
	script, known := scripts[object.GetKind()]
	if !known {
		return health{}, fmt.Errorf("there is no script for %s", object.GetKind())
	}
	state, err := sandbox()
	if err != nil {
		return health{}, err
	}
	defer state.Close()
	limited, end := context.WithTimeout(context.Background(), time.Second)
	defer end()
	state.SetContext(limited)
	state.SetGlobal("obj", inLua(state, object.Object))
	if err := state.DoString(script); err != nil {
		return health{}, err
	}
	answer, isTable := state.Get(-1).(*lua.LTable)
	if !isTable {
		return health{}, errors.New("the script returned no table")
	}
	text, err := luajson.Encode(answer)
	if err != nil {
		return health{}, err
	}
	var said health
	return said, json.Unmarshal(text, &said)
}

// The libraries that scripts of argocd-cm get: no string, no io, no math. Argo CD adds os.time and os.date of its own; here
// a script that asks for them fails.
func sandbox() (*lua.LState, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	libraries := []struct {
		name string
		open lua.LGFunction
	}{
		{lua.LoadLibName, lua.OpenPackage},
		{lua.BaseLibName, lua.OpenBase},
		{lua.TabLibName, lua.OpenTable},
	}
	for _, library := range libraries {
		call := lua.P{Fn: state.NewFunction(library.open), Protect: true}
		if err := state.CallByParam(call, lua.LString(library.name)); err != nil {
			state.Close()
			return nil, err
		}
	}
	return state, nil
}

// A null becomes nil, which a table of Lua does not hold: to a script the field is absent.
func inLua(state *lua.LState, value any) lua.LValue {
	switch known := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for name, inside := range known {
			table.RawSetString(name, inLua(state, inside))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, inside := range known {
			table.Append(inLua(state, inside))
		}
		return table
	case string:
		return lua.LString(known)
	case bool:
		return lua.LBool(known)
	case int64:
		return lua.LNumber(known)
	case float64:
		return lua.LNumber(known)
	}
	return lua.LNil
}
