//go:build tools

// Package tools names what is built from this module: the newest Kubernetes provider that the Go module registry serves,
// a commit between the releases 4.27.0 and 4.28.0. It needs newer Kubernetes libraries than kube-apiserver 1.33.
package tools

import _ "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
