// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RestartPods returns a function for Options.Restart that deletes the pods of a
// namespace which a label selector chooses, and returns when they are gone. It is
// for a provider whose pods come back by themselves, as those of a Deployment do.
func RestartPods(config *rest.Config, namespace, selector string) func(context.Context) error {
	return func(ctx context.Context) error {
		chosen, err := labels.Parse(selector)
		if err != nil {
			return &OptionError{Option: "Restart", Problem: fmt.Sprintf("the selector of pods: %v", err)}
		}
		c, err := client.NewWithWatch(config, client.Options{Scheme: scheme.Scheme})
		if err != nil {
			return fmt.Errorf("making a client: %w", err)
		}
		options := []client.ListOption{client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: chosen}}
		pods := &corev1.PodList{}
		if err := c.List(ctx, pods, options...); err != nil {
			return fmt.Errorf("listing the provider's pods: %w", err)
		}
		if len(pods.Items) == 0 {
			return &OptionError{Option: "Restart", Problem: fmt.Sprintf("no pod in the namespace %s fits %s", namespace, selector)}
		}
		return replacePods(ctx, c, pods.Items)
	}
}

// replacePods deletes pods and waits until each is gone.
func replacePods(ctx context.Context, c client.WithWatch, pods []corev1.Pod) error {
	// All of a namespace, from before the first deletion: so no end is missed.
	watcher, err := c.Watch(ctx, &corev1.PodList{}, client.InNamespace(pods[0].Namespace))
	if err != nil {
		return fmt.Errorf("watching the provider's pods: %w", err)
	}
	defer watcher.Stop()
	left := map[types.UID]bool{}
	for _, pod := range pods {
		switch err := c.Delete(ctx, &pod, client.Preconditions{UID: &pod.UID}); {
		case apierrors.IsNotFound(err): // it ended before the watch, which then does not tell
		case err != nil:
			return fmt.Errorf("deleting a pod of the provider: %w", err)
		default:
			left[pod.UID] = true
		}
	}
	for len(left) > 0 {
		select {
		case event, open := <-watcher.ResultChan():
			if !open {
				return errors.New("the watch on the provider's pods ended")
			}
			if pod, ok := event.Object.(*corev1.Pod); ok && event.Type == watch.Deleted {
				delete(left, pod.UID)
			}
		case <-ctx.Done():
			return fmt.Errorf("waiting for the provider's pods to end: %w", context.Cause(ctx))
		}
	}
	return nil
}

// RestartCommand returns a function for Options.Restart that runs a command,
// which returns when the old process has ended. What it prints goes to output.
func RestartCommand(output io.Writer, name string, args ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		command := exec.CommandContext(ctx, name, args...)
		command.Stdout, command.Stderr = output, output
		if err := command.Run(); err != nil {
			return fmt.Errorf("the command that restarts the provider: %w", err)
		}
		return nil
	}
}
