/** Runs the commands of README.md and docs/ in a shell: their output must be the documented output. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { builtProgram } from '../support/built-program.ts'
import { freePort } from '../support/free-port.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'

/** Milliseconds. Each command is a process, on a machine that may be busy. */
const PATIENCE = 180_000

vi.setConfig({ testTimeout: PATIENCE })

type Block = { readonly heading: string; readonly language: string; readonly text: string }

/** The fenced blocks of a document, each with its heading. */
function blocksOf(path: string): Block[] {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const blocks: Block[] = []
  let heading = ''
  for (const [, title, language = '', body = ''] of text.matchAll(/^(?:#+ (.*)|```(\S*)\n([\s\S]*?)^```)$/gm)) {
    if (title === undefined) blocks.push({ heading, language, text: body })
    else heading = title
  }
  return blocks
}

function blockOf(path: string, heading: string, language: string, nth = 0): string {
  const block = blocksOf(path).filter((one) => one.heading.includes(heading) && one.language === language)[nth]
  if (!block) throw new Error(`${path} has no ${language} under ${heading}`)
  return block.text
}

type Step = { readonly command: string; readonly shown: string }

/** The commands of a console block, the lines with `$ `, each with its output. */
const stepsOf = (block: string): Step[] =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((step) => ({ command: step.slice(0, step.indexOf('\n')), shown: step.slice(step.indexOf('\n') + 1) }))

/** The output without the parts that differ in every run. */
const plain = (output: string): string =>
  output
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME')
    .replace(/(?<=TIME, which is )[^,;()]*? old/g, 'AGE old')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim()

/** A line `…` matches any lines. */
function expectShown(output: string, { command, shown }: Step): void {
  const parts = plain(shown).split(/^…$/m)
  if (parts.length === 1) expect(plain(output), command).toBe(plain(shown))
  else for (const part of parts) expect(plain(output), command).toContain(part.trim())
}

interface Shell {
  readonly baseUrl: string
  readonly dns: number
  /** Runs the lines in sequence and returns the output of each; stops a started service after the last. */
  run(lines: readonly string[], env?: Readonly<Record<string, string>>): Promise<string[]>
  write(files: Readonly<Record<string, string>>): void
}

/** A shell in an empty folder; `zonewright` and `npx zonewright` are the built program, and the service has free ports. */
async function openShell(): Promise<Shell> {
  const folder = temporaryDirectory()
  const [http, dns] = [await freePort(), await freePort()]
  const write: Shell['write'] = (files) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  }
  const program = `${process.execPath} ${await builtProgram()}`
  const serve = `exec ${program} "$@" --listen 127.0.0.1:${http} --dns 127.0.0.1:${dns} --data "${folder}/data" >"${folder}/serve.log" 2>&1`
  write({
    'bin/zonewright': `#!/bin/sh
if [ "$1" = serve ]; then ${serve}; fi
if [ "$1" != init ]; then exec ${program} "$@"; fi
${program} "$@" && sed -i 's/:8080/:${http}/; s/:5353/:${dns}/' zonewright.yaml
`,
    'bin/npx': '#!/bin/sh\nexec "$@"\n',
  })
  for (const name of ['zonewright', 'npx']) chmodSync(join(folder, 'bin', name), 0o755)
  const run: Shell['run'] = async (lines, env = {}) => {
    const ready = `for i in $(seq 600); do grep -q listening "${folder}/serve.log" 2>/dev/null && break; sleep 0.1; done`
    const script = [
      'exec 2>&1',
      `export PATH="${folder}/bin:$PATH"`,
      ...Object.entries(env).map(([name, value]) => `export ${name}='${value}'`),
      "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT",
      ...lines.flatMap((line) => ["printf '\\036'", line.replace('-p 5353', `-p ${dns}`), ...(line.endsWith('&') ? [ready] : [])]),
      "printf '\\036'",
    ].join('\n')
    const { stdout } = await runTool('bash', ['-c', script], { cwd: folder, timeout: PATIENCE - 10_000 })
    return stdout.split('\u001e').slice(1, -1)
  }
  return { baseUrl: `http://127.0.0.1:${http}/v4`, dns, run, write }
}

const linesOf = (block: string): string[] => block.trim().split('\n')
const START = linesOf(blockOf('README.md', 'five minutes', 'sh'))

describeWithTools(['dig', 'openssl'], 'README', () => {
  test('five minutes to a plan, and the imports', async () => {
    const shell = await openShell()
    const steps = stepsOf(blockOf('README.md', 'five minutes', 'console'))
    expect(steps).toHaveLength(7)
    shell.write({ 'named/db.example.org': '$TTL 300\n@ SOA ns1 hostmaster 1 2 3 4 5\n@ NS ns1\nns1 A 192.0.2.53\n' })
    const imports = linesOf(blockOf('README.md', 'Import existing zones', 'sh')).map((line) =>
      line.replace('/var/named', '../named').replace('192.0.2.53', `127.0.0.1:${shell.dns}`).replace('-o zones', '-o "$(mktemp -d -p .)"'),
    )
    expect(imports).toHaveLength(3)
    const allow =
      "sed -i '2a axfr_ips: [127.0.0.1]' zones/example.com.yaml; npx zonewright apply --yes >applied.txt; sleep 0.5; tail -n 1 applied.txt"
    const outputs = await shell.run([...START, ...steps.map(({ command }) => command), allow, ...imports])
    expect(outputs[START.length - 1]).toMatch(/^Written:\n {2}zonewright\.yaml\n {2}zones\/example\.com\.yaml\n/)
    for (const [index, step] of steps.entries()) expectShown(outputs[START.length + index] ?? '', step)
    const rest = outputs.slice(START.length + steps.length)
    expect(rest[0]).toContain('0 deleted in 1 zone')
    for (const output of rest.slice(1)) expect(output).toMatch(/\n1 zone with \d records, read back and compared\.\n/)
  })
})

const EDITED = `domain: example.com
soa_email: hostmaster@example.com
records:
  mail: {type: A, value: 192.0.2.2} # mail itself
  www: {type: A, value: 192.0.2.1} # the site
`

/** Bash, sed and seq. */
const SERVERS = { tags: ['servers'] }
const CONFIG = 'providers: {cloud: {type: cloud, preset: linode, token: env:TOKEN}}\n'
const DIRECTORY = { 'zonewright.yaml': CONFIG, 'zones/example.com.yaml': EDITED }

test('docs/tasks/changing-records.md: record', SERVERS, async () => {
  const shell = await openShell()
  shell.write(DIRECTORY)
  const steps = stepsOf(blockOf('docs/tasks/changing-records.md', '`record`', 'console'))
  const outputs = await shell.run(steps.map(({ command }) => command))
  for (const [index, step] of steps.entries()) expectShown(outputs[index] ?? '', step)
})

test('docs/tasks/import-and-export.md: first examples, except the import from a provider', SERVERS, async () => {
  const shell = await openShell()
  shell.write(DIRECTORY)
  const lines = linesOf(blockOf('docs/tasks/import-and-export.md', 'Import and export', 'sh')).filter((line) => !line.includes(' --from '))
  const outputs = await shell.run(
    lines.map((line) => `${line.replace('/var/named', 'named').replace('-o zones ', '-o elsewhere ')}; echo "status $?"`),
  )
  expect(lines).toHaveLength(2)
  expect(outputs[0]).toContain('named does not exist')
  expect(outputs[1]).toMatch(/warning\[zone-without-ns\].*\nstatus 0\n/)
})

test('docs/tasks/octodns-and-dnscontrol.md: from octoDNS', SERVERS, async () => {
  const shell = await openShell()
  const lines = linesOf(blockOf('docs/tasks/octodns-and-dnscontrol.md', 'From octoDNS', 'console'))
  expect(lines).toHaveLength(3)
  const production = `providers:
  config: {class: octodns.provider.yaml.YamlProvider, directory: ./zones}
  linode: {class: octodns_linode.LinodeProvider, token: env/LINODE_TOKEN}
zones:
  example.com.: {sources: [config], targets: [linode]}
`
  for (const at of lines.keys()) {
    shell.write({ [`${at}/zones/example.com.yaml`]: "'': {type: A, value: 192.0.2.1}\n" })
    if (at === 0) shell.write({ '0/config/production.yaml': production })
  }
  const outputs = await shell.run(lines.map((line, at) => `cd ${at}; ${line.replace(/ {2,}#.*/, '')}; echo "status $?"; cd ..`))
  for (const output of outputs) expect(output).toMatch(/1 zone with 1 record, read back and compared\.\nNext:\n.*\nstatus 0\n/s)
})

describeWithTools(['curl', 'jq', 'openssl'], 'docs/tasks/saved-plans.md', () => {
  test('saves a plan, queries it, and reports it as stale', async () => {
    const shell = await openShell()
    const blocks = blocksOf('docs/tasks/saved-plans.md').filter(({ language }) => language === 'console')
    const [save, stale, query] = blocks.map(({ text }) => stepsOf(text)[0]) as [Step, Step, Step]
    const definition = (address: string): string =>
      `domain: example.com\nsoa_email: hostmaster@example.com\nrecords: {'': {type: A, value: ${address}}, www: {type: CNAME, value: '@'}}\n`
    shell.write({ first: definition('192.0.2.1'), second: definition('192.0.2.7') })
    const other = `curl -s -H "Authorization: Bearer $ZONEWRIGHT_TOKEN" -H 'Content-Type: application/json' \\
    -d '{"type": "A", "name": "ftp", "target": "192.0.2.9"}' ${shell.baseUrl}/domains/1/records`
    const outputs = await shell.run(
      [
        ...START,
        'cp ../first zones/example.com.yaml; zonewright apply --yes; cp ../second zones/example.com.yaml',
        save.command,
        query.command,
        other,
        stale.command,
      ],
      { ZONEWRIGHT_PLAN_KEY: 'ab'.repeat(32) },
    )
    const at = START.length + 1
    expectShown(outputs[at] ?? '', save)
    expectShown(outputs[at + 1] ?? '', query)
    expect(outputs[at + 2]).toContain('"ftp"')
    expectShown(outputs[at + 3] ?? '', stale)
  })
})

describeWithTools(['openssl', 'ssh-keygen'], 'docs/tasks/snapshots.md', () => {
  test('makes keys and a snapshot, and plans against it without a token', async () => {
    const shell = await openShell()
    const blocks = blocksOf('docs/tasks/snapshots.md')
    const keys = blocks.filter(({ heading, language }) => heading.includes('keys') && language === 'sh').map(({ text }) => text.trim())
    const [make, plan] = stepsOf(blockOf('docs/tasks/snapshots.md', 'Plan without credentials', 'console')) as [Step, Step]
    const definition = (address: string): string =>
      `domain: example.com\nsoa_email: hostmaster@example.com\nrecords: {'': {type: A, value: ${address}}}\n`
    shell.write({ first: definition('192.0.2.1'), second: definition('192.0.2.7') })
    const outputs = await shell.run([
      ...START,
      `cp ../first zones/example.com.yaml; zonewright apply --yes; ${keys.join('; ').replaceAll('\n', '; ')}`,
      make.command,
      `cp ../second zones/example.com.yaml; unset ZONEWRIGHT_TOKEN; ${plan.command}`,
      plan.command.replace(/file:\S+pem$/, 'file:snapshot-key.pub'),
    ])
    const at = START.length + 1
    expectShown(outputs[at] ?? '', make)
    expectShown(outputs[at + 1] ?? '', plan)
    expect(outputs[at + 2]).toContain('error[snapshot-signature]')
  })
})
