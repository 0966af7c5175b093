// Drives linodego, unchanged, for linodego.test.ts. `operations` prints the requests that each exported method of the client makes, found by
// reflection against a transport that answers everything. `walk` uses the client on a running service and prints the requests of each method.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"

	"github.com/linode/linodego"
)

// recorder notes for every request the exported methods of the client on its call stack.
type recorder struct {
	next http.RoundTripper
	lock sync.Mutex
	// Requests by method of the client, such as "GET /v4/domains 200".
	seen map[string][]string
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	names := operationsOnStack()
	response, err := r.next.RoundTrip(request)
	status := 0
	if err == nil {
		status = response.StatusCode
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, name := range names {
		r.seen[name] = append(r.seen[name], fmt.Sprintf("%s %s %d", request.Method, request.URL.EscapedPath(), status))
	}
	return response, err
}

func operationsOnStack() []string {
	callers := make([]uintptr, 200)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	found := []string{}
	for {
		frame, more := frames.Next()
		for _, receiver := range []string{"linodego.(*Client).", "linodego.Client."} {
			if _, name, ok := strings.Cut(frame.Function, receiver); ok {
				name, _, _ = strings.Cut(name, ".")
				if name[0] >= 'A' && name[0] <= 'Z' {
					found = append(found, name)
				}
			}
		}
		if !more {
			return found
		}
	}
}

func newClient(next http.RoundTripper) (*linodego.Client, *recorder) {
	transport := &recorder{next: next, seen: map[string][]string{}}
	client := linodego.NewClient(&http.Client{Transport: transport})
	return &client, transport
}

func main() {
	var result any
	switch os.Args[1] {
	case "operations":
		result = operations()
	case "walk":
		result = walk()
	}
	json.NewEncoder(os.Stdout).Encode(result)
}

func sortedNames(names []string) []string {
	sort.Strings(names)
	return names
}
