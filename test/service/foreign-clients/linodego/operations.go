package main

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/linode/linodego"
)

// answerAll answers every request with an empty page.
type answerAll struct{}

func (answerAll) RoundTrip(request *http.Request) (*http.Response, error) {
	header := http.Header{"Content-Type": {"application/json"}}
	body := io.NopCloser(strings.NewReader(`{"data":[],"page":1,"pages":1,"results":0,"id":1}`))
	return &http.Response{StatusCode: 200, Header: header, Body: body, Request: request}, nil
}

type requestsOfMethod struct {
	Name     string   `json:"name"`
	Requests []string `json:"requests"`
}

func operations() []requestsOfMethod {
	methods := reflect.TypeFor[*linodego.Client]()
	found := []requestsOfMethod{}
	for index := range methods.NumMethod() {
		client, transport := newClient(answerAll{})
		client.SetPollDelay(5 * time.Millisecond)
		name := methods.Method(index).Name
		call(reflect.ValueOf(client).Method(index))
		found = append(found, requestsOfMethod{name, append([]string{}, transport.seen[name]...)})
	}
	return found
}

// call calls a method with an argument of each type, for at most a few polls. A method that panics on them has made its request by then, if any.
func call(method reflect.Value) {
	defer func() { _ = recover() }()
	limited, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	arguments := []reflect.Value{}
	for index := range method.Type().NumIn() {
		if method.Type().IsVariadic() && index == method.Type().NumIn()-1 {
			break
		}
		arguments = append(arguments, argumentOf(limited, method.Type().In(index)))
	}
	method.Call(arguments)
}

func argumentOf(limited context.Context, kind reflect.Type) reflect.Value {
	switch {
	case kind == reflect.TypeFor[context.Context]():
		return reflect.ValueOf(limited)
	case kind == reflect.TypeFor[io.Reader]():
		return reflect.ValueOf(strings.NewReader("data"))
	case kind.Kind() == reflect.Int:
		return reflect.ValueOf(999999999).Convert(kind)
	case kind.Kind() == reflect.String:
		return reflect.ValueOf("probe").Convert(kind)
	case kind.Kind() == reflect.Pointer && kind.Elem().Kind() == reflect.Struct && !strings.HasSuffix(kind.Elem().Name(), "ListOptions"):
		return reflect.New(kind.Elem())
	}
	return reflect.Zero(kind)
}
