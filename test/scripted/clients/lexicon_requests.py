"""
Creates, lists, changes and deletes addresses of a zone with a provider of dns-lexicon, unchanged: `lexicon_requests.py PROVIDER ZONE OPTIONS COUNT`. After each of
the four it asks the server for /mark, so that the server can tell the requests apart.
"""
import json
import os
import ssl
import sys
import urllib.request

import direct_to
from lexicon.client import Client
from lexicon.config import ConfigResolver

provider, zone, options, count = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), int(sys.argv[4])
settings = {"provider_name": provider, "domain": zone, "delegated": zone, "ttl": 3600, provider: options}
unchecked = ssl._create_unverified_context()
mark = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=unchecked))
direct_to.HOSTS.append("127.0.0.1")

for job in ("create", "list", "update", "delete"):
    # A new client, which has read nothing yet.
    with Client(ConfigResolver().with_dict(settings)) as operations:
        if job == "list":
            assert len(operations.list_records("A")) == count
        for host in range(0 if job == "list" else count):
            if job == "create":
                operations.create_record("A", f"h{host}", "192.0.2.1")
            elif job == "update":
                operations.update_record(None, "A", f"h{host}", "192.0.2.2")
            else:
                operations.delete_record(None, "A", f"h{host}")
    mark.open(f"{os.environ['SERVER']}/mark").close()
