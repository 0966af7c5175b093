"""Sends the requests of dns-lexicon to a server of the tests, and adds services of the tests to those of dns-lexicon. Otherwise dns-lexicon is as it is."""
import os
from urllib.parse import urlsplit


def start(server, hosts, services):
    if services:
        import lexicon._private.providers as providers

        providers.__path__.insert(0, services)
    if server is None:
        return
    os.environ.update(AWS_ENDPOINT_URL=server, AWS_DEFAULT_REGION='us-east-1')
    from requests.adapters import HTTPAdapter
    from requests.exceptions import ConnectionError

    send = HTTPAdapter.send

    def redirected(self, request, **options):
        address = urlsplit(request.url)
        if address.hostname in hosts:
            request.headers['Host'] = address.netloc
            request.url = server + request.url[len(f'{address.scheme}://{address.netloc}') :]
        elif address.hostname != '127.0.0.1':
            raise ConnectionError(f'{address.hostname} is no part of this test')
        return send(self, request, **options)

    HTTPAdapter.send = redirected
