"""
Uses every operation that linode_api4, unchanged, has for the service. `operations` prints their requests found by introspection, `walk` those made on the
running service, with what went wrong.
"""
import gzip
import io
import json
import os
import re
import sys
import traceback
from urllib.request import urlopen

import pyotp
from linode_api4 import Backup, Domain, DomainRecord, Image, Instance, Region, StackScript, Tag
from linode_api4.objects import AccountAvailability, AuthorizedApp, Kernel, PersonalAccessToken, Profile, SSHKey, TrustedDevice, Type
from linode_api4.errors import ApiError

from linode_api4_operations import operations, recording_client

URL = f"{os.environ.get('SERVICE')}/{os.environ.get('VERSION')}"


def advance(seconds):
    """Advances the clock of the service; returns its time in seconds."""
    with urlopen(f"{os.environ['CONTROL']}/pass/{seconds}") as answer:
        return float(answer.read())


def refused(call):
    """The errors of a call that the service must refuse."""
    try:
        call()
    except ApiError as error:
        return error.errors
    raise AssertionError("the call was accepted")


def domains(client):
    domain = client.domains.create("walk.example", soa_email="host@walk.example")
    client.domain_create("other.example", soa_email="host@other.example").delete()
    domain.ttl_sec = 3600
    assert domain.save() and client.load(Domain, domain.id).ttl_sec == 3600
    record = domain.record_create("A", name="www", target="192.0.2.1", ttl_sec=300)
    domain.record_create("SRV", service="sip", protocol="tcp", target="sip.example.net", priority=1, weight=2, port=5060)
    mail = domain.record_create("MX", target="mail.example.net", priority=10)
    record.target = "192.0.2.2"
    assert record.save() and mail.save()
    assert client.load(DomainRecord, record.id, domain.id).target == "192.0.2.2"
    assert [entry.type for entry in domain.records] == ["A", "SRV", "MX"]
    advance(30)
    assert any("192.0.2.2" in line for line in domain.zone_file_view())
    assert domain.clone("clone.example").id != domain.id
    domain.domain_import("example.test", "127.0.0.1")
    assert [found.domain for found in client.domains(Domain.domain.contains("example.test"))] == ["example.test"]
    assert mail.delete() and domain.delete()
    assert refused(lambda: client.load(Domain, domain.id)) == ["Not found"]


def instances(client):
    script = client.linode.stackscript_create("deploy", '#!/bin/sh\n# <UDF name="db" label="Database"/>\n', ["linode/debian12"], desc="text")
    instance = client.linode.instance_create(
        "g6-standard-1", "us-east", image="linode/debian12", root_pass="correct horse 9", stackscript=script, stackscript_data={"db": "main"}, label="walk", tags=["walked"]
    )
    assert instance.image.id == "linode/debian12", instance.image
    advance(30)
    instance = client.load(Instance, instance.id)
    assert instance.status == "running"
    instance.label = "renamed"
    assert instance.save()
    assert [found.label for found in client.linode.instances(Instance.image == "linode/debian12")] == ["renamed"]
    (config,) = instance.configs
    second = instance.config_create(label="second", disks=[config.devices.sda, config.devices.sdb])
    assert second.devices.sdb.id == config.devices.sdb.id
    assert instance.boot(config)
    advance(30)
    # Fields that the service does not have.
    assert instance.placement_group is None and Instance(client, instance.id).linode_interfaces is None
    assert instance.enable_backups()
    snapshot = instance.snapshot("before")
    advance(600)
    assert client.load(Backup, snapshot.id, instance.id).status == "successful"
    assert instance.available_backups.snapshot.current.id == snapshot.id
    assert snapshot.restore_to(instance, overwrite=True)
    advance(30)
    clone = instance.clone(region="us-east", instance_type="g6-standard-1")
    advance(60)
    target = client.linode.instance_create("g6-nanode-1", "us-east")
    assert instance.clone(to_linode=target.id).id == target.id
    advance(60)
    assert instance.cancel_backups()
    disk = client.load(Instance, instance.id).configs[0].devices.sda
    for create in (client.images.create, client.image_create):
        image = create(disk.id, label="of a disk")
        advance(60)
        assert client.load(Image, image.id).status == "available" and image.delete()
    assert clone.delete() and target.delete() and instance.delete() and script.delete()


def images(client):
    assert client.load(Image, "linode/debian12").vendor == "Debian"
    assert any(image.id.endswith("/debian12") for image in client.images(Image.is_public == True))  # noqa: E712
    data = gzip.compress(bytes(1 << 20))
    image = client.images.upload("uploaded", "us-east", io.BytesIO(data), description="text")
    assert client.load(Image, image.id).status == "available"
    image.label = "kept"
    assert image.save() and client.load(Image, image.id).label == "kept"
    client.image_upload("second", "us-east", io.BytesIO(data))
    for create in (client.images.create_upload, client.image_create_upload):
        announced, url = create("announced", "us-east")
        assert url.startswith("http") and announced.delete()
    assert image.delete()


def scripts(client):
    script = client.linode.stackscript_create("walk", "#!/bin/sh\n", ["linode/debian12"])
    script.rev_note = "second"
    assert script.save()
    script = client.load(StackScript, script.id)
    assert script.rev_note == "second" and script.images[0].id == "linode/debian12"
    assert [found.id for found in client.linode.stackscripts(StackScript.label == "walk", mine_only=True)] == [script.id]
    assert script.delete()


def catalogue(client):
    assert len(client.linode.kernels(Kernel.kvm == True)) > 100  # noqa: E712
    region = client.regions()[0]
    assert client.load(Region, region.id).label == region.label
    assert client.load(Kernel, "linode/grub2").label == "GRUB 2"
    found = client.linode.types(Type.vcpus > 60)[0]
    assert client.load(Type, found.id).price.monthly == found.price.monthly > 4000
    assert client.account().email == "alice@example.com"
    assert client.account.availabilities()[0].available and client.load(AccountAvailability, region.id).available


def tags(client):
    tag = client.tags.create("green", instances=[1001], volumes=[4001], nodebalancers=[6001], entities=[client.load(Instance, 1001)])
    assert client.tag_create("blue").delete()
    objects = list(Tag(client, "green").objects)
    assert client.load(Tag, "green").label == tag.label
    assert [type(found).__name__ for found in objects] == ["Instance", "Volume", "NodeBalancer"]
    assert objects[1].linode_id == 1001
    assert tag.label in [found.label for found in client.tags()] and tag.delete()


def profile(client):
    own = client.profile()
    own.lish_auth_method = "keys_only"
    assert own.save() and client.load(Profile, "alice").lish_auth_method == "keys_only"
    assert own.grants is None
    app = client.profile.apps()[0]
    assert client.load(AuthorizedApp, app.id).label == app.label and app.delete()
    device = client.profile.trusted_devices()[0]
    assert client.load(TrustedDevice, device.id).user_agent == "Mozilla/5.0" and device.delete()
    # The client's path of logins lacks the slash at its start.
    assert refused(client.profile.logins) == ["Not found"]
    client.profile.user_preferences_update(linode_id="kept")
    assert client.profile.user_preferences().linode_id == "kept"
    key = client.profile.ssh_key_upload(os.environ["SSH_KEY"], "laptop")
    key.label = "desk"
    assert key.save() and client.load(SSHKey, key.id).label == "desk"
    assert [found.label for found in client.profile.ssh_keys()] == ["desk"] and key.delete()


def second_factor(client):
    questions = client.profile.security_questions().security_questions[:3]
    client.profile.security_questions_answer([{"question_id": question.id, "response": "answer"} for question in questions])
    own = client.profile()
    code = pyotp.TOTP(own.enable_tfa()).at(advance(0))
    assert own.confirm_tfa(code) and own.disable_tfa()


def phone(client):
    assert client.profile.phone_number_verification_code_send("US", "2015550123")
    with open(os.environ["SMS"], encoding="utf8") as messages:
        code = re.findall(r"code is (\d{6})", messages.read())[-1]
    assert client.profile.phone_number_verify(code) and client.profile.phone_number_delete()


def tokens(client):
    token = client.profile.token_create(label="reader", scopes="linodes:read_only stackscripts:read_write")
    token.label = "kept"
    assert token.save() and client.load(PersonalAccessToken, token.id).label == "kept"
    assert any(found.id == token.id for found in client.profile.tokens()) and token.delete()


def raw_requests(client):
    tag = client.post("/tags", data={"label": "raw"})
    client.put("/profile", data={"timezone": "Europe/Berlin"})
    client.delete(f"/tags/{tag['label']}")
    assert client.get("/profile")["timezone"] == "Europe/Berlin"


def walk():
    client, recorder = recording_client(URL, os.environ["TOKEN"], True)
    problems = []
    for part in (domains, instances, images, scripts, catalogue, tags, profile, second_factor, phone, tokens, raw_requests):
        try:
            part(client)
        except Exception:  # pylint: disable=broad-except
            problems.append(traceback.format_exc())
    restricted, _ = recording_client(URL, os.environ["RESTRICTED_TOKEN"], True)
    grants = restricted.profile().grants
    if not (grants.global_grants.add_linodes and grants.linode[0].label == "seeded" and grants.stackscript == []):
        problems.append("the grants of a restricted user are wrong")
    return {"requests": recorder.seen, "problems": problems}


print(json.dumps({"operations": operations, "walk": walk}[sys.argv[1]]()))
