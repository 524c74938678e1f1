// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/deploy"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// The order is a cluster's history: objects are stored by a version of 5-Spot
// that checks nothing, then come the schemas, then the policies.
func TestMain(m *testing.M) {
	devplanetest.Main(m, schemasOf(lax), oldObjects, schemasOf(strict), installation, stranger, effective)
}

// laterVersion is served beside the version that we ship, as one day another
// will be.
const laterVersion = "v9"

// schemasOf is a Setup that installs our CustomResourceDefinitions, changed, and
// a later version of each.
func schemasOf(change func(*apiextensionsv1.CustomResourceDefinition)) devplanetest.Setup {
	return func(p *devplane.Plane) error {
		files, err := fs.Glob(deploy.FS, "crds/*_*.yaml")
		if err != nil {
			return err
		}
		for _, file := range files {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			text, err := fs.ReadFile(deploy.FS, file)
			if err == nil {
				err = yaml.UnmarshalStrict(text, crd)
			}
			if err != nil {
				return fmt.Errorf("reading %s: %w", file, err)
			}
			change(crd)
			if text, err = yaml.Marshal(crd); err != nil {
				return err
			}
			if err := devplanetest.Manifest(text)(p); err != nil {
				return err
			}
		}
		return nil
	}
}

// lax makes a schema that takes anything.
func lax(crd *apiextensionsv1.CustomResourceDefinition) {
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{
			Type: "object", XPreserveUnknownFields: new(true),
		}
		crd.Spec.Versions[i].AdditionalPrinterColumns = nil
	}
}

// strict leaves a schema as it is shipped, and serves it as a later version too.
func strict(crd *apiextensionsv1.CustomResourceDefinition) {
	later := crd.Spec.Versions[0].DeepCopy()
	later.Name, later.Storage = laterVersion, false
	crd.Spec.Versions = append(crd.Spec.Versions, *later)
}

// installation applies what of deploy/ has a say here.
func installation(p *devplane.Plane) error {
	files := []string{"controller/namespace.yaml", "controller/rbac.yaml", "controller/configmap.yaml"}
	policies, err := policyFiles()
	if err != nil {
		return err
	}
	return devplanetest.Deployed(append(files, policies...)...)(p)
}

func policyFiles() ([]string, error) {
	files, err := fs.Glob(deploy.FS, "admission/*.yaml")
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(file string) bool { return path.Base(file) == "kustomization.yaml" })
	if len(files) == 0 {
		return nil, errors.New("there are no policies in deploy/admission")
	}
	return files, nil
}

// stranger is a Setup that makes a user with no right but on ScheduledMachines.
func stranger(p *devplane.Plane) error {
	ctx, cancel := context.WithTimeout(context.Background(), devplanetest.Patience)
	defer cancel()
	c, err := client.New(p.Config(), client.Options{})
	if err != nil {
		return err
	}
	return grant(ctx, c, metav1.NamespaceDefault, mayOnlyWriteMachines, scheduledMachineRule)
}

// effective returns once each policy refuses what it is to refuse.
func effective(p *devplane.Plane) error {
	ctx, cancel := context.WithTimeout(context.Background(), devplanetest.Patience)
	defer cancel()
	c, err := client.New(p.Config(), client.Options{})
	if err != nil {
		return err
	}
	stranger, err := client.New(p.ImpersonatedConfig(mayOnlyWriteMachines, "system:authenticated"), client.Options{})
	if err != nil {
		return err
	}
	for policy, fault := range map[string]struct {
		by    client.Client
		patch string
		base  string
	}{
		"scheduledmachine-validation":       {c, `{"spec": {"machineTemplate": {"labels": {"k8s.io/x": ""}}}}`, smallestMachine},
		"scheduledmachine-allowed-groups":   {c, `{"spec": {"bootstrapSpec": {"apiVersion": "example.com/v1"}}}`, smallestMachine},
		"scheduledmachine-requester-rights": {stranger, `{}`, smallestMachine},
		"timebasedspotschedule-validation":  {c, `{"spec": {"exceptDates": ["2026-02-30"]}}`, smallestTimeBased},
		"capitalmarketsschedule-validation": {c, `{"spec": {"holidays": ["2026-02-30"]}}`, smallestMarkets},
	} {
		object, err := merged(fault.base, fault.patch)
		if err != nil {
			return err
		}
		object.SetNamespace(metav1.NamespaceDefault)
		if err := awaitRefused(ctx, fault.by, object, "'"+policy+"'"); err != nil {
			return fmt.Errorf("waiting for %s: %w", policy, err)
		}
	}
	return nil
}

// effectivePoll is between two questions: that a policy is known to the API
// server's admission has no event.
const effectivePoll = 20 * time.Millisecond

// awaitRefused returns once the creation of an object would be refused with a text.
func awaitRefused(ctx context.Context, c client.Client, object client.Object, text string) error {
	return await(ctx, func() error {
		err := c.Create(ctx, object.DeepCopyObject().(client.Object), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), text) {
			return fmt.Errorf("want it refused by %s, got: %w", text, err)
		}
		return nil
	})
}

// await asks until the answer is nil. Its error is the last answer.
func await(ctx context.Context, ask func() error) error {
	var answer error
	err := wait.PollUntilContextCancel(ctx, effectivePoll, true, func(context.Context) (bool, error) {
		answer = ask()
		return answer == nil, nil
	})
	if err != nil {
		return answer
	}
	return nil
}
