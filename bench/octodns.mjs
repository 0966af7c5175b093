/**
 * The same 12,000 records with octoDNS: `node bench/octodns.mjs FOLDER`, where FOLDER holds its programs (the `bin` of a virtual
 * environment with octodns and octodns-bind). It validates the definition that `run.mjs` uses, compares it with a zone file that holds
 * the same, and plans it for its zone-file provider, which as a target has no existing records. It uses no network, but the plan of
 * `run.mjs` queries a service. Medians of whole processes, alternating with bare Node.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { largeZone } from './large-zone.mjs'
import { median, PROGRAM } from './measure.mjs'

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: node bench/octodns.mjs FOLDER-OF-ITS-PROGRAMS')
const RUNS = 5
const RECORDS = 12_000

const cwd = mkdtempSync(join(tmpdir(), 'zonewright-bench-'))
try {
  for (const name of ['zones', 'out']) mkdirSync(join(cwd, name))
  writeFileSync(join(cwd, 'zones/large.example.yaml'), largeZone(RECORDS))
  writeFileSync(
    join(cwd, 'octodns.yaml'),
    `providers:
  definitions: {class: octodns.provider.yaml.YamlProvider, directory: ./zones, default_ttl: 3600, enforce_order: false}
  file: {class: octodns_bind.ZoneFileProvider, directory: ./out, check_origin: false}
zones:
  large.example.: {sources: [definitions], targets: [file]}
`,
  )
  const octodns = (name) => [resolve(folder, name), '--config-file', 'octodns.yaml']
  run([...octodns('octodns-sync'), '--doit', '--force'])
  const compare = [...octodns('octodns-compare'), '--a', 'definitions', '--b', 'file', '--zone', 'large.example.']
  if (!run(compare).output.includes('[]')) throw new Error('octoDNS finds differences where there are none')
  const jobs = [
    ['node -e 0', [process.execPath, '-e', '0']],
    ['zonewright validate', [process.execPath, PROGRAM, 'validate', 'zones/large.example.yaml']],
    ['octodns-validate', octodns('octodns-validate')],
    ['octodns-compare, no difference', compare],
    ['octodns-sync, a plan of all records', octodns('octodns-sync')],
  ]
  const figures = jobs.map(() => [])
  for (let i = 0; i < RUNS; i += 1) {
    for (const [at, [, command]] of jobs.entries()) figures[at].push(run(command))
  }
  console.log(`${RECORDS} records, medians of ${RUNS} runs`)
  for (const [at, [name]] of jobs.entries()) {
    const milliseconds = median(figures[at].map(({ seconds }) => seconds * 1000)).toFixed(0)
    const ratio = median(figures[at].map(({ seconds }, i) => seconds / figures[0][i].seconds)).toFixed(1)
    console.log(`${name.padEnd(34)} ${milliseconds.padStart(6)} ms  ×${ratio.padStart(5)}`)
  }
} finally {
  rmSync(cwd, { recursive: true, force: true })
}

function run([program, ...args]) {
  const begin = process.hrtime.bigint()
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 1e9 })
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9
  if (status !== 0) throw new Error(`${program} ended with ${status}\n${stderr}`)
  return { seconds, output: stdout + stderr }
}
