"""
Creates, lists, changes and deletes records with a provider of dns-lexicon, unchanged: `lexicon_walk.py PROVIDER ZONE OPTIONS`. OPTIONS is a JSON object
with the provider's options. Prints the names of the operations that succeeded.
"""
import json
import sys

import direct_to  # noqa: F401
from lexicon.client import Client
from lexicon.config import ConfigResolver

provider, zone, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
settings = {"provider_name": provider, "domain": zone, "delegated": zone, "ttl": 3600, provider: options}
done = []


def contents(operations, *filters):
    return sorted(record["content"].strip('"') for record in operations.list_records(*filters))


with Client(ConfigResolver().with_dict(settings)) as operations:
    assert operations.create_record("A", "www", "192.0.2.1")
    assert operations.create_record("TXT", "_acme-challenge", "one")
    done.append("create")
    # Its provider for Gandi sends a value twice if there are others.
    assert operations.create_record("TXT", "_acme-challenge", "one")
    assert operations.create_record("TXT", "_acme-challenge", "two")
    assert contents(operations, "TXT", "_acme-challenge") == ["one", "two"]
    done.append("create again")
    (record,) = operations.list_records("A", "www")
    assert record["name"] == f"www.{zone}" and int(record["ttl"]) == 3600, record
    done.append("list")
    assert operations.update_record(record["id"], "A", "www", "192.0.2.2")
    # Some providers make the identifier of a record from its content.
    (record,) = operations.list_records("A", "www")
    assert record["content"] == "192.0.2.2", record
    done.append("update")
    for number in range(105):
        assert operations.create_record("TXT", f"n{number}", "many")
    assert len([one for one in operations.list_records("TXT") if one["content"].strip('"') == "many"]) == 105
    done.append("list pages")
    assert operations.delete_record(None, "TXT", "_acme-challenge", "one")
    assert contents(operations, "TXT", "_acme-challenge") == ["two"]
    assert operations.delete_record(record["id"], "A", "www")
    for number in range(105):
        assert operations.delete_record(None, "TXT", f"n{number}")
    assert operations.delete_record(None, "TXT", "_acme-challenge")
    assert operations.list_records("A") == [] and operations.list_records("TXT") == []
    done.append("delete")
print(json.dumps({"done": done}))
