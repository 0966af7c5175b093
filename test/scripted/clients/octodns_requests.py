"""
Creates, plans again, changes and deletes addresses of a zone with a provider of octoDNS, unchanged: `octodns_requests.py CLASS OPTIONS COUNT`. OPTIONS are the
arguments of the class as JSON. After each of the four runs it asks the server for /mark, so that the server can tell the requests of the runs apart.
"""
import importlib
import json
import os
import ssl
import sys
import urllib.request

import direct_to  # noqa: F401
from octodns.record import Record
from octodns.zone import Zone

module, name = sys.argv[1].rsplit(".", 1)
options, count = json.loads(sys.argv[2]), int(sys.argv[3])
provider_class = getattr(importlib.import_module(module), name)
unchecked = ssl._create_unverified_context()
mark = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=unchecked))
direct_to.HOSTS.append("127.0.0.1")

for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2", None):
    zone = Zone("example.com.", [])
    zone.add_record(Record.new(zone, "", {"type": "TXT", "ttl": 3600, "value": "stays"}))
    for host in range(count if address else 0):
        zone.add_record(Record.new(zone, f"h{host}", {"type": "A", "ttl": 3600, "value": address}))
    # A new provider, which has read nothing yet.
    provider = provider_class("target", **options)
    plan = provider.plan(zone)
    if plan is not None and plan.changes:
        provider.apply(plan)
    mark.open(f"{os.environ['SERVER']}/mark").close()
