"""Runs one octoDNS provider class, or one service of dns-lexicon, for Zonewright, which starts this file as a child process. Works with Python 3.8 and
octoDNS 1.0, or Python 3.10 and dns-lexicon 3.20, or later.

Requests and responses are lines of JSON. Requests are answered one at a time. Those of a class:

    start  {class, name, options}  -> what the class supports
    list                           -> parts {zones: [name, ...]}
    read   {zone}                  -> parts {records: [...]}, then {exists}
    apply  {zone, changes}         -> {changes}; the zone must have been read just before

Those of a service:

    start  {service, options}                                       -> {settings, version, python}
    read   {zone}                                                   -> parts {records: [{id, type, name, ttl, content}, ...]}
    change {zone, action, identifier, type, name, ttl, content}     -> {}; `action` is create, update or delete

Every response has the id of its request and one of: a part, `log` (a message that the class logged), `ok` (the end), `error` (the end).
"""
import os
import sys

# The folder of this file is not a place for packages, nor is the working directory, which `python -c` puts first.
if sys.path and sys.path[0] == (os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else ""):
    sys.path.pop(0)

import argparse
import copy
import errno
import glob
import importlib
import inspect
import json
import logging
import queue
import signal
import threading
import time
import warnings

PART = 500  # items in one line
MAX_LOGS = 50  # messages for one request
MAX_TEXT = 20000  # characters of a message, which the parent shortens once it has removed secrets
MAX_AGE = 60  # seconds for which a provider reads further zones


class Refusal(Exception):
    """A request that is not carried out. `kind` is a word for the parent, `more` has its details."""

    def __init__(self, kind, message='', **more):
        super().__init__(message)
        self.kind = kind
        self.more = more


class Connection:
    """The two ends of the protocol. The class gets an empty input, and what it prints goes to the standard error."""

    def __init__(self):
        self.requests = os.fdopen(os.dup(0), 'rb')
        self.responses = os.fdopen(os.dup(1), 'wb')
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, 0)
        os.dup2(2, 1)
        self.lock = threading.RLock()
        self.id = None
        self.logs = 0
        self.pid = os.getpid()

    def begin(self, id):
        with self.lock:
            self.id, self.logs = id, 0

    def send(self, **response):
        if os.getpid() != self.pid:
            # A fork of this process that did not end: the parent waits for one response.
            os._exit(1)
        with self.lock:
            line = json.dumps({'id': self.id, **response}, default=str, ensure_ascii=False)
            # Records with text that is not Unicode are an error; a message is for people.
            self.responses.write(line.encode('utf-8', 'replace' if 'log' in response or 'error' in response else 'strict') + b'\n')
            self.responses.flush()

    def end(self, **response):
        with self.lock:
            self.send(**response)
            self.id = None

    def send_log(self, level, message):
        """A thread of the class may log at any time. Between requests nobody listens."""
        if os.getpid() != self.pid:
            return
        with self.lock:
            if self.id is not None and self.logs < MAX_LOGS:
                self.logs += 1
                self.send(log={'level': level, 'message': message[:MAX_TEXT]})

    def send_parts(self, name, items):
        for at in range(0, len(items), PART):
            self.send(**{name: items[at : at + PART]})

    def read_requests(self, received):
        """Runs in a thread of its own, so that the end of the parent ends this process and its children in the middle of a call."""
        for line in self.requests:
            received.put(json.loads(line))
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        # The parent has put this process into a group of its own.
        os.killpg(0, signal.SIGKILL)


def descendants(pid):
    """All processes below one, also those that left its group. None on systems without /proc."""
    found = []
    for path in glob.glob('/proc/%d/task/*/children' % pid):
        try:
            with open(path) as file:
                children = [int(one) for one in file.read().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found


class LogHandler(logging.Handler):
    def __init__(self, connection):
        super().__init__(logging.WARNING)
        self.connection = connection

    def emit(self, record):
        try:
            message = record.getMessage()
        except Exception:
            message = text_of(record.msg)
        self.connection.send_log(record.levelname, message)


def find_class(path):
    module_name, _, class_name = path.rpartition('.')
    try:
        from octodns.provider.base import BaseProvider
        from octodns.source.base import BaseSource
    except ModuleNotFoundError as error:
        raise Refusal('no-octodns', str(error), module=error.name)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        is_own = error.name is not None and (module_name + '.').startswith(error.name + '.')
        raise Refusal('no-module' if is_own else 'no-dependency', str(error), module=error.name)
    found = getattr(module, class_name, None)
    # A source, such as EnvVarSource, can only be read.
    if inspect.isclass(found) and issubclass(found, BaseSource) and found not in (BaseProvider, BaseSource):
        return found
    others = [
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, BaseProvider) and value is not BaseProvider
    ]
    raise Refusal('no-class' if found is None else 'no-provider', classes=sorted(others)[:20])


def leave_out_checks():
    """octoDNS's checks of records would only warn here, of each record that is read. Zonewright has checked those that it sends."""
    from octodns.record import Record

    if hasattr(Record, 'enable_validators'):
        Record.enable_validators(set())


def accepted_options(found):
    """The names of the options of a class, those of the classes that it extends included."""
    names = set()
    for one in found.__mro__:
        init = vars(one).get('__init__')
        if init is None or one is object:
            continue
        kinds = inspect.signature(init).parameters.values()
        names.update(p.name for p in kinds if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
        if not any(p.kind == p.VAR_KEYWORD for p in kinds):
            break
    return sorted(names - {'self', 'id'})


def version_of(module_name):
    module = sys.modules.get(module_name)
    return str(getattr(module, '__version__', None) or getattr(module, '__VERSION__', '') or '')[:40]


class ClassBridge:
    def __init__(self, connection):
        self.connection = connection
        self.found = None
        self.provider = None
        self.last = None
        self.is_applying = False
        self.seen = set()
        self.made = 0.0

    def start(self, request):
        self.found = find_class(request['class'])
        leave_out_checks()
        self.name = request['name']
        self.options = request['options']
        try:
            provider = self.provider_for(None)
        except Exception as error:
            raise Refusal('options', message_of(error), accepted=accepted_options(self.found), **failure_of(error))
        # A source has no `apply`. A class may also disable it itself.
        disabled = bool(getattr(provider, 'apply_disabled', False))
        optional = 'apply_disabled' in self.options
        module = request['class'].split('.')[0]
        return {
            'types': sorted(str(one) for one in provider.SUPPORTS),
            'root_ns': bool(provider.SUPPORTS_ROOT_NS),
            'multivalue_ptr': bool(provider.SUPPORTS_MULTIVALUE_PTR),
            'lists': callable(getattr(provider, 'list_zones', None)),
            'reads_only': not callable(getattr(provider, 'apply', None)) or (disabled and not optional),
            'disabled': disabled and optional,
            'python': '.'.join(str(part) for part in sys.version_info[:3]),
            'octodns': version_of('octodns'),
            'version': '' if module == 'octodns' else version_of(module),
        }

    def provider_for(self, zone):
        """A provider that has not read this zone: classes keep what they have read, as one run of octoDNS needs it. They also keep lists of zones, so one
        provider reads several zones."""
        if self.provider is None or zone in self.seen or time.monotonic() - self.made > MAX_AGE:
            self.provider = self.found(self.name, **copy.deepcopy(self.options))
            self.made = time.monotonic()
            self.seen = set()
        if zone is not None:
            self.seen.add(zone)
        return self.provider

    def list(self, request):
        names = [str(name) for name in self.provider_for('').list_zones()]
        self.connection.send_parts('zones', names)
        return {}

    def read(self, request):
        from octodns.zone import Zone

        provider = self.provider_for(request['zone'])
        existing = Zone(request['zone'], [])
        exists = provider.populate(existing, target=callable(getattr(provider, 'apply', None)), lenient=True)
        records = sorted(existing.records, key=lambda record: (record.name, record._type))
        if exists is None:
            exists = len(records) > 0
        self.last = (provider, existing, bool(exists))
        self.connection.send_parts('records', [described(record) for record in records])
        return {'exists': bool(exists)}

    def apply(self, request):
        (provider, existing, exists), self.last = self.last, None
        desired, asked = desired_zone(existing, request['changes'], provider.SUPPORTS_ROOT_NS)
        plan = plan_of(provider, desired, existing, exists)
        check_plan(plan, asked)
        if {'update_pcent_threshold', 'delete_pcent_threshold'} & set(self.options):
            check_thresholds(plan)
        self.is_applying = True
        count = provider.apply(plan)
        if count == 0:
            raise Refusal('not-applied')
        return {'changes': count}


class ServiceBridge:
    """One service of dns-lexicon. Each request has a client of its own: some services keep what they have read."""

    def __init__(self, connection):
        self.connection = connection
        self.is_applying = False

    def start(self, request):
        self.name, self.options = request['service'], request['options']
        try:
            from lexicon._private.discovery import find_providers, lexicon_version, load_provider_module
            from lexicon import client
        except ImportError as error:
            raise Refusal('no-lexicon', str(error))
        services = find_providers()
        if not services.get(self.name):
            raise Refusal('no-extra' if self.name in services else 'no-service', services=sorted(services))
        settings = settings_of(load_provider_module(self.name).Provider)
        unknown = sorted(set(self.options) - set(settings))
        if unknown:
            raise Refusal('no-setting', unknown[0], settings=settings)
        # Each client would read the metadata of the package again.
        client._find_providers = lambda: services
        use_own_suffixes()
        return {
            'settings': settings,
            'version': lexicon_version(),
            'python': '.'.join(str(part) for part in sys.version_info[:3]),
        }

    def client(self, zone, ttl=None):
        """Knows nothing but this zone and these options: dns-lexicon would also read variables and files of the working directory."""
        from lexicon.client import Client
        from lexicon.config import ConfigResolver

        domain = zone[:-1]
        settings = {'provider_name': self.name, 'domain': domain, 'delegated': domain, self.name: copy.deepcopy(self.options)}
        client = Client(ConfigResolver().with_dict({**settings, **({} if ttl is None else {'ttl': ttl})}))
        resolved = str(client.config.resolve('lexicon:domain'))
        if resolved != domain:
            raise Refusal('other-zone', resolved)
        return client

    def read(self, request):
        with self.client(request['zone']) as operations:
            records = operations.list_records()
        keys = ('id', 'type', 'name', 'ttl', 'content')
        self.connection.send_parts('records', [{key: record.get(key) for key in keys} for record in records])
        return {}

    def change(self, request):
        record = [request['type'], request['name'], request['content']]
        with self.client(request['zone'], request['ttl']) as operations:
            self.is_applying = True
            if request['action'] == 'create':
                done = operations.create_record(*record)
            elif request['action'] == 'update':
                done = operations.update_record(request['identifier'], *record)
            else:
                done = operations.delete_record(request['identifier'], *record)
        if not done:
            raise Refusal('not-applied')
        return {}


def settings_of(provider):
    """The settings of a service, which its command line has as options."""
    parser = argparse.ArgumentParser(add_help=False)
    provider.configure_parser(parser)
    return [action.dest for action in parser._actions]


def use_own_suffixes():
    """The list of public suffixes that tldextract has, instead of one that it would download and keep in the home directory."""
    import tldextract

    extract = tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
    tldextract.TLDExtract = lambda **options: extract
    tldextract.extract = extract


def described(record):
    """A record for the parent. `settings` names the keys of its `octodns:`, without their values."""
    try:
        data = record.data
        values = data['values'] if 'values' in data else [data['value']] if 'value' in data else []
        problem = None
    except Exception as error:
        values, problem = [], message_of(error)
    return {
        'name': record.name,
        'type': record._type,
        'ttl': record.ttl,
        'values': values,
        'settings': setting_names(record.octodns),
        'dynamic': bool(getattr(record, 'dynamic', None) or getattr(record, 'geo', None)),
        'problem': problem,
    }


def setting_names(octodns):
    names = []
    for key, value in octodns.items():
        names.extend(f'{key}.{below}' for below in value) if isinstance(value, dict) and value else names.append(str(key))
    return sorted(names)


def desired_zone(existing, changes, has_root_ns):
    """The zone as read with the changes made, without NS records at the apex that belong to the provider, and the record of each change by name and type; None for one to delete."""
    from octodns.record import Record
    from octodns.zone import Zone

    present = {(record.name, record._type): record for record in existing.records}
    desired = Zone(existing.name, [])
    asked = {}
    for change in changes:
        key = (change['name'], change['type'])
        record = None
        if change['data'] is not None:
            data = {'type': change['type'], **change['data']}
            if key in present and present[key].octodns:
                data['octodns'] = copy.deepcopy(present[key].octodns)
            record = Record.new(desired, change['name'], data, lenient=True)
        asked[key] = (record, key in present)
    for key, record in present.items():
        if key not in asked and (has_root_ns or key != ('', 'NS')):
            desired.add_record(record, lenient=True)
    for record, _ in asked.values():
        if record is not None:
            desired.add_record(record, lenient=True)
    return desired, asked


def plan_of(provider, desired, existing, exists):
    """The plan that the class makes of the zone that was read just before, which it is not asked to read again."""

    def populate(zone, target=False, lenient=False):
        for record in existing.records:
            zone.add_record(record, lenient=True)
        return exists

    provider.populate = populate
    provider.root_ns_warnings = False
    try:
        return provider.plan(desired)
    finally:
        del provider.populate


def check_plan(plan, asked):
    """Refuses a plan that is not exactly what was asked."""
    planned = {}
    for change in plan.changes if plan is not None else []:
        record = change.new or change.existing
        planned[(record.name, record._type)] = change
    differences = []
    for key, (record, was_present) in asked.items():
        change = planned.pop(key, None)
        what = f'{key[0] or "@"} {key[1]}'
        if change is None:
            differences.append(f'it does not change {what}')
        elif (change.new is None) != (record is None) or (change.existing is None) != (not was_present):
            differences.append(f'it makes another change of {what}')
        elif record is not None and change.new.data != record.data:
            differences.append(f'it stores {json.dumps(change.new.data, default=str)[:200]} as {what}')
    for key in planned:
        differences.append(f'it also changes {key[0] or "@"} {key[1]}')
    if plan is not None and getattr(plan, 'meta', None):
        differences.append('it also changes settings of the zone')
    if differences:
        raise Refusal('other-plan', differences=differences[:5], count=len(differences))


def check_thresholds(plan):
    from octodns.provider.plan import TooMuchChange

    try:
        plan.raise_if_unsafe()
    except TooMuchChange as error:
        raise Refusal('threshold', str(error))
    except Exception:
        # A change of the root NS records, which the parent has decided on.
        pass


def text_of(value):
    try:
        return str(value)
    except Exception:
        return f'({type_of(value)} without text)'


def attribute_of(value, name):
    """An attribute, which may be code of the class that raises; None if there is none."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def message_of(error):
    """The last line of an exception without its class."""
    lines = [line.strip() for line in text_of(error).splitlines() if line.strip()]
    return (lines[-1] if lines else '')[:MAX_TEXT]


def type_of(error):
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == 'builtins' else f'{kind.__module__}.{kind.__qualname__}'


def chain_of(error):
    seen = []
    while error is not None and not any(error is one for one in seen) and len(seen) < 10:
        seen.append(error)
        error = error.__cause__ or error.__context__
    return seen


def status_of(error):
    """The HTTP status that an exception of a usual client library carries."""
    response = attribute_of(error, 'response')
    candidates = [attribute_of(response, 'status_code'), attribute_of(error, 'status_code'), attribute_of(error, 'status')]
    metadata = response.get('ResponseMetadata') if isinstance(response, dict) else None
    if isinstance(metadata, dict):
        candidates.append(metadata.get('HTTPStatusCode'))
    return next((one for one in candidates if isinstance(one, int) and 100 <= one <= 599), None)


def body_of(error):
    try:
        text = error.response.text
        return text[:MAX_TEXT] if isinstance(text, str) else ''
    except Exception:
        return ''


def described_error(error):
    if isinstance(error, Refusal):
        return {'kind': error.kind, 'message': text_of(error)[:MAX_TEXT], **error.more}
    return {'kind': 'exception', 'message': message_of(error), **failure_of(error)}


def failure_of(error):
    chain = chain_of(error)
    numbers = [attribute_of(one, 'errno') for one in chain]
    return {
        'type': type_of(error),
        # These names say whether a server was not reached, did not answer or refused the token.
        'classes': [errno.errorcode[one] for one in numbers if isinstance(one, int) and one in errno.errorcode]
        + [base.__name__ for one in chain for base in type(one).__mro__][:100],
        'status': next((status for status in map(status_of, chain) if status is not None), None),
        'body': next((body for body in map(body_of, chain) if body), ''),
    }


def main():
    connection = Connection()
    logging.getLogger().addHandler(LogHandler(connection))
    warnings.simplefilter('ignore')
    received = queue.Queue()
    threading.Thread(target=connection.read_requests, args=[received], daemon=True).start()
    bridge = None
    while True:
        request = received.get()
        connection.begin(request['id'])
        if bridge is None:
            bridge = (ServiceBridge if 'service' in request else ClassBridge)(connection)
        bridge.is_applying = False
        try:
            result = getattr(bridge, request['op'])(request)
        except BaseException as error:
            bridge.provider = None
            connection.end(error={**described_error(error), 'applying': bridge.is_applying})
        else:
            connection.end(ok=result)


main()
