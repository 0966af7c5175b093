/** dns-lexicon with a service that misbehaves: what it gets, and that nothing is lost by it. As `digitalocean` it has a row, as `awkward` none. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectEnd } from '../../support/cli.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { LEXICON_PYTHON, lexiconScene } from './lexicon-scene.ts'

const TOKEN = 'awkward-token-0123456789'
const SERVICES = join(import.meta.dirname, 'python')

interface Stored {
  readonly id?: string | number | null
  readonly name: string
  readonly type: string
  readonly ttl: number | string | null
  readonly content: string
  /** The name that a creation had. */
  readonly asked?: string
}
const A = (name: string, content: string, more: Partial<Stored> = {}): Stored => ({
  id: `id-${name}`,
  name: `${name}.example.com`,
  type: 'A',
  ttl: 300,
  content,
  ...more,
})
const KEEP = A('keep', '192.0.2.1')
const [KEPT, WWW] = ['keep 300 IN A 192.0.2.1', 'www 300 IN A 192.0.2.2']

function awkward(service: 'awkward' | 'digitalocean', { mode = '', more = '', env = {} as Readonly<Record<string, string>> } = {}) {
  const file = join(temporaryDirectory(), 'records.json')
  const store = (...records: Stored[]): void => writeFileSync(file, JSON.stringify(records))
  store(KEEP)
  const scene = lexiconScene({ service, services: SERVICES, options: { auth_token: TOKEN, file, ...(mode && { mode }) }, more, env })
  const read = (name: string) => JSON.parse(readFileSync(name, 'utf8'))
  return { ...scene, store, stored: (): Stored[] => read(file), seen: () => read(`${file}.seen`), isSeen: () => existsSync(`${file}.seen`) }
}

describeWithTools([LEXICON_PYTHON], 'dns-lexicon', () => {
  test('knows only the zone and the options: no variable, no file of the folder, no list of suffixes from elsewhere', async () => {
    const { run, define, seen, folder, env } = awkward('awkward', {
      env: { LEXICON_AWKWARD_PASSWORD: 'of the environment', HOME: temporaryDirectory() },
    })
    for (const name of ['lexicon.yml', 'lexicon_awkward.yml'])
      writeFileSync(join(folder, name), 'password: of a file\nawkward: {password: of a file}\n')
    define([KEPT, WWW])
    expect(await run('plan')).toMatchObject({ status: 0 })
    const { options, domain, env: inherited, argv } = seen()
    expect([options.password, domain, options.auth_token]).toEqual([null, 'example.com', TOKEN])
    expect(JSON.stringify([inherited, argv])).not.toMatch(/LEXICON|token/)
    expect(existsSync(join(String(Object.entries(env).find(([name]) => name === 'HOME')?.[1]), '.lexicon_tld_set'))).toBe(false)
  })

  test.each([
    ['sub.deep.example.com', 0],
    ['example.co.uk', 0],
    ['2.0.192.in-addr.arpa', 0],
    ['example.internal', 1],
    ['co.uk', 1],
  ])('the zone %s is the one that it takes it for, or is refused', async (zone, status) => {
    const { run, define, store, isSeen } = awkward('awkward')
    store()
    define(['www 300 IN A 192.0.2.2'], zone)
    const ended = await run('plan')
    expect([ended.status, isSeen()]).toEqual([status, status === 0])
    if (status === 1) expect(ended.stderr).toContain('dns-lexicon takes this zone for')
  })

  test('names are absolute, and one that it takes for another is refused', async () => {
    const { run, define, apply, stored } = awkward('awkward')
    define([KEPT, WWW, '@ 300 IN A 192.0.2.4', 'example.com.net 300 IN A 192.0.2.5'])
    expect(await apply()).toMatchObject({ readBack: 'equal', calls: { total: 3 } })
    const names = ['example.com.', 'example.com.net.example.com.', 'www.example.com.']
    expect(
      stored()
        .flatMap(({ asked }) => asked ?? [])
        .sort(),
    ).toEqual(names)
    define([KEPT, 'www.notexample.com 300 IN A 192.0.2.2'])
    expectEnd(await run('plan'), 1, { said: 'dns-lexicon takes this name for another one' })
  })

  test('a service without a row only creates, and says so', async () => {
    const { run, define, apply, store, stored } = awkward('awkward')
    store(KEEP, A('other', '192.0.2.9'), A('text', '10 mail', { type: 'MX' }))
    define([KEPT.replace('.1', '.7'), WWW, 'www 300 IN A 192.0.2.3'])
    const { stderr } = await run('plan')
    expect(stderr).toContain('plans only create records, because it is unknown whether dns-lexicon lists all records')
    expect(await apply()).toMatchObject({ readBack: 'equal', calls: { total: 2 } })
    expect(stored().map(({ name, content }) => `${name} ${content}`)).toEqual([
      'keep.example.com 192.0.2.1',
      'other.example.com 192.0.2.9',
      'text.example.com 10 mail',
      'www.example.com 192.0.2.2',
      'www.example.com 192.0.2.3',
    ])
    expect((await run('doctor')).stdout).toMatch(
      /settings of awkward that are set: auth_token, file; not set: mode[\s\S]*plans only create records/,
    )
  })

  test('records that it may not describe as they are, are left alone', async () => {
    const { run, define, apply, store, stored } = awkward('digitalocean')
    const theirs = [
      A('mx', '10 mail.example.com', { type: 'MX' }),
      A('quoted', 'say "yes"', { type: 'TXT' }),
      A('relative', 'www', { type: 'CNAME' }),
      A('auto', '192.0.2.4', { ttl: 1 }),
      A('nameless', '192.0.2.5', { id: null }),
      A('twin', '192.0.2.6', { id: 'twin' }),
      A('twins', '192.0.2.6', { id: 'twin' }),
      A('number', '192.0.2.6', { id: 7 }),
      A('text', '192.0.2.6', { id: '7' }),
      A('@', 'ns1.example.net', { type: 'NS' }),
    ]
    store(KEEP, ...theirs)
    define([WWW])
    const { stderr } = await run('plan', '--verbose')
    for (const { name } of theirs.slice(0, -1)) expect(stderr).toMatch(new RegExp(`${name}\\. .* at live, and stays as it is`))
    expect(await apply('--allow', 'deletes')).toMatchObject({ readBack: 'equal', calls: { total: 2 } })
    expect(stored()).toEqual([...theirs, expect.objectContaining({ name: 'www.example.com' })])
  })

  test.each<[mode: string, words: RegExp, left: number]>([
    ['refuse', /dns-lexicon reports a failure/, 1],
    ['ignore', /dns-lexicon did not do what was asked: the service has nothing \(compare/, 1],
    ['misname', /the service has nothing, and www\.example\.com\.example\.com\. A 192\.0\.2\.2 is new/, 2],
    ['lose', /keep\.example\.com\. A 192\.0\.2\.1 300 is no longer there since the change/, 1],
    ['leak change', /no access with \*\*\*/, 1],
    ['die change', /was ended by SIGKILL/, 1],
    ['hang change', /did not respond within 3 s/, 1],
    ['flood change', /wrote (?:a response that is too large|something else)|did not respond/, 1],
  ])('a call that fails is reported, and no other record changes: %s', async (mode, words, left) => {
    const { apply, define, stored } = awkward('digitalocean', { mode, more: ', timeout: 3' })
    define([KEPT, WWW, 'zzz 300 IN A 192.0.2.9'])
    const zone = await apply()
    expect(JSON.stringify(zone)).toMatch(words)
    expect(JSON.stringify(zone)).not.toContain(TOKEN)
    expect(stored()).toHaveLength(left)
  })

  test('a call whose answer is lost is found by the next read', async () => {
    const { apply, define, stored } = awkward('digitalocean', { mode: 'die after change' })
    define([KEPT, WWW])
    expect(await apply()).toMatchObject({ readBack: 'equal', applied: { total: 1 } })
    expect(stored()).toHaveLength(2)
  })

  test('another record than the one listed is not deleted twice: no call follows', async () => {
    const { apply, define, store, stored } = awkward('digitalocean', { mode: 'delete another' })
    const all = ['a', 'b', 'c'].map((name) => A(name, '192.0.2.9'))
    store(KEEP, ...all)
    define([KEPT])
    expect(JSON.stringify(await apply('--allow', 'deletes'))).toContain('keep.example.com. A 192.0.2.1 300 is no longer there')
    expect(stored()).toEqual(all)
  })

  test.each([
    ['one identifier', 0, /keep\.example\.com\. A 192\.0\.2\.1 has no identifier of its own/],
    ['relative names', 1, /dns-lexicon lists a record named "keep"/],
    ['leak read', 1, /no access with \*\*\*/],
  ])('a list that leads to no record: %s', async (mode, status, words) => {
    const { run, define, store } = awkward('digitalocean', { mode })
    store(KEEP, A('other', '192.0.2.9'))
    define([WWW])
    expectEnd(await run('plan'), status, { said: words })
  })

  test('what changed since the plan is a conflict', async () => {
    const { run, define, store, stored } = awkward('digitalocean')
    store(KEEP, A('www', '192.0.2.1'))
    define([KEPT, WWW])
    expect((await run('plan', '--out', 'saved.json')).status).toBe(0)
    const theirs = [KEEP, A('www', '203.0.113.1')]
    store(...theirs)
    expect((await run('apply', 'saved.json', '--yes')).status).not.toBe(0)
    expect(stored()).toEqual(theirs)
  })

  test.each([
    ['provider: awkward, options: {auth_tokn: x}', /options\.auth_tokn: awkward has no such setting \(Did you mean "auth_token"/],
    ['provider: cloudfare', /dns-lexicon has no service cloudfare \(Did you mean "cloudflare"/],
    ['provider: auto', /auto guesses the service/],
    ['provider: cloudflare, options: {zone_id: x}', /options\.zone_id: names one zone, which dns-lexicon would take for every other/],
  ])('settings that cannot be: %s', async (settings, words) => {
    const { run, define, folder } = awkward('awkward')
    writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  live: {type: lexicon, python: '${LEXICON_PYTHON}', ${settings}}\n`)
    define([KEPT])
    expectEnd(await run('plan'), 1, { said: words })
  })

  test('a run in CI refuses a service that nobody allowed', async () => {
    const { run, define, isSeen } = awkward('awkward', { env: { ZONEWRIGHT_ALLOWED_HOSTS: 'example.net' } })
    define([KEPT])
    expectEnd(await run('plan'), 1, { said: 'this run may not run lexicon:awkward' })
    expect(isSeen()).toBe(false)
  })

  test.each(['file::/etc/hosts', '../elsewhere', '~/key'])('an option leads to no file out of the folder in CI: %s', async (path) => {
    const { run, define, folder, isSeen } = awkward('awkward', { env: { CI: 'true', ZONEWRIGHT_ALLOWED_PACKAGES: 'lexicon:awkward' } })
    const python = `python: '${LEXICON_PYTHON}'`
    writeFileSync(
      join(folder, 'zonewright.yaml'),
      `providers:\n  live: {type: lexicon, provider: awkward, ${python}, options: {file: '${path}'}}\n`,
    )
    define([KEPT])
    expectEnd(await run('plan'), 1, { said: 'options.file' })
    expect(isSeen()).toBe(false)
  })

  test('zones are imported by name, and copied', async () => {
    const { run, store, stored, folder } = awkward('digitalocean')
    store(KEEP, A('www', '192.0.2.2'))
    expectEnd(await run('import', '--from', 'live', '-o', 'zones', 'example.com'), 0)
    expect((await run('plan', '--detailed-exitcode')).status).toBe(0)
    mkdirSync(join(folder, 'files'))
    writeFileSync(join(folder, 'files/example.com.yaml'), 'www: {type: A, ttl: 300, values: [192.0.2.2, 192.0.2.3]}\n')
    const config = readFileSync(join(folder, 'zonewright.yaml'), 'utf8')
    const rules = "zones: [{files: ['zones/**/*'], targets: [live]}]\n"
    writeFileSync(join(folder, 'zonewright.yaml'), `${config}  files: {type: octodns, directory: files}\n${rules}`)
    store()
    expect(await run('copy', '--from', 'files', '--to', 'live', 'example.com', '--yes')).toMatchObject({ status: 0 })
    expect(stored().map(({ content }) => content)).toEqual(['192.0.2.2', '192.0.2.3'])
  })
})
