// What lego does for a certificate, with one of its DNS providers, unchanged. `PROVIDER present NAME…` adds a TXT record for each of these names,
// `PROVIDER cleanup NAME…` removes it, `PROVIDER both NAME…` does one after the other. The name server in RESOLVER finds the zone. All connections lead to the server at
// SERVER, if that is set.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/go-acme/lego/v5/challenge"
	"github.com/go-acme/lego/v5/challenge/dns01"
	"github.com/go-acme/lego/v5/providers/dns/gandiv5"
	"github.com/go-acme/lego/v5/providers/dns/linode"
	"github.com/go-acme/lego/v5/providers/dns/ovh"
	"github.com/go-acme/lego/v5/providers/dns/porkbun"
	"github.com/go-acme/lego/v5/providers/dns/vultr"
)

var providers = map[string]func() (challenge.Provider, error){
	"gandiv5": func() (challenge.Provider, error) { return gandiv5.NewDNSProvider() },
	"linode":  func() (challenge.Provider, error) { return linode.NewDNSProvider() },
	"ovh":     func() (challenge.Provider, error) { return ovh.NewDNSProvider() },
	"porkbun": func() (challenge.Provider, error) { return porkbun.NewDNSProvider() },
	"vultr":   func() (challenge.Provider, error) { return vultr.NewDNSProvider() },
}

func main() {
	if server := os.Getenv("SERVER"); server != "" {
		http.DefaultTransport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server)
		}
	}
	options := dns01.NewOptions()
	options.RecursiveNameservers = []string{os.Getenv("RESOLVER")}
	dns01.SetDefaultClient(dns01.NewClient(options))
	provider, err := providers[os.Args[1]]()
	check(err)
	present, cleanup := provider.Present, provider.CleanUp
	steps := map[string][]func(context.Context, string, string, string) error{"present": {present}, "cleanup": {cleanup}, "both": {present, cleanup}}
	for _, step := range steps[os.Args[2]] {
		for index, name := range os.Args[3:] {
			// Some providers find their record by the token.
			check(step(context.Background(), name, fmt.Sprint("token", index), fmt.Sprint("key", index)))
		}
	}
	fmt.Println("null")
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
