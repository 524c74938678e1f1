// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Each rule that a hardened pod meets.
func TestPodsAreHardened(t *testing.T) {
	is := func(field *bool, want bool) bool { return field != nil && *field == want }
	rules := map[string]func(pod corev1.PodSpec, c corev1.Container) bool{
		"runs as a user that is not root": func(pod corev1.PodSpec, c corev1.Container) bool {
			return is(pod.SecurityContext.RunAsNonRoot, true) && is(c.SecurityContext.RunAsNonRoot, true)
		},
		"runs as user 65534": func(pod corev1.PodSpec, c corev1.Container) bool {
			user := pod.SecurityContext.RunAsUser
			return user != nil && *user == 65534 && c.SecurityContext.RunAsUser == nil
		},
		"runs in group 65534": func(pod corev1.PodSpec, c corev1.Container) bool {
			group := pod.SecurityContext.RunAsGroup
			return group != nil && *group == 65534 && c.SecurityContext.RunAsGroup == nil
		},
		"has a read-only root filesystem": func(_ corev1.PodSpec, c corev1.Container) bool {
			return is(c.SecurityContext.ReadOnlyRootFilesystem, true)
		},
		"drops all capabilities": func(_ corev1.PodSpec, c corev1.Container) bool {
			capabilities := c.SecurityContext.Capabilities
			return capabilities != nil && slices.Equal(capabilities.Drop, []corev1.Capability{"ALL"})
		},
		"adds no capability": func(_ corev1.PodSpec, c corev1.Container) bool {
			return c.SecurityContext.Capabilities != nil && len(c.SecurityContext.Capabilities.Add) == 0
		},
		"is under the runtime's default seccomp profile": func(pod corev1.PodSpec, c corev1.Container) bool {
			profile := pod.SecurityContext.SeccompProfile
			return profile != nil && profile.Type == corev1.SeccompProfileTypeRuntimeDefault && c.SecurityContext.SeccompProfile == nil
		},
		"cannot gain privileges": func(_ corev1.PodSpec, c corev1.Container) bool {
			return is(c.SecurityContext.AllowPrivilegeEscalation, false) && is(c.SecurityContext.Privileged, false)
		},
		"shares nothing with its host": func(pod corev1.PodSpec, c corev1.Container) bool {
			shares := pod.HostNetwork || pod.HostPID || pod.HostIPC
			return !shares && !slices.ContainsFunc(c.Ports, func(port corev1.ContainerPort) bool { return port.HostPort != 0 })
		},
		"mounts no directory of its host": func(pod corev1.PodSpec, _ corev1.Container) bool {
			return !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil })
		},
		"asks for CPU and memory": func(_ corev1.PodSpec, c corev1.Container) bool {
			return !c.Resources.Requests.Cpu().IsZero() && !c.Resources.Requests.Memory().IsZero()
		},
		"has a bound on its memory": func(_ corev1.PodSpec, c corev1.Container) bool {
			return !c.Resources.Limits.Memory().IsZero()
		},
		"has an account of its own": func(pod corev1.PodSpec, _ corev1.Container) bool {
			return pod.ServiceAccountName != "" && pod.ServiceAccountName != "default"
		},
		"does not learn of other services by its environment": func(pod corev1.PodSpec, _ corev1.Container) bool {
			return is(pod.EnableServiceLinks, false)
		},
		"has no secret in its environment": func(_ corev1.PodSpec, c corev1.Container) bool {
			return len(c.EnvFrom) == 0 && !slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool {
				return v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil
			})
		},
		"is asked whether it lives, at /healthz": func(_ corev1.PodSpec, c corev1.Container) bool {
			return probes(c, c.LivenessProbe, "/healthz")
		},
		"is asked whether it is ready, at /readyz": func(_ corev1.PodSpec, c corev1.Container) bool {
			return probes(c, c.ReadinessProbe, "/readyz")
		},
		"serves metrics on 8080 and health on 8081": func(_ corev1.PodSpec, c corev1.Container) bool {
			return port(c, "metrics") == 8080 && port(c, "health") == 8081
		},
		"runs an image of a version": func(_ corev1.PodSpec, c corev1.Container) bool {
			return regexp.MustCompile(`^ghcr\.io/fivespot/fivespot:v\d+\.\d+\.\d+$`).MatchString(c.Image)
		},
	}
	for _, c := range containers(t) {
		if c.pod.SecurityContext == nil || c.SecurityContext == nil {
			t.Errorf("%v has no security context", c)
			continue
		}
		for rule, met := range rules {
			if !met(c.pod, c.Container) {
				t.Errorf("%v breaks the rule: it %s", c, rule)
			}
		}
	}
}

func probes(c corev1.Container, probe *corev1.Probe, path string) bool {
	return probe != nil && probe.HTTPGet != nil && probe.HTTPGet.Path == path &&
		probe.HTTPGet.Port.StrVal == "health" && port(c, "health") != 0
}

// port is the number of a container's named port; 0 when it has none.
func port(c corev1.Container, name string) int32 {
	for _, port := range c.Ports {
		if port.Name == name {
			return port.ContainerPort
		}
	}
	return 0
}

// What a container runs is in the image, and takes the flags that it is given.
func TestImageHasWhatContainersRun(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	containerfile := string(text)
	for _, c := range containers(t) {
		if len(c.Command) != 1 || filepath.Dir(c.Command[0]) != "/" {
			t.Errorf("%v runs %q, want one program at the root of the image", c, c.Command)
			continue
		}
		program := filepath.Base(c.Command[0])
		for _, line := range []string{"./cmd/" + program + " ", "COPY --from=build /out/" + program + " /" + program + "\n"} {
			if !strings.Contains(containerfile+" ", line) {
				t.Errorf("%v runs %s: Containerfile has no %q", c, c.Command[0], line)
			}
		}
		if _, err := os.Stat(filepath.Join(root, "cmd", program, "main.go")); err != nil {
			t.Errorf("%v runs %s: %v", c, c.Command[0], err)
		}
		binary := filepath.Join(root, "bin", program)
		if _, err := os.Stat(binary); err != nil {
			t.Fatalf("%s is missing: run `make build`", binary)
		}
		// With --help last, a program reads its flags and does nothing.
		output, err := exec.CommandContext(t.Context(), binary, append(slices.Clone(c.Args), "--help")...).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s does not take %q: %v\n%s", c, program, c.Args, err, output)
		}
	}
}

// The image runs as the user that pods run as, with nothing but our programs
// and the certificates that TLS needs.
func TestContainerfile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	_, image, found := strings.Cut(string(text), "\nFROM scratch\n")
	if !found {
		t.Fatal("the image is not made from scratch")
	}
	for _, want := range []string{"\nUSER 65534:65534\n", "/etc/ssl/certs/ca-certificates.crt"} {
		if !strings.Contains(image, want) {
			t.Errorf("the image has no %q", want)
		}
	}
	programs, err := filepath.Glob(filepath.Join(root, "cmd", "*", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, main := range programs {
		program := filepath.Base(filepath.Dir(main))
		if !strings.Contains(image, " /"+program+"\n") {
			t.Errorf("the image has no /%s", program)
		}
	}
	if strings.Contains(string(text), "CGO_ENABLED=1") || !strings.Contains(string(text), "CGO_ENABLED=0") {
		t.Error("the programs are not linked statically")
	}
}
