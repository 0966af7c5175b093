"""One step of dns-lexicon itself: `lexicon_requests.py SERVICE OPTIONS STEP [CONTENT]`. The step is list, create, update or delete, of www.example.com A."""
import json
import sys

from lexicon.client import Client
from lexicon.config import ConfigResolver

service, options, step, content = [*sys.argv[1:], None][:4]
settings = {'provider_name': service, 'domain': 'example.com', 'delegated': 'example.com', 'ttl': 3600, service: json.loads(options)}


def client():
    return Client(ConfigResolver().with_dict(settings))


if step == 'list':
    with client() as operations:
        print(json.dumps([[one['id'], one['type'], one['name']] for one in operations.list_records()]))
else:
    step, identifier = step.split('=', 1) if '=' in step else (step, None)
    with client() as operations:
        record = ['A', 'www.example.com.', content]
        assert getattr(operations, f'{step}_record')(*([] if step == 'create' else [identifier]), *record)
