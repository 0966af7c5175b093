"""
Creates, changes and deletes the records of a zone with a provider of octoDNS, unchanged: `octodns_walk.py CLASS OPTIONS STATES`. OPTIONS are the arguments
of the class and STATES the contents of the zone one after another, both JSON: a state has lists of records by name, as octoDNS's own files have them.
Prints the number of changes to each state; after each, another plan must be empty.
"""
import importlib
import json
import sys

import direct_to  # noqa: F401
from octodns.record import Record
from octodns.zone import Zone

module, name = sys.argv[1].rsplit(".", 1)
options, states = json.loads(sys.argv[2]), json.loads(sys.argv[3])
provider_class = getattr(importlib.import_module(module), name)
ZONE = "example.com."


def desired(state):
    zone = Zone(ZONE, [])
    for owner, records in state.items():
        for record in records:
            zone.add_record(Record.new(zone, owner, record))
    return zone


def plan(state):
    # A new provider, which has read nothing yet.
    provider = provider_class("target", **options)
    return provider, provider.plan(desired(state))


changes = []
for state in states:
    provider, planned = plan(state)
    changes.append(provider.apply(planned))
    _, again = plan(state)
    assert again is None or not again.changes, again.changes
print(json.dumps({"changes": changes}))
