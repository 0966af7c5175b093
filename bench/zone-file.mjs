/**
 * Reading and printing zone files: `node bench/zone-file.mjs [RECORDS]`. Beside the parsers of other projects where they are
 * installed: dnspython for the Python in PYTHON, packages of npm below the folder in BENCH_MODULES. Medians; each reader gets the
 * same text and gives records with owner, TTL, type and data.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { median } from './measure.mjs'

const RECORDS = Number(process.argv[2] ?? 100_000)
const RUNS = 5

/** One line for each of the commonest types in turn. */
const LINES = [
  (i) => `host${i} 300 IN A 192.0.2.${i % 256}`,
  (i) => `host${i} IN A 198.51.100.${i % 256}`,
  (i) => `host${i} IN AAAA 2001:db8::${(i % 65_536).toString(16)}`,
  (i) => `alias${i} IN CNAME host${i}.example.net.`,
  (i) => `mail${i} 600 IN MX 10 host${i}`,
  (i) => `text${i} IN TXT "v=spf1 include:_spf${i}.example.org -all"`,
  (i) => `_sip._tcp.service${i} IN SRV 10 20 5060 host${i}.example.com.`,
  (i) => `child${i} IN NS ns.child${i}.example.net.`,
]

function zoneText(records) {
  const lines = ['$ORIGIN example.com.', '$TTL 3600', '@ IN SOA ns1 hostmaster 1 7200 900 1209600 300', '@ IN NS ns1']
  for (let i = 0; i < records; i += 1) lines.push(LINES[i % LINES.length](i))
  return `${lines.join('\n')}\n`
}

const folder = mkdtempSync(join(tmpdir(), 'zonewright-bench-'))
try {
  const bundle = join(folder, 'zone-file.mjs')
  await build({
    stdin: {
      contents: `export { createZoneFileReader, parseZoneFile } from './src/formats/zone-file/parse-zone-file.ts'
        export { printZoneFile } from './src/formats/zone-file/print-zone-file.ts'`,
      resolveDir: new URL('..', import.meta.url).pathname,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: bundle,
    logLevel: 'error',
  })
  const { createZoneFileReader, parseZoneFile, printZoneFile } = await import(pathToFileURL(bundle).href)
  const text = zoneText(RECORDS)
  const file = join(folder, 'zone')
  writeFileSync(file, text)
  const options = { origin: 'example.com.', file: 'zone' }
  const { records, diagnostics } = parseZoneFile(text, options)
  if (diagnostics.length > 0 || records.length !== RECORDS + 2) throw new Error('the zone was not read in full')

  const results = [
    ['parseZoneFile', time(() => parseZoneFile(text, options))],
    ['createZoneFileReader, pieces of 64 KiB', time(() => readInPieces(createZoneFileReader, text, options))],
    ['printZoneFile, canonical', time(() => printZoneFile(records, { origin: 'example.com.', style: 'canonical' }))],
    ['printZoneFile, pretty', time(() => printZoneFile(records, { origin: 'example.com.', style: 'pretty' }))],
    ['dnspython', dnspython(file)],
    ...(await npmParsers(text)),
  ]
  const own = results[0][1]
  console.log(`${RECORDS} records, ${(text.length / 1e6).toFixed(1)} MB, Node ${process.version}, medians of ${RUNS} runs`)
  for (const [name, seconds] of results) {
    const figures =
      seconds === null
        ? 'not installed'
        : `${(seconds * 1000).toFixed(0).padStart(7)} ms ${(RECORDS / seconds / 1e6).toFixed(3).padStart(7)} M records/s  ×${(seconds / own).toFixed(1)}`
    console.log(`${name.padEnd(42)} ${figures}`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Median seconds of a run; one comes before, uncounted. */
function time(run) {
  run()
  return median(
    Array.from({ length: RUNS }, () => {
      const begin = performance.now()
      run()
      return (performance.now() - begin) / 1000
    }),
  )
}

function readInPieces(createReader, text, options) {
  let count = 0
  const reader = createReader(options, () => {
    count += 1
  })
  for (let i = 0; i < text.length; i += 65_536) reader.push(text.slice(i, i + 65_536))
  reader.end()
  return count
}

/** Seconds of dnspython's own reader without its checks of the zone; null where it is not installed. */
function dnspython(file) {
  const script = `
import sys, time, dns.zonefile, dns.name, dns.tokenizer, dns.zone
text = open(sys.argv[1]).read()
times = []
for _ in range(2):
    begin = time.perf_counter()
    dns.zone.from_text(text, origin='example.com.', relativize=False, check_origin=False)
    times.append(time.perf_counter() - begin)
print(min(times))`
  const { status, stdout } = spawnSync(process.env.PYTHON ?? 'python3', ['-c', script, file], { encoding: 'utf8' })
  return status === 0 ? Number(stdout) : null
}

/** The zone file parsers of npm that are installed below BENCH_MODULES. */
async function npmParsers(text) {
  const modules = process.env.BENCH_MODULES
  const load = async (name) => {
    if (modules === undefined) return null
    try {
      const { resolve } = createRequire(join(modules, 'x.js'))
      return await import(pathToFileURL(resolve(name)).href)
    } catch {
      return null
    }
  }
  const found = []
  for (const [name, parse] of [
    ['dns-zonefile', ({ default: module }) => (module.parse ?? module.default.parse)(text)],
    ['dnsz', ({ parseZone }) => parseZone(text)],
  ]) {
    const module = await load(name)
    found.push([`${name} (npm)`, module && time(() => parse(module))])
  }
  return found
}
