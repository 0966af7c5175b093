/**
 * Plans 12,000 records and changes 1,000 of them at BIND and Knot DNS (dynamic update) and PowerDNS (HTTP API), beside octoDNS's provider for the same server:
 * `node bench/providers.mjs [FOLDER]`, where FOLDER holds the programs of octoDNS (the `bin` of a virtual environment with octodns, octodns-bind and
 * octodns-powerdns); without it, Zonewright alone. `--clouds FOLDER` uses the scripted Cloud DNS and Azure DNS of the tests instead, with a zone of 5,000 records;
 * FOLDER is that of octoDNS with octodns-googlecloud and octodns-azure. `--short` makes one run instead of three. Both work in turn on one server and one zone: one makes a change, the
 * other takes it back. Times are those of whole processes, requests are counted by a proxy that both use.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { CLOUDS } from './cloud-servers.mjs'
import { largeZone } from './large-zone.mjs'
import { median, PROGRAM } from './measure.mjs'
import { countRequests } from './service-under-test.mjs'
import { API_KEY, countMessages, isInstalled, KEY, startBind, startKnot, startPowerDns } from './update-servers.mjs'

const isCloud = process.argv.includes('--clouds')
const [octodnsFolder] = process.argv.slice(2).filter((arg) => !arg.startsWith('--'))
const RUNS = process.argv.includes('--short') ? 1 : 3
const RECORDS = isCloud ? 5_000 : 12_000
const CHANGED = 1_000
const ZONE = 'large.example'

/** The definition, for Zonewright and octoDNS alike; with `changed`, other addresses at 1,000 names. */
function definition(changed) {
  let left = changed ? CHANGED : 0
  const records = largeZone(RECORDS).replace(/value: 198\.51\.100\./g, (text) => (left-- > 0 ? 'value: 203.0.113.' : text))
  // The clouds set the name servers of a zone themselves.
  return isCloud ? records : `'': {type: NS, values: [ns1.example.net., ns2.example.net.]}\n${records}`
}

/** The zone file of the definition without changes. */
const zoneFile = () =>
  [
    '$TTL 3600',
    `$ORIGIN ${ZONE}.`,
    '@ SOA ns1.example.net. hostmaster.example.com. 1 14400 14400 1209600 300',
    '@ NS ns1.example.net.',
    '@ NS ns2.example.net.',
    ...largeZone(RECORDS)
      .trimEnd()
      .split('\n')
      .map((line) => {
        const [, name, type, value] = /^(\S+): \{type: (\w+), value: (.*)\}$/.exec(line)
        const [, preference, exchange] = /^\{preference: (\d+), exchange: (\S+)\}$/.exec(value) ?? []
        return `${name} ${type} ${exchange === undefined ? value : `${preference} ${exchange}`}`
      }),
    '',
  ].join('\n')

const updates = (title, program, start) => ({
  title,
  programs: [program],
  start,
  async open({ port }) {
    const proxy = await countMessages(port)
    return {
      ...proxy,
      own: `{type: rfc2136, server: '127.0.0.1:${proxy.port}', tsig: {name: ${KEY.name}., secret: env:BENCH_KEY}}`,
      octodns: `{class: octodns_bind.Rfc2136Provider, host: 127.0.0.1, port: ${proxy.port}, key_name: ${KEY.name}., key_secret: env/BENCH_KEY, key_algorithm: hmac-sha256, timeout: 60}`,
      env: { BENCH_KEY: KEY.secret },
    }
  },
})

const SERVERS = [
  updates('BIND, dynamic update', 'named', startBind),
  updates('Knot DNS, dynamic update', 'knotd', startKnot),
  {
    title: 'PowerDNS, HTTP API',
    programs: ['pdns_server', 'pdnsutil'],
    start: startPowerDns,
    async open({ apiPort }) {
      const { http, counts, stop } = await countRequests(`http://127.0.0.1:${apiPort}`)
      const { origin, port } = new URL(http)
      return {
        stop,
        count: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
        own: `{type: powerdns, base_url: '${origin}', api_key: env:BENCH_KEY}`,
        octodns: `{class: octodns_powerdns.PowerDnsProvider, host: 127.0.0.1, port: ${port}, api_key: env/BENCH_KEY, timeout: 60}`,
        env: { BENCH_KEY: API_KEY },
      }
    },
  },
]

/** Runs a command and prints the CPU time of it and its children on another stream. */
const WITH_TIMES = ['bash', '-c', '"$@"; status=$?; times >&3; exit $status', 'bash']

/** The CPU seconds of the children in the output of `times`: `0m1.234s 0m0.056s` in its second line. */
const cpuSeconds = (text) =>
  [
    ...text
      .trim()
      .split('\n')[1]
      .matchAll(/(\d+)m([0-9.]+)s/g),
  ].reduce((sum, [, minutes, seconds]) => sum + minutes * 60 + Number(seconds), 0)

/** Runs a program to its end: seconds, CPU seconds and requests. Its output must match. */
async function measure([program, ...args], { cwd, env, count, expected }) {
  const [begin, before] = [process.hrtime.bigint(), count()]
  const { status, output, times } = await new Promise((done, fail) => {
    const texts = ['', '', '', '']
    const [shell, ...words] = [...WITH_TIMES, program, ...args]
    const child = spawn(shell, words, { cwd, env: { ...process.env, ...env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
    for (const fd of [1, 2, 3]) child.stdio[fd].setEncoding('utf8').on('data', (part) => (texts[fd] += part))
    child.on('error', fail)
    child.on('close', (code) => done({ status: code, output: texts[1] + texts[2], times: texts[3] }))
  })
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9
  if (status !== 0 || !expected.test(output)) throw new Error(`${program} ${args.join(' ')} ended with ${status}\n${output.slice(-2000)}`)
  return { seconds, cpu: cpuSeconds(times), requests: count() - before }
}

async function benchmark({ title, start, open }) {
  const cwd = mkdtempSync(join(tmpdir(), 'zonewright-bench-'))
  const directory = join(cwd, 'server')
  for (const name of ['server', 'zones']) mkdirSync(join(cwd, name))
  writeFileSync(join(directory, 'zone'), zoneFile())
  const server = await start?.(directory, ZONE)
  const { own, octodns, env, count, stop } = await (isCloud ? open(directory, ZONE) : open(server))
  try {
    writeFileSync(join(cwd, 'zonewright.yaml'), `providers:\n  live: ${own}\n`)
    writeFileSync(
      join(cwd, 'octodns.yaml'),
      `providers:
  definitions: {class: octodns.provider.yaml.YamlProvider, directory: ./zones, default_ttl: 3600, enforce_order: false}
  live: ${octodns}
zones:
  ${ZONE}.: {sources: [definitions], targets: [live]}
`,
    )
    const define = (changed) => writeFileSync(join(cwd, `zones/${ZONE}.yaml`), definition(changed))
    const setting = { cwd, env, count }
    const zonewright = (expected, ...args) => measure([process.execPath, PROGRAM, ...args], { ...setting, expected })
    const sync = (expected, ...args) =>
      measure([resolve(octodnsFolder, 'octodns-sync'), '--config-file', 'octodns.yaml', ...args], { ...setting, expected })
    const figures = { plan: [[], []], apply: [[], []] }
    define(false)
    // octoDNS takes a host that Zonewright wrote at Azure, without its final dot, for another one.
    if (isCloud) await (octodnsFolder ? sync(/total changes/, '--doit') : zonewright(/applied/i, 'apply', '--yes'))
    for (let run = 0; run < RUNS; run += 1) {
      define(false)
      figures.plan[0].push(await zonewright(/No changes/, 'plan'))
      if (octodnsFolder) figures.plan[1].push(await sync(/No changes were planned/))
      define(true)
      figures.apply[0].push(await zonewright(/applied/i, 'apply', '--yes'))
      define(false)
      if (octodnsFolder) figures.apply[1].push(await sync(/1000 total changes/, '--doit'))
      else await zonewright(/./, 'apply', '--yes')
    }
    console.log(title)
    print(`plan, ${RECORDS} records, none changed`, figures.plan)
    print(`apply, ${CHANGED} records changed`, figures.apply)
  } finally {
    await stop()
    await server?.stop()
    rmSync(cwd, { recursive: true, force: true })
  }
}

/** Two lines: time, CPU time and requests of Zonewright and octoDNS, and how many times as long octoDNS takes (the median of the runs). */
function print(job, [own, other]) {
  const middle = (runs, pick) => median(runs.map(pick))
  const side = (name, runs) =>
    `    ${name.padEnd(12)} ${middle(runs, ({ seconds }) => seconds).toFixed(2)} s, CPU ${middle(runs, ({ cpu }) => cpu).toFixed(2)} s, ${middle(runs, ({ requests }) => requests)} requests`
  console.log(`  ${job}\n${side('Zonewright', own)}`)
  if (other.length === 0) return
  const ratio = (pick) => median(other.map((run, at) => pick(run) / pick(own[at]))).toFixed(1)
  console.log(`${side('octoDNS', other)}   time ×${ratio(({ seconds }) => seconds)}, CPU ×${ratio(({ cpu }) => cpu)}`)
}

const load = () => loadavg()[0].toFixed(1)

console.log(`medians of ${RUNS} runs; load at the beginning ${load()}`)
for (const server of isCloud ? CLOUDS : SERVERS) {
  const missing = (server.programs ?? ['openssl']).filter((program) => !isInstalled(program))
  if (missing.length > 0) console.log(`${server.title}: skipped, ${missing.join(' and ')} not installed`)
  else await benchmark(server)
}
console.log(`load at the end ${load()}`)
