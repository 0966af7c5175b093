/**
 * Time, CPU time and memory of whole processes, with the ratio to `node -e 0`, which runs alternately. `npm run bench` writes the figures into
 * docs/contributors/performance.md, and the ratios of CPU time and memory into budget.json. `npm run bench -- --short` compares with these ratios: it fails if one is larger
 * by more than `TOLERANCE` in each of `ROUNDS` rounds.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { largeProgram, largeZone } from './large-zone.mjs'
import { besideBareNode, PROGRAM, row, runNode } from './measure.mjs'
import { countRequests, startService, TOKEN } from './service-under-test.mjs'

const IS_SHORT = process.argv.includes('--short')
const RUNS = IS_SHORT ? 7 : 11
const TOLERANCE = 0.15
const ROUNDS = IS_SHORT ? 3 : 1
const RECORDS = 12_000
const COUNT = RECORDS.toLocaleString('en-US')
const [BUDGET, PAGE] = ['budget.json', '../docs/contributors/performance.md'].map((path) => join(import.meta.dirname, path))

const ZONES = 200

const cwd = mkdtempSync(join(tmpdir(), 'zonewright-bench-'))
// The files are in no repository, and in a CI job programs read only files that git tracks.
const env = { ZONEWRIGHT_TOKEN: TOKEN, CI: '' }
mkdirSync(join(cwd, 'zones'))
writeFileSync(
  join(cwd, 'zones/small.example.yaml'),
  'domain: small.example\nsoa_email: hostmaster@example.com\nrecords:\n  www: {type: A, value: 192.0.2.1}\n',
)
const configure = (http) => {
  writeFileSync(
    join(cwd, 'zonewright.yaml'),
    `providers:\n  cloud: {type: cloud, base_url: '${http}', token: env:ZONEWRIGHT_TOKEN}\ndefaults: {soa_email: hostmaster@example.com}\n`,
  )
}

const budget = JSON.parse(readFileSync(BUDGET, 'utf8'))
const rows = []
const ratios = {}
async function job(name, args) {
  for (let round = 1; round <= ROUNDS; round += 1) {
    const figures = await besideBareNode(args, { cwd, env }, RUNS)
    rows.push(row(name, figures))
    console.log(rows.at(-1))
    const { cpu = Number.POSITIVE_INFINITY, memory = Number.POSITIVE_INFINITY } = ratios[name] ?? {}
    const least = (former, ratio) => Math.min(former, Number(ratio.toFixed(2)))
    ratios[name] = { cpu: least(cpu, figures.cpuRatio), memory: least(memory, figures.memoryRatio) }
    if (excesses(name).length === 0) return
  }
}

/** What exceeds the budget. */
const excesses = (name) =>
  Object.entries(ratios[name]).flatMap(([kind, ratio]) => {
    const most = budget[name]?.[kind] ?? 0
    return ratio <= most * (1 + TOLERANCE)
      ? []
      : [`${name}: ${kind} is ${ratio} × bare Node; the budget is ${most}, and ${TOLERANCE * 100} % more are tolerated`]
  })

const conditions = `Node ${process.version}, ${availableParallelism()} cores (${cpus()[0].model.trim()}), ${RUNS} runs, load average ${loadavg()[0].toFixed(1)}`
console.log(conditions)
await job('`node -e 0`', ['-e', '0'])
const service = await startService()
try {
  configure(service.http)
  await job('`--version`', [PROGRAM, '--version'])
  await job('`--help`', [PROGRAM, '--help'])
  await job('`validate`, one zone of one record', [PROGRAM, 'validate'])
  writeFileSync(join(cwd, 'zones/large.example.yaml'), largeZone(RECORDS))
  await job(`\`validate\`, ${COUNT} records`, [PROGRAM, 'validate', 'zones/large.example.yaml'])
  mkdirSync(join(cwd, 'many'))
  for (let i = 0; i < ZONES; i += 1) writeFileSync(join(cwd, `many/zone-${i}.example.yaml`), largeZone(100))
  await job(`\`validate\`, ${ZONES} zones of 100 records`, [PROGRAM, 'validate', 'many'])
  // Programs, whose sandbox is a child process: its processor time is added.
  const programs = {
    'small.ts': "import { A, zone } from 'zonewright/definition'\nzone('small.example', {}, [A('www', '192.0.2.1')])\n",
    'large.ts': largeProgram(RECORDS),
  }
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(cwd, 'zones', name), text)
  await job('`validate`, a program of one record', [PROGRAM, 'validate', 'zones/small.ts'])
  await job(`\`validate\`, a program of ${COUNT} records`, [PROGRAM, 'validate', 'zones/large.ts'])
  for (const name of Object.keys(programs)) rmSync(join(cwd, 'zones', name))

  const create = await runNode([PROGRAM, 'apply', '--yes', '--format', 'json', 'large.example'], { cwd, env })
  console.log(
    `${`apply, ${COUNT} records created`.padEnd(46)} ${create.seconds.toFixed(1).padStart(7)} s (${Math.round(RECORDS / create.seconds)} records a second)`,
  )

  const counter = await countRequests(service.http)
  configure(counter.http)
  await runNode([PROGRAM, 'plan', 'large.example'], { cwd, env })
  await counter.stop()
  configure(service.http)
  const total = [...counter.counts.values()].reduce((sum, count) => sum + count, 0)
  console.log(
    `${`requests to plan ${COUNT} records`.padEnd(46)} ${String(total).padStart(7)} (${[...counter.counts].map(([key, count]) => `${count} ${key}`).join(', ')})`,
  )
  await job(`\`plan\`, ${COUNT} records, nothing to change`, [PROGRAM, 'plan', 'large.example'])
  writeFileSync(join(cwd, 'zones/large.example.yaml'), largeZone(RECORDS).replaceAll('198.51.100.', '203.0.113.'))
  await job(`\`plan\`, ${(RECORDS / 4).toLocaleString('en-US')} of them changed`, [PROGRAM, 'plan', 'large.example', '--allow', 'updates'])
  const verified = await runNode([PROGRAM, 'verify', 'small.example', 'large.example', '--nameserver', service.dns], {
    cwd,
    env,
    status: [0, 2],
  })
  console.log(`${`verify, ${COUNT} record sets queried`.padEnd(46)} ${verified.seconds.toFixed(1).padStart(7)} s`)
} finally {
  await service.stop()
  rmSync(cwd, { recursive: true, force: true })
}

if (IS_SHORT) {
  const exceeding = Object.keys(ratios).flatMap(excesses)
  for (const line of exceeding) console.error(line)
  if (exceeding.length > 0) process.exitCode = 1
} else {
  writeFileSync(BUDGET, `${JSON.stringify(ratios, null, 2)}\n`)
  const head =
    '| job | time | × bare Node | CPU time | × bare Node | peak memory | × bare Node |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |'
  const table = `${conditions}:\n\n${head}\n${rows.join('\n').replaceAll(/ {2,}/g, ' ')}`
  const mark = /(<!-- written by npm run bench -->\n).*?(?=\n<!-- end -->)/s
  writeFileSync(
    PAGE,
    readFileSync(PAGE, 'utf8').replace(mark, (_, begin) => begin + table),
  )
}
