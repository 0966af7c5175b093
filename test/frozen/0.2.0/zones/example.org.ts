import { A, NS, spf, TXT, zone } from 'zonewright/definition'

zone('example.org', { soa_email: 'hostmaster@example.org' }, [
  NS('@', 'ns1.example.net.'),
  [1, 2, 3].map((n) => A(`host${n}`, `192.0.2.1${n}`, { ttl: 300 })),
  TXT('@', spf({ ip4: '192.0.2.0/24', all: '-all' })),
])
