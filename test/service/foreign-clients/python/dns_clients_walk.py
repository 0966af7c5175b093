"""
Uses every operation of a DNS client, unchanged, on the running service: `lexicon` of dns-lexicon's providers for the hosting service, `certbot` of the
plugin certbot-dns-linode. Prints the operations that the client has and those that were used, which must succeed. Both clients know one host only: a
proxy leads to the service.
"""
import argparse
import inspect
import io
import json
import os
import sys
import warnings

import requests

HOST = "api.linode.com"
# Both clients need a zone in a public top-level domain.
ZONE = "example.com"

session = requests.Session()


def api(method, path, body=None):
    """A request to the service, without the client."""
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    answer = session.request(method, f"https://{HOST}/v4{path}", json=body, headers=headers, timeout=10)
    answer.raise_for_status()
    return answer.json()


def records_of(zone):
    return [(record["type"], record["name"], record["target"]) for record in api("GET", f"/domains/{zone}/records")["data"]]


def counted(cls, names, used):
    """A subclass whose operations note that they ran."""

    def noting(name):
        original = getattr(cls, name)

        def method(*args, **options):
            used.add(name)
            return original(*args, **options)

        is_bound = inspect.ismethod(original) or isinstance(inspect.getattr_static(cls, name), staticmethod)
        return staticmethod(method) if is_bound else method

    return type(cls.__name__, (cls,), {name: noting(name) for name in names})


def lexicon(zone):
    from lexicon.client import Client
    from lexicon.config import ConfigResolver
    from lexicon.interfaces import Provider


    names = [name for name in dir(Provider) if not name.startswith("_")]
    used = set()
    for provider in ("linode", "linode4"):
        options = {"provider_name": provider, "domain": ZONE, "delegated": ZONE, provider: {"auth_token": os.environ["TOKEN"]}}
        client = Client(ConfigResolver().with_dict(options))
        client.provider_class = counted(client.provider_class, names, used)
        client.provider_class.configure_parser(argparse.ArgumentParser())
        assert client.provider_class.get_nameservers() == ["linode.com"]
        with client as operations:
            use_records(zone, operations)
    # A list of two pages.
    for number in range(105):
        api("POST", f"/domains/{zone}/records", {"type": "TXT", "name": f"n{number}", "target": "many"})
    with client as operations:
        assert len(operations.list_records("TXT", content="many")) == 105
    return names, used


def use_records(zone, operations):
    assert operations.create_record("TXT", "_acme-challenge.www", "text")
    # The same record again.
    assert operations.create_record("TXT", f"_acme-challenge.www.{ZONE}", "text")
    assert operations.create_record("A", "www", "192.0.2.1")
    assert sorted(records_of(zone)) == [("A", "www", "192.0.2.1"), ("TXT", "_acme-challenge.www", "text")]
    (record,) = operations.list_records("A", "www", "192.0.2.1")
    assert record["name"] == f"www.{ZONE}" and record["ttl"] == 0
    assert operations.update_record(record["id"], "A", "www", "192.0.2.2")
    assert operations.update_record(None, "A", "www", "192.0.2.3")
    assert [found["content"] for found in operations.list_records("A")] == ["192.0.2.3"]
    assert operations.delete_record(record["id"])
    assert operations.delete_record(None, "TXT", "_acme-challenge.www", "text")
    assert records_of(zone) == []


def certbot(zone):
    import josepy
    from acme import challenges, messages
    from certbot import achallenges
    from certbot._internal.display import obj
    from certbot.interfaces import Authenticator
    from certbot_dns_linode._internal.dns_linode import Authenticator as Plugin
    from cryptography.hazmat.primitives.asymmetric import rsa

    obj.set_display(obj.NoninteractiveDisplay(io.StringIO()))
    credentials = os.path.join(os.environ["FOLDER"], "credentials.ini")
    with open(os.open(credentials, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf8") as file:
        file.write(f"dns_linode_key = {os.environ['TOKEN']}\n")
    key = josepy.JWKRSA(key=rsa.generate_private_key(public_exponent=65537, key_size=2048))

    def challenge(name, token):
        body = messages.ChallengeBody(chall=challenges.DNS01(token=token), uri="", status=messages.STATUS_PENDING)
        identifier = messages.Identifier(typ=messages.IDENTIFIER_FQDN, value=name)
        return achallenges.KeyAuthorizationAnnotatedChallenge(challb=body, identifier=identifier, account_key=key)

    names = [*sorted(name for name in Authenticator.__abstractmethods__ if not name.startswith("_")), "add_parser_arguments", "auth_hint"]
    used = set()
    cls = counted(Plugin, names, used)
    cls.inject_parser_options(argparse.ArgumentParser(), "dns-linode")
    cls.add_parser_arguments(lambda name, **_: None)
    plugin = cls(argparse.Namespace(dns_linode_credentials=credentials, dns_linode_propagation_seconds=0), "dns-linode")
    plugin.prepare()
    assert plugin.more_info() and plugin.get_chall_pref("") == [challenges.DNS01]
    # The zone of the first is found by leaving out labels. The others have one name, as in a certificate for a name and its wildcard.
    asked = [challenge(name, bytes([number]) * 16) for number, name in enumerate((f"a.b.{ZONE}", ZONE, ZONE))]
    assert len(plugin.perform(asked)) == 3
    owners = ("_acme-challenge.a.b", "_acme-challenge", "_acme-challenge")
    assert sorted(records_of(zone)) == sorted(("TXT", owner, one.validation(key)) for owner, one in zip(owners, asked)), records_of(zone)
    assert plugin.auth_hint(asked)
    plugin.cleanup(asked)
    assert records_of(zone) == []
    return names, used


warnings.simplefilter("ignore")
created = api("POST", "/domains", {"domain": ZONE, "type": "master", "soa_email": f"host@{ZONE}"})["id"]
operations, used = {"lexicon": lexicon, "certbot": certbot}[sys.argv[1]](created)
print(json.dumps({"operations": operations, "used": sorted(used)}))
