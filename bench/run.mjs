/**
 * The figures of docs/performance.md: `npm run bench`, or with `-- --short` fewer runs and a smaller zone. Time, CPU time and memory are medians of whole
 * processes, with the ratio to `node -e 0`, which runs alternately.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { largeProgram, largeZone } from './large-zone.mjs'
import { besideBareNode, PROGRAM, row, runNode } from './measure.mjs'
import { countRequests, startService, TOKEN } from './service-under-test.mjs'

const IS_SHORT = process.argv.includes('--short')
const RUNS = IS_SHORT ? 1 : 11
const RECORDS = IS_SHORT ? 3_000 : 12_000
const COUNT = RECORDS.toLocaleString('en-US')

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

console.log(
  `Node ${process.version}, ${availableParallelism()} cores (${cpus()[0].model.trim()}); medians of ${RUNS} runs, × is the ratio to node -e 0`,
)
console.log(row('node -e 0', await besideBareNode(['-e', '0'], { cwd, env }, RUNS)))
const service = await startService()
try {
  configure(service.http)
  console.log(row('--version', await besideBareNode([PROGRAM, '--version'], { cwd, env }, RUNS)))
  console.log(row('--help', await besideBareNode([PROGRAM, '--help'], { cwd, env }, RUNS)))
  console.log(row('validate, 1 zone of 1 record', await besideBareNode([PROGRAM, 'validate'], { cwd, env }, RUNS)))
  writeFileSync(join(cwd, 'zones/large.example.yaml'), largeZone(RECORDS))
  console.log(
    row(`validate, ${COUNT} records`, await besideBareNode([PROGRAM, 'validate', 'zones/large.example.yaml'], { cwd, env }, RUNS)),
  )
  // Programs, whose sandbox is a child process: its processor time is added.
  const programs = {
    'small.ts': "import { A, zone } from 'zonewright/definition'\nzone('small.example', {}, [A('www', '192.0.2.1')])\n",
    'large.ts': largeProgram(RECORDS),
  }
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(cwd, 'zones', name), text)
  console.log(row('validate, a program of 1 record', await besideBareNode([PROGRAM, 'validate', 'zones/small.ts'], { cwd, env }, RUNS)))
  console.log(
    row(`validate, a program of ${COUNT} records`, await besideBareNode([PROGRAM, 'validate', 'zones/large.ts'], { cwd, env }, RUNS)),
  )
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
  console.log(
    row(`plan, ${COUNT} records, nothing to change`, await besideBareNode([PROGRAM, 'plan', 'large.example'], { cwd, env }, RUNS)),
  )
  writeFileSync(join(cwd, 'zones/large.example.yaml'), largeZone(RECORDS).replaceAll('198.51.100.', '203.0.113.'))
  console.log(
    row(
      `plan, ${COUNT} records, some changed`,
      await besideBareNode([PROGRAM, 'plan', 'large.example', '--allow', 'updates'], { cwd, env }, RUNS),
    ),
  )
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
