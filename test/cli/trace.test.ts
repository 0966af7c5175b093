import { expect, test } from 'vitest'
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
  const { stdout } = expectEnd(await scene.runWith({ ZONEWRIGHT_TOKEN: undefined }, ...args), 1, { err: '' })
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
    /\nLast run that changed it\n {2}journal\n {4}no run of the journal changed it\n\n1 place differs \(≠\), 2 places could not be asked \(!\)\.\n$/,
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
    ],
  })
  expectEnd(await scene.run('trace', 'example.org', ...args), 0, {
    out: [/no definition has a zone for it/, /Name servers\n= 127/, /Resolvers\n= /],
  })
  expectEnd(await scene.runIn({ cwd: temporaryDirectory() }, 'trace', 'example.org', ...args), 1, {
    out: [/Definition\n! config\n/, /Resolvers\n= /],
  })
  expectEnd(await scene.run('trace', 'example.com', 'NONE'), 1, { err: /error\[usage\] .*"NONE" is not a record type/ })
  expectEnd(await scene.run('trace', 'example.com', '--resolver', 'a b'), 1, { err: /error\[usage\]/ })
})

test('shows no secret and no control character of an answer', async () => {
  const [leaking, odd] = [await startTexts(`"key=${TOKEN}"`), await startTexts('"a\\000b\\027[31mc" "\\155\\010"')].map(addressOf)
  const scene = await openLiveScene()
  const args = ['trace', 'example.com', 'TXT', '--nameserver', String(odd), '--resolver', String(odd), '--parent-server', String(odd)]
  const shown = expectEnd(await scene.run(...args), 1, { out: /≠ 127.*\n {4}example\.com\. 300 TXT "a\\000b\\027\[31mc" "\\155\\010"\n/ })
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
  expectEnd(await scene.run('trace', 'no.example.com', 'AAAA', ...args, good), 1, {
    out: [
      /\nDefinition\n.*\n {4}no record\n {4}commit/,
      /\n= cloud\n {4}no record\n/,
      /\n≠ 127.*\n {4}expected: NXDOMAIN\n {4}no records\n/,
    ],
  })
  expectEnd(await scene.run('trace', 'example.org', ...args, refusing, '--nameserver', good), 2, {
    out: /Name servers\n≠ .*\n {4}expected: A 192\.0\.2\.1\n {4}REFUSED\n= .*\n[\s\S]*Resolvers\n= /,
  })
  // It has the delegated zone, too.
  scene.write({ 'zones/example.com.yaml': `${ZONE}  child: {type: NS, value: localhost.}\n` })
  expectEnd(await scene.run('trace', 'www.child.example.com', ...args, good), 1, { out: /Name servers\n {2}127.*\n {4}www\.child.* A 192/ })
  expectEnd(await scene.run('trace', '.', ...args, good), 0, { out: [/no definition has a zone for it/, /Resolvers\n= /] })
})
