//go:build tools

// Package tools names what is built from this module: the Kubernetes provider as released, the local control plane, and
// the oldest engine that is supported. They agree on their dependencies, so what they share is compiled once.
package tools

import (
	_ "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	_ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
)
