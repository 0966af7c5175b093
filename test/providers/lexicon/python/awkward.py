"""A service for dns-lexicon with a file for its records, which does wrong what its option `mode` says."""
import json
import os
import sys
import time

from lexicon.interfaces import Provider as BaseProvider


class Provider(BaseProvider):
    @staticmethod
    def get_nameservers():
        return []

    @staticmethod
    def configure_parser(parser):
        for name in ('--auth-token', '--file', '--mode'):
            parser.add_argument(name)

    def __init__(self, config):
        super().__init__(config)
        self.file = self._get_provider_option('file')
        self.mode = self._get_provider_option('mode') or ''

    def misbehave(self, when):
        if self.mode == f'hang {when}':
            time.sleep(60)
        elif self.mode == f'flood {when}':
            while True:
                sys.__stdout__.write('x' * 65536)
        elif self.mode == f'die {when}':
            os.kill(os.getpid(), 9)
        elif self.mode == f'leak {when}':
            raise RuntimeError('no access with ' + self._get_provider_option('auth_token'))

    def stored(self):
        with open(self.file) as file:
            return json.load(file)

    def store(self, records):
        with open(self.file, 'w') as file:
            json.dump(records, file)

    def authenticate(self):
        with open(self.file + '.seen', 'w') as file:
            options = {key: self._get_provider_option(key) for key in ('auth_token', 'file', 'mode', 'password')}
            json.dump({'options': options, 'domain': self.domain, 'env': dict(os.environ), 'argv': sys.argv}, file)

    def list_records(self, rtype=None, name=None, content=None):
        self.misbehave('read')
        records = self.stored()
        if self.mode == 'relative names':
            return [{**record, 'name': record['name'].split('.')[0]} for record in records]
        if self.mode == 'one identifier':
            return [{**record, 'id': 7} for record in records]
        return records

    def create_record(self, rtype, name, content):
        self.misbehave('change')
        records = self.stored()
        owner = name + self.domain if self.mode == 'misname' else self._full_name(name)
        record = {'id': f'{len(records)}-{content}', 'type': rtype, 'name': owner, 'ttl': self._get_lexicon_option('ttl'), 'content': content, 'asked': name}
        if self.mode == 'refuse':
            return False
        if self.mode == 'ignore':
            return True
        self.store([*(records[1:] if self.mode == 'lose' else records), record])
        self.misbehave('after change')
        return True

    def update_record(self, identifier, rtype=None, name=None, content=None):
        self.store([{**one, 'content': content, 'ttl': self._get_lexicon_option('ttl')} if one['id'] == identifier else one for one in self.stored()])
        return True

    def delete_record(self, identifier=None, rtype=None, name=None, content=None):
        if self.mode == 'delete another':
            identifier = self.stored()[0]['id']
        self.store([one for one in self.stored() if one['id'] != identifier])
        return True
