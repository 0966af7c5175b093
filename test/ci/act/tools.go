// Package tools names the program that the tests of the workflows run, so that go.mod and go.sum pin it.
//go:build tools

package tools

import _ "github.com/nektos/act"
