// SPDX-License-Identifier: Apache-2.0

// Devplane is a Kubernetes control plane in one process, for development and
// for tests: etcd, kube-apiserver and those controllers without which objects
// do not live and die as they do in a real cluster (garbage collector,
// namespaces, service accounts and their tokens, the root CA's config maps,
// aggregated cluster roles and, if asked for, disruption budgets).
//
// There is no scheduler, no kubelet and no workload controller: a Pod stays
// Pending and a Deployment makes no Pods.
//
// It listens on loopback only. Everything it keeps, keys included, is in one
// directory that only its owner may read; a restart on the same directory
// keeps data, certificates and tokens valid.
//
// This is the only module that may import k8s.io/kubernetes.
package main
