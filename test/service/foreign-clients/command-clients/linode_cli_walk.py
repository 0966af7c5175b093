"""
Uses every command that linode-cli, unchanged, has for the service. `operations` prints the request of each, as the client's description of the API has
it, `walk` those that succeeded on the running service, and what went wrong.
"""
import base64
import gzip
import hashlib
import hmac
import io
import json
import os
import re
import sys
import traceback
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

os.environ |= {
    "LINODE_CLI_API_HOST": urlsplit(os.environ.get("SERVICE", "http://none.invalid")).netloc,
    "LINODE_CLI_API_SCHEME": "http",
    "LINODE_CLI_API_VERSION": os.environ.get("VERSION", "v4"),
    "LINODE_CLI_TOKEN": os.environ.get("TOKEN", "none"),
}
mode = sys.argv[1]
# Of a program without a file of settings, which it would ask for.
sys.argv[1:] = ["--version"]
# It prints to what this was when it was loaded.
sys.stdout = sys.stderr = printed = io.StringIO()
import linodecli  # noqa: E402

operations = {
    f"{command} {action}": f"{operation.method.upper()} {re.sub(r'{(?!apiVersion)[^}]*}', 'probe', operation.url_path).format(apiVersion='v4')}"
    for command, actions in linodecli.cli.ops.items()
    for action, operation in actions.items()
}
used = set()


def advance(seconds):
    """Advances the clock of the service; returns its time in seconds."""
    with urlopen(f"{os.environ['CONTROL']}/pass/{seconds}") as answer:
        return float(answer.read())


def run(command, *args):
    """Runs a command line; returns the objects that it prints."""
    words = command.split()
    sys.argv[1:] = [*words, *map(str, args), "--json", "--all-columns", "--no-defaults", "--suppress-warnings"]
    printed.truncate(0)
    printed.seek(0)
    try:
        linodecli.main()
    except SystemExit as end:
        if end.code:
            raise AssertionError(f"{command} {args} ended with {end.code}: {printed.getvalue()}") from None
    used.add(" ".join(words[:2]))
    return json.loads(printed.getvalue() or "[]")


def domains():
    (domain,) = run("domains create --type master --domain walk.example --soa_email host@walk.example --tags blue --tags red")
    number = domain["id"]
    assert domain["tags"] == ["blue", "red"]
    run("domains update", number, "--ttl_sec", 3600, "--description", "kept")
    assert run("domains view", number)[0]["ttl_sec"] == 3600
    (record,) = run("domains records-create", number, "--type", "A", "--name", "www", "--target", "192.0.2.1", "--ttl_sec", 300)
    for other in (
        "--type SRV --service sip --protocol tcp --target sip.example.net --priority 1 --weight 2 --port 5060",
        "--type MX --target mail.example.net --priority 10",
        "--type CAA --tag issue --target ca.example.net",
    ):
        run(f"domains records-create {number} {other}")
    run("domains records-update", number, record["id"], "--target", "192.0.2.2")
    assert run("domains records-view", number, record["id"])[0]["target"] == "192.0.2.2"
    assert [found["type"] for found in run("domains records-list", number, "--order-by", "type")] == ["A", "CAA", "MX", "SRV"]
    assert [found["name"] for found in run("domains records-list", number, "--type", "A")] == ["www"]
    advance(30)
    assert "192.0.2.2" in json.dumps(run("domains zone-file", number))
    run("domains clone", number, "--domain", "clone.example")
    run("domains import --domain example.test --remote_nameserver 127.0.0.1")
    assert [found["domain"] for found in run("domains list --order-by domain --order desc")] == ["walk.example", "example.test", "clone.example"]
    assert [found["domain"] for found in run("domains list --tags blue --domain walk.example")] == ["walk.example"]
    run("domains records-delete", number, record["id"])
    run("domains delete", number)


def instances():
    (script,) = run("stackscripts create --label deploy --images linode/debian12 --script", '#!/bin/sh\n# <UDF name="db" label="Database"/>\n')
    (created,) = run(
        "linodes create --type g6-standard-1 --region us-east --image linode/debian12 --label walk --tags walked --booted true --backups_enabled true",
        *("--root_pass", "correct horse 9", "--stackscript_id", script["id"], "--stackscript_data", '{"db": "main"}'),
    )
    number = created["id"]
    advance(30)
    assert run("linodes view", number)[0]["status"] == "running"
    run("linodes update", number, "--label", "renamed", "--alerts.cpu", 100, "--watchdog_enabled", "false", "--backups.schedule.day", "Sunday")
    assert [found["label"] for found in run("linodes list --image linode/debian12 --order-by label --order asc")] == ["renamed"]
    (config,) = run("linodes configs-list", number)
    disk = config["devices"]["sda"]["disk_id"]
    run("linodes config-create", number, "--label", "second", "--devices.sda.disk_id", disk, "--kernel", "linode/latest-64bit", "--helpers.network", "true")
    run("linodes boot", number, "--config_id", config["id"])
    advance(30)
    run("linodes backups-cancel", number)
    run("linodes backups-enable", number)
    (snapshot,) = run("linodes snapshot", number, "--label", "before")
    advance(600)
    run("linodes backups-list", number)
    assert run("linodes backup-view", number, snapshot["id"])[0]["status"] == "successful"
    run("linodes backup-restore", number, snapshot["id"], "--linode_id", number, "--overwrite", "true")
    advance(30)
    (clone,) = run("linodes clone", number, "--region", "us-east", "--type", "g6-standard-1", "--label", "copy")
    advance(60)
    disk = run("linodes configs-list", number)[0]["devices"]["sda"]["disk_id"]
    (image,) = run("images create --disk_id", disk, "--label", "of a disk")
    advance(60)
    assert run("images view", image["id"])[0]["status"] == "available"
    run("images delete", image["id"])
    for one in (clone["id"], number):
        run("linodes delete", one)
    run("stackscripts delete", script["id"])


def images():
    assert run("images view linode/debian12")[0]["vendor"] == "Debian"
    assert len(run("images list --is_public true --order-by label")) > 10
    (uploaded,) = run("images upload --label uploaded --region us-east --description text")
    data = Request(uploaded["upload_to"], gzip.compress(bytes(1 << 20)), {"Content-Type": "application/octet-stream"}, method="PUT")
    with urlopen(data) as answer:
        assert answer.status == 200
    run("images update", uploaded["image"]["id"], "--label", "kept")
    run("images delete", uploaded["image"]["id"])


def scripts():
    (script,) = run("stackscripts create --label walk --is_public false --description text --images linode/debian12 --script", "#!/bin/sh\n")
    run("stackscripts update", script["id"], "--rev_note", "second")
    assert run("stackscripts view", script["id"])[0]["rev_note"] == "second"
    assert [found["id"] for found in run("stackscripts list --mine true --order-by label")] == [script["id"]]
    run("stackscripts delete", script["id"])


def catalogue():
    assert len(run("kernels list --kvm true --all-rows")) > 100
    run("kernels view linode/latest-64bit")
    assert any(found["id"] == "g6-standard-1" and found["price"]["monthly"] > 0 for found in run("linodes types"))
    assert run("linodes type-view g6-standard-1")[0]["vcpus"] == 1
    (first, *_) = run("regions list")
    assert run("regions view", first["id"]) == [first]
    run("account view")
    (available, *_) = run("account get-availability")
    assert run("account get-account-availability", available["region"]) == [available]


def tags():
    run("tags create --label green --linodes 1001 --volumes 4001 --nodebalancers 6001")
    assert [found["type"] for found in run("tags get-tagged-objects green")] == ["linode", "volume", "nodebalancer"]
    assert {"label": "green"} in run("tags list")
    run("tags delete green")


def profile():
    run("profile update --lish_auth_method keys_only --timezone Europe/Berlin --email_notifications false")
    assert run("profile view")[0]["lish_auth_method"] == "keys_only"
    (app, *_) = run("profile apps-list")
    assert run("profile app-view", app["id"])[0]["label"] == app["label"]
    run("profile app-delete", app["id"])
    (device, *_) = run("profile devices-list")
    run("profile device-view", device["id"])
    run("profile device-revoke", device["id"])
    (login, *_) = run("profile logins-list")
    run("profile login-view", login["id"])
    (key,) = run("sshkeys create --label laptop --ssh_key", os.environ["SSH_KEY"])
    run("sshkeys update", key["id"], "--label", "desk")
    assert run("sshkeys view", key["id"]) == run("sshkeys list")
    run("sshkeys delete", key["id"])
    (token,) = run("profile token-create --label reader --scopes linodes:read_only --expiry 2999-12-12T05:00:00")
    run("profile token-update", token["id"], "--label", "kept")
    assert run("profile token-view", token["id"])[0]["label"] == "kept"
    assert token["id"] in [found["id"] for found in run("profile tokens-list --order-by label")]
    run("profile token-delete", token["id"])


def second_factor():
    # The client has no command that answers the questions.
    assert run("security-questions list")
    answers = {"security_questions": [{"question_id": number, "response": "answer"} for number in (1, 2, 3)]}
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}", "Content-Type": "application/json"}
    with urlopen(Request(f"{os.environ['SERVICE']}/v4/profile/security-questions", json.dumps(answers).encode(), headers)):
        pass
    (issued,) = run("profile tfa-enable")
    # RFC 6238 with the defaults: SHA-1, 30 s, 6 digits.
    counter = (int(advance(0)) // 30).to_bytes(8)
    digest = hmac.digest(base64.b32decode(issued["secret"] + "=" * (-len(issued["secret"]) % 8)), counter, hashlib.sha1)
    number = int.from_bytes(digest[digest[-1] & 15 :][:4]) & 0x7FFFFFFF
    run("profile tfa-confirm --tfa_code", f"{number % 1_000_000:06}")
    run("profile tfa-disable")


def phone():
    run("phone sms-code-send --iso_code US --phone_number 2015550123")
    with open(os.environ["SMS"], encoding="utf8") as messages:
        run("phone verify --otp_code", re.findall(r"code is (\d{6})", messages.read())[-1])
    run("phone delete")


def walk():
    problems = []
    for part in (domains, instances, images, scripts, catalogue, tags, profile, second_factor, phone):
        try:
            part()
        except Exception:  # pylint: disable=broad-except
            problems.append(traceback.format_exc())
    return {"used": sorted(used), "problems": problems}


result = operations if mode == "operations" else walk()
print(json.dumps(result), file=sys.__stdout__)
