import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startRoute53Scene } from '../providers/route53/scene.ts'
import { APPLY } from '../providers/scripted-scene.ts'
import { expectEnd } from '../support/cli.ts'
import { response, startScriptedDns } from '../support/scripted-dns.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { openLiveScene, openScene, TOKEN, ZONE } from './scene.ts'

/** A server with one TXT record at every name. */
const startTexts = (data: string) =>
  startScriptedDns((query) => {
    const answers = query.questions.map(({ name }) => ({ name, type: 'TXT', class: 1, ttl: 300, data }))
    return [response(query, answers)]
  })

/** A server that answers every query with one address, and as a resolver with SERVFAIL unless validation is off. */
const startServer = (data: string, bogus = false) =>
  startScriptedDns((query) => {
    const [question] = query.questions
    if (question === undefined) return []
    const answers = question.type === 'A' ? [{ name: question.name, type: 'A', class: 1, ttl: 86400, data }] : []
    return [bogus && !query.checkingDisabled ? response(query, [], { rcode: 2 }) : response(query, answers, { authenticData: true })]
  })

const addressOf = ({ host, port }: { host: string; port: number }): string => `${host}:${port}`

test('says what each step lacks, and goes on', async () => {
  const good = addressOf(await startServer('192.0.2.1'))
  const bogus = addressOf(await startServer('192.0.2.1', true))
  const scene = openScene()
  const args = ['trace', 'example.com', '--nameserver', good, '--resolver', good, '--resolver', bogus, '--parent-server', good]
  // Without a token, journal and repository; the parent's server does not answer as one.
  const { stdout } = expectEnd(await scene.runWith({ ZONEWRIGHT_TOKEN: undefined }, ...args), 2, { err: '' })
  expect(stdout).toMatch(
    /\nDefinition\n {2}zones\/example\.com\.yaml:4\n {4}example\.com\. \(default\) A 192\.0\.2\.1\n {4}commit unknown: .* is not in a git repository\n/,
  )
  expect(stdout).toMatch(/\nProvider\n! cloud\n {4}.*ZONEWRIGHT_TOKEN/)
  expect(stdout).toMatch(/\nParent zone\n! com\.\n {4}example\.com\.: the delegation .*\n/)
  expect(stdout).toMatch(/\nName servers\n= 127\.0\.0\.1:\d+\n {4}example\.com\. 86400 A 192\.0\.2\.1\n/)
  expect(stdout).toMatch(
    /\nResolvers\n= .*\n.*\n {4}validated by DNSSEC\n {4}kept for another 1 d\n≠ .*\n {4}expected: A 192\.0\.2\.1\n {4}bogus: .*\n {4}SERVFAIL\n/,
  )
  expect(stdout).toMatch(
    /\nLast run that changed it\n {2}journal\n {4}no run of the journal changed it\n\n1 place differs \(≠\); 2 places could not be queried \(!\): provider, parent zone\.\n$/,
  )
})

test('contacts no host that is not allowed, and traces names of no zone and without a config', async () => {
  const server = await startServer('192.0.2.1')
  const scene = await openLiveScene()
  const args = ['--nameserver', addressOf(server), '--resolver', addressOf(server), '--parent-server', addressOf(server)]
  const refused = await scene.runWith({ ZONEWRIGHT_ALLOWED_HOSTS: '127.0.0.1:9' }, 'trace', 'example.com', ...args)
  expectEnd(refused, 1, {
    out: [
      /= cloud\n/,
      /Parent zone\n! .*\n.*ZONEWRIGHT_ALLOWED_HOSTS/,
      /Name servers\n! .*\n {4}it is not among the hosts/,
      /Resolvers\n! .*\n/,
      // Not "No differences": what clients get is not known.
      /\n\nIncomplete: 3 places could not be queried \(!\): parent zone, name servers, resolvers; 1 place agrees \(=\)\.\n$/,
    ],
  })
  expectEnd(await scene.run('trace', 'example.org', ...args), 1, {
    out: [/no definition has a zone for it/, /Name servers\n= 127/, /Resolvers\n= /],
  })
  expectEnd(await scene.runIn({ cwd: temporaryDirectory() }, 'trace', 'example.org', ...args), 1, {
    out: [/Definition\n! config\n/, /Resolvers\n= /],
  })
  expectEnd(await scene.run('trace', 'example.com', 'NONE'), 1, { err: /error\[usage\] .*"NONE" is not a record type/ })
  expectEnd(await scene.run('trace', 'example.com', '--resolver', 'a b'), 1, { err: /error\[usage\]/ })
})

const MAIL = / {2}mail: .*\n/
test.each<readonly [what: string, zone: string, name: string, said: string, status: number]>([
  [
    'a missing record',
    `${ZONE}  new: {type: A, value: 192.0.2.1}\n`,
    'new.example.com',
    'cloud lacks the record: "zonewright apply example.com" creates it.',
    2,
  ],
  [
    'another value',
    ZONE.replace('192.0.2.2', '192.0.2.9'),
    'mail.example.com',
    'cloud has other records: "zonewright apply example.com" changes them.',
    2,
  ],
  [
    'a removed record',
    ZONE.replace(MAIL, ''),
    'mail.example.com',
    'cloud differs from the definition: "zonewright apply example.com" corrects it.',
    2,
  ],
  ['a name without its zone', ZONE, 'www', 'no definition has a zone for it; did you mean www.example.com?', 1],
])('says what closes a difference: %s', async (_, zone, name, said, status) => {
  const server = addressOf(await startServer('192.0.2.1'))
  const scene = await openLiveScene()
  scene.write({ 'zones/example.com.yaml': zone })
  expectEnd(await scene.run('trace', name, '--nameserver', server, '--resolver', server, '--parent-server', server), status, { out: said })
})

test('shows no secret and no control character of an answer', async () => {
  const [leaking, odd] = [await startTexts(`"key=${TOKEN}"`), await startTexts('"a\\000b\\027[31mc" "\\155\\010"')].map(addressOf)
  const scene = await openLiveScene()
  const args = ['trace', 'example.com', 'TXT', '--nameserver', String(odd), '--resolver', String(odd), '--parent-server', String(odd)]
  const shown = expectEnd(await scene.run(...args), 2, { out: /≠ 127.*\n {4}example\.com\. 300 TXT "a\\000b\\027\[31mc" "\\155\\010"\n/ })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: there must be none
  expect(shown.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  // The runs of a scene fail if the token is in the output.
  for (const format of ['text', 'json'])
    expectEnd(await scene.run(...args, '--resolver', String(leaking), '--format', format), 1, {
      out: /TXT .*\*\*\*/,
      err: /secret-exposed/,
    })
})

test('a name that nobody has, and a zone whose first name server refuses', async () => {
  const refusing = addressOf(await startScriptedDns((query) => [response(query, [], { rcode: 5 })]))
  const good = addressOf(await startServer('192.0.2.1'))
  const scene = await openLiveScene()
  const args = ['--resolver', good, '--parent-server', good, '--nameserver']
  expectEnd(await scene.run('trace', 'no.example.com', 'AAAA', ...args, good), 2, {
    out: [/\nDefinition\n.*\n {4}no record\n\n/, /\n= cloud\n {4}no record\n/, /\n≠ 127.*\n {4}expected: NXDOMAIN\n {4}no records\n/],
  })
  expectEnd(await scene.run('trace', 'example.org', ...args, refusing, '--nameserver', good), 2, {
    out: /Name servers\n≠ .*\n {4}expected: A 192\.0\.2\.1\n {4}REFUSED\n= .*\n[\s\S]*Resolvers\n= /,
  })
  // It has the delegated zone, too.
  scene.write({ 'zones/example.com.yaml': `${ZONE}  child: {type: NS, value: localhost.}\n` })
  expectEnd(await scene.run('trace', 'www.child.example.com', ...args, good), 2, { out: /Name servers\n {2}127.*\n {4}www\.child.* A 192/ })
  expectEnd(await scene.run('trace', '.', ...args, good), 1, { out: [/no definition has a zone for it/, /Resolvers\n= /] })
})

test('a wildcard, and the deletion of the zone, are changes of a name', async () => {
  const server = addressOf(await startServer('192.0.2.5'))
  const zone = `${ZONE}  '*': {type: A, value: 192.0.2.5}\n`
  const scene = await openLiveScene({ files: { 'zones/example.com.yaml': zone } })
  const trace = () => scene.run('trace', 'x.example.com', '--nameserver', server, '--resolver', server, '--parent-server', server)
  expectEnd(await trace(), 1, { out: /\n {4}create at cloud, applied: \*\.example\.com\. / })
  const journal = join(scene.folder, '.zonewright/runs')
  const [run = ''] = readdirSync(journal)
  const copies = Array.from({ length: 100 }, (_, at) => run.replace(/^\d{4}/, String(3000 + at)))
  for (const copy of copies) {
    cpSync(join(journal, run), join(journal, copy), { recursive: true })
    const file = join(journal, copy, 'journal.jsonl')
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(run, copy))
  }
  expectEnd(
    await scene.run('trace', 'mail.example.com', 'AAAA', '--nameserver', server, '--resolver', server, '--parent-server', server),
    1,
    {
      out: /\n {4}none of the latest 100 runs changed it\n/,
    },
  )
  for (const copy of copies) rmSync(join(journal, copy), { recursive: true })
  scene.write({ 'zones/example.com.yaml': zone.replace('\n', '\nabsent: true\n') })
  expectEnd(await trace(), 2, { out: /\n≠ cloud\n[\s\S]*shows what would change\n/ })
  expectEnd(await scene.run('apply', '--yes', '--allow', 'delete-zone'), 0)
  const deleted = /\n {4}delete of the zone example\.com\. at cloud, applied\n/
  expectEnd(await trace(), 1, { out: [/\n= cloud\n {4}the zone does not exist there\n\n/, deleted] })
  // Without a definition no server says which zone it was.
  rmSync(join(scene.folder, 'zones/example.com.yaml'))
  expectEnd(await trace(), 1, { out: [/no definition has a zone for it/, deleted] })
})

test('with split horizon, name servers are compared with their own target, and resolvers with any', async () => {
  const [outside, inside, other] = await Promise.all(
    ['192.0.2.1', '192.0.2.9', '192.0.2.5'].map(async (data) => addressOf(await startServer(data))),
  )
  const rule = (folder: string, server: string | undefined) =>
    `  - {files: '${folder}/*', targets: [${folder}], nameservers: ['${server}']}\n`
  const view = (data: string) =>
    `domain: example.com\nrecords:\n  '': {type: NS, value: localhost.}\n  www: {type: A, ttl: 1d, value: ${data}}\n`
  const scene = await openLiveScene({
    config: `  out: {type: zonefile, directory: a}\n  in: {type: zonefile, directory: b}\nzones:\n${rule('out', outside)}${rule('in', inside)}`,
    files: { 'out/example.com.yaml': view('192.0.2.1'), 'in/example.com.yaml': view('192.0.2.9'), 'a/.gitkeep': '', 'b/.gitkeep': '' },
  })
  const resolvers = [outside, inside, other].flatMap((one) => ['--resolver', String(one)])
  const trace = (...args: string[]) => scene.run('trace', 'www.example.com', '--parent-server', String(other), ...resolvers, ...args)
  expectEnd(await trace(), 2, { out: [/Name servers\n= .*\n.*\n= .*\n/, /Resolvers\n= .*\n(?: .*\n)+= .*\n(?: .*\n)+≠ /] })
  expectEnd(await trace('--nameserver', String(other)), 2, { out: /Name servers\n≠ .*\n.*\n {4}expected: A 192/ })
})

test('another target of an alias that the server flattens is a difference of the provider', async () => {
  const server = addressOf(await startServer('192.0.2.1'))
  const alias = (host: string) => `  cdn: {type: ALIAS, ttl: 60, value: ${host}.cloudfront.net.}\n`
  const scene = await startRoute53Scene({ definition: alias('d1') })
  expectEnd(await scene.run(APPLY), 0)
  scene.define(alias('d2'))
  const traced = await scene.run(['trace', 'cdn.example.com', '--nameserver', server, '--resolver', server, '--parent-server', server])
  expectEnd(traced, 2, {
    out: [/\n≠ \w+\n {4}cdn\.example\.com\. 60 ALIAS d1\./, /\n {4}create at \w+, applied: cdn\.example\.com\. 60 ALIAS/],
  })
})
