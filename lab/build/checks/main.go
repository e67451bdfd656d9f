// What those who receive a release check, by their own code: OLM's validators of a bundle, and the profiles of Pod Security.
//
//	checks bundle FOLDER        each finding on a line: "error: …" or "warning: …"
//	checks pods LEVEL < FILE    a JSON array of {"name", "metadata", "spec"} of pods; each violation on a line
//
// Both exit 1 where there is a finding.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: checks bundle FOLDER | checks pods LEVEL"))
	}
	var found []string
	var err error
	switch os.Args[1] {
	case "bundle":
		found, err = bundle(os.Args[2])
	case "pods":
		found, err = pods(os.Args[2])
	default:
		err = fmt.Errorf("%q is not a check", os.Args[1])
	}
	if err != nil {
		fail(err)
	}
	for _, line := range found {
		fmt.Println(line)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

func bundle(folder string) ([]string, error) {
	bundle, err := manifests.GetBundleFromDir(folder)
	if err != nil {
		return nil, err
	}
	// All but the community's, which is deprecated, and that of architectures, which calls Docker.
	validators := validation.DefaultBundleValidators.WithValidators(
		validation.OperatorHubV2Validator,
		validation.StandardCategoriesValidator,
		validation.StandardCapabilitiesValidator,
		validation.ObjectValidator,
		validation.AlphaDeprecatedAPIsValidator,
		validation.GoodPracticesValidator,
	)
	var found []string
	for _, result := range validators.Validate(bundle.ObjectsToValidate()...) {
		for _, one := range result.Errors {
			found = append(found, "error: "+one.Error())
		}
		for _, one := range result.Warnings {
			found = append(found, "warning: "+one.Error())
		}
	}
	return found, nil
}

type pod struct {
	Name     string            `json:"name"`
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     corev1.PodSpec    `json:"spec"`
}

func pods(level string) ([]string, error) {
	wanted, err := api.ParseLevel(level)
	if err != nil {
		return nil, err
	}
	var given []pod
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return nil, err
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, one := range given {
		results := evaluator.EvaluatePod(api.LevelVersion{Level: wanted, Version: api.LatestVersion()}, &one.Metadata, &one.Spec)
		for _, result := range results {
			if !result.Allowed {
				found = append(found, fmt.Sprintf("%s: %s: %s", one.Name, result.ForbiddenReason, result.ForbiddenDetail))
			}
		}
	}
	return found, nil
}
