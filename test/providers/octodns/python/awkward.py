"""An octoDNS provider for tests. It keeps a zone in a file of JSON, and misbehaves as the file `mode` beside it says."""
import errno
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time

import requests
from octodns.provider.base import BaseProvider
from octodns.record import Delete, Record
from octodns.source.base import BaseSource


class NotAProvider:
    pass


class SilentError(Exception):
    """An exception that raises whenever anything looks at it."""

    def __str__(self):
        raise ValueError('no text')

    def __eq__(self, other):
        raise ValueError('no comparison')

    @property
    def response(self):
        raise ValueError('no response')


class RefusedError(Exception):
    status_code = 400


class AwkwardClientUnauthorized(Exception):
    pass


class AwkwardSource(BaseSource):
    SUPPORTS = {'A'}
    SUPPORTS_GEO = False

    def __init__(self, id, folder, token=None):
        self.log = logging.getLogger(f'AwkwardSource[{id}]')
        super().__init__(id)

    def populate(self, zone, target=False, lenient=False):
        zone.add_record(Record.new(zone, 'keep', {'type': 'A', 'ttl': 300, 'value': '192.0.2.1'}))


class AwkwardProvider(BaseProvider):
    SUPPORTS_GEO = True
    SUPPORTS_DYNAMIC = True
    SUPPORTS_ROOT_NS = False
    SUPPORTS = {'A', 'AAAA', 'CNAME', 'MX', 'NS', 'PTR', 'TXT'}

    def __init__(self, id, folder, token=None, nested=None, *args, **kwargs):
        self.log = logging.getLogger(f'AwkwardProvider[{id}]')
        self.folder = folder
        self.token = token
        self.nested = nested
        if token == 'wrong':
            raise ValueError('the token is wrong')
        super().__init__(id, *args, **kwargs)
        with open(os.path.join(folder, 'made'), 'a') as file:
            file.write('made\n')
        with open(os.path.join(folder, 'process.json'), 'w') as file:
            json.dump({'pid': os.getpid(), 'argv': sys.argv, 'env': dict(os.environ), 'cwd': os.getcwd(), 'nested': nested}, file)
        self._misbehave('start')

    @property
    def mode(self):
        try:
            with open(os.path.join(self.folder, 'mode')) as file:
                return file.read().strip()
        except FileNotFoundError:
            return ''

    def _path(self, zone):
        return os.path.join(self.folder, f'{zone.name}json')

    def list_zones(self):
        return sorted(name[: -len('json')] for name in os.listdir(self.folder) if name.endswith('.json') and name.count('.') > 1)

    def _load(self, zone):
        with open(self._path(zone)) as file:
            return json.load(file)

    def populate(self, zone, target=False, lenient=False):
        with open(os.path.join(self.folder, 'reads'), 'a') as file:
            file.write(f'{zone.name}\n')
        self._misbehave('read')
        if not os.path.exists(self._path(zone)):
            return False
        surrogate = {'name': 'odd', 'type': 'TXT', 'ttl': 300, 'value': 'a\udcff'}
        for data in self._load(zone) + ([surrogate] if self.mode == 'surrogate read' else []):
            data = dict(data)
            name = data.pop('name')
            zone.add_record(Record.new(zone, name, data, source=self, lenient=lenient), lenient=lenient)
        return True

    def _include_change(self, change):
        return self.mode != 'filter'

    def _extra_changes(self, existing, desired, changes):
        return [Delete(record) for record in existing.records if record.name == 'keep'] if self.mode == 'extra' else []

    def _plan_meta(self, existing, desired, changes):
        return {'plan': 'free'} if self.mode == 'meta' else None

    def _apply(self, plan):
        self._misbehave('apply')
        records = {(data['name'], data['type']): data for data in self._load(plan.desired)} if plan.exists else {}
        for change in plan.changes:
            key = (change.record.name, change.record._type)
            if change.new is None:
                del records[key]
            else:
                records[key] = {'name': key[0], 'type': key[1], **change.new.data}
            if self.mode == 'half-applied':
                self._store(plan, records)
                raise RuntimeError('the second change failed')
            if self.mode == 'half-refused':
                self._store(plan, records)
                raise RefusedError('the second change was refused')
        self._store(plan, records)
        self._misbehave('applied')

    def _store(self, plan, records):
        with open(self._path(plan.desired) + '.new', 'w') as file:
            json.dump(list(records.values()), file)
        os.rename(file.name, self._path(plan.desired))

    def _chatter(self):
        while True:
            self.log.warning('still here')

    def _misbehave(self, when):
        what, _, at = self.mode.partition(' ')
        if at != when:
            return
        if what == 'print':
            print('{"id": 1, "ok": {}}', flush=True)
            os.write(1, b'{"id": 2, "ok": {}}\n')
            subprocess.run(['echo', '{"id": 3, "ok": {}}'])
            sys.stdin.readline()
        elif what == 'hang':
            # The second one leaves the group, with a child.
            sleepers = [subprocess.Popen(['sleep', '1000']), subprocess.Popen(['sh', '-c', 'sleep 1000; :'], start_new_session=True)]
            with open(os.path.join(self.folder, 'sleepers.new'), 'w') as file:
                file.write(' '.join(str(sleeper.pid) for sleeper in sleepers))
            os.rename(file.name, os.path.join(self.folder, 'sleepers'))
            time.sleep(1000)
        elif what == 'surrogate-error':
            raise RuntimeError('no file a\udcff')
        elif what == 'silent':
            raise SilentError()
        elif what == 'forks':
            if os.fork() == 0:
                self.log.warning('this is a fork')
        elif what == 'badlog':
            self.log.warning('%s of %s', 1)
        elif what == 'long-leak':
            self.log.error('%s%s', 'x' * 285, self.token)
            raise RuntimeError('y' * 390 + self.token)
        elif what == 'die-leak':
            os.write(2, b'z' * 290 + self.token.encode())
            os._exit(3)
        elif what == 'unauthorized':
            raise AwkwardClientUnauthorized('{"message": "no"}')
        elif what == 'unreachable':
            requests.get('http://127.0.0.1:1/')
        elif what == 'unroutable':
            raise OSError(errno.EHOSTUNREACH, 'No route to host')
        elif what == 'slow':
            open(os.path.join(self.folder, 'slow'), 'w').close()
            time.sleep(1.5)
        elif what == 'kill':
            os.kill(os.getpid(), signal.SIGKILL)
        elif what == 'exit':
            sys.exit('enough')
        elif what == 'crash':
            os.write(2, b'Fatal Python error: Segmentation fault\n')
            os._exit(139)
        elif what == 'leak':
            self.log.warning('the token is %s', self.token)
            raise RuntimeError(f'first line\nno access with {self.token}')
        elif what == 'warn':
            self.log.warning('something is odd, token %s', self.token)
        elif what == 'flood':
            for descriptor in range(4, 20):
                try:
                    while os.fstat(descriptor) and descriptor_is_output(descriptor):
                        os.write(descriptor, b'x' * 65536)
                except OSError:
                    pass
        elif what == 'chatter':
            threading.Thread(target=self._chatter, daemon=True).start()
        elif what == 'noise':
            os.write(2, b'noise\n' * 200000)
            for _ in range(100000):
                self.log.error('x' * 1000)


def descriptor_is_output(descriptor):
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_GETFL) & (os.O_WRONLY | os.O_RDWR) and os.readlink(f'/proc/self/fd/{descriptor}').startswith(('pipe:', 'socket:'))
