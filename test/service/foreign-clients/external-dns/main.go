// Reconciles a zone as external-dns does in each of its rounds, with its registry of TXT records and its provider for the hosting service, unchanged. Reads
// a JSON list of `{"name", "type", "ttl", "targets"}` and prints the changes that it makes, such as "create A www.walk.example".
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns"
	"sigs.k8s.io/external-dns/plan"
	"sigs.k8s.io/external-dns/provider/linode"
	"sigs.k8s.io/external-dns/registry/txt"
)

var types = []string{endpoint.RecordTypeA, endpoint.RecordTypeAAAA, endpoint.RecordTypeCNAME, endpoint.RecordTypeTXT}

func main() {
	var wanted []struct {
		Name    string
		Type    string
		TTL     endpoint.TTL
		Targets []string
	}
	check(json.NewDecoder(os.Stdin).Decode(&wanted))
	desired := []*endpoint.Endpoint{}
	for _, one := range wanted {
		desired = append(desired, endpoint.NewEndpointWithTTL(one.Name, one.Type, one.TTL, one.Targets...))
	}

	ctx := context.Background()
	config := &externaldns.Config{TXTOwnerID: "walk", ManagedDNSRecordTypes: types}
	filter := endpoint.NewDomainFilter([]string{os.Args[1]})
	provider, err := linode.New(ctx, config, filter)
	check(err)
	registry, err := txt.New(config, provider)
	check(err)
	current, err := registry.Records(ctx)
	check(err)
	desired, err = registry.AdjustEndpoints(desired)
	check(err)
	round := plan.Plan{
		Policies:       []plan.Policy{&plan.SyncPolicy{}},
		Current:        current,
		Desired:        desired,
		DomainFilter:   endpoint.MatchAllDomainFilters{filter},
		ManagedRecords: types,
		OwnerID:        registry.OwnerID(),
	}
	changes := round.Calculate().Changes
	if changes.HasChanges() {
		check(registry.ApplyChanges(ctx, changes))
	}
	lines := []string{}
	for _, kind := range []struct {
		name      string
		endpoints []*endpoint.Endpoint
	}{{"create", changes.Create}, {"update", changes.UpdateNew}, {"delete", changes.Delete}} {
		for _, one := range kind.endpoints {
			lines = append(lines, fmt.Sprint(kind.name, " ", one.RecordType, " ", one.DNSName))
		}
	}
	json.NewEncoder(os.Stdout).Encode(lines)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
