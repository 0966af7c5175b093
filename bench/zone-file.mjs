/**
 * Reading and printing zone files: `node bench/zone-file.mjs [RECORDS]`, compared with the parsers of other projects if they are
 * installed: dnspython for the Python in PYTHON, packages of npm below the folder in BENCH_MODULES (dns-zonefile, dnsz, zone-file,
 * @fungible-systems/zone-file). Each reader gets the same text in a separate process, 10 times or more
 * as warm-up until WARM_UP records are read, then RUNS times, with garbage collected before each run, and returns records with owner, TTL, type and data. The readers alternate in each of ROUNDS.
 * Wall-clock and CPU time are shown; other work of the machine affects CPU time less.
 * At the end, files of 100 MB and 10 MB are streamed to measure their peak memory.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, createReadStream, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { median } from './measure.mjs'

const WARM_UP = 500_000
const RUNS = 7
const ROUNDS = 2
const LARGE = 100_000_000
const PARSE = 'parseZoneFile'
const SELF = fileURLToPath(import.meta.url)

/** Lines of the commonest types in turn. */
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
const HEAD = ['$ORIGIN example.com.', '$TTL 3600', '@ IN SOA ns1 hostmaster 1 7200 900 1209600 300', '@ IN NS ns1']
const OPTIONS = { origin: 'example.com.', file: 'zone' }

const NPM = {
  dnsz: (module, text) => module.parseZone(text),
  'dns-zonefile': (module, text) => (module.parse ?? module.default.parse)(text),
  'zone-file': (module, text) => (module.parseZoneFile ?? module.default.parseZoneFile)(text),
  '@fungible-systems/zone-file': (module, text) => (module.parseZoneFile ?? module.default.parseZoneFile)(text),
}

const PYTHON = `
import gc, sys, time, dns.zonefile, dns.name, dns.tokenizer, dns.zone
text = open(sys.argv[1]).read()
times = []
for _ in range(2):
    gc.collect()
    begin = time.perf_counter()
    cpu = time.process_time()
    dns.zone.from_text(text, origin='example.com.', relativize=False, check_origin=False)
    times.append((time.perf_counter() - begin, time.process_time() - cpu))
print(*min(times))`

if (process.argv[2] === '--reader') await readerProcess(process.argv[3], process.argv[4], process.argv[5], Number(process.argv[6]))
else await compare(Number(process.argv[2] ?? 100_000))

async function compare(count) {
  const folder = mkdtempSync(join(tmpdir(), 'zonewright-bench-'))
  try {
    const bundle = join(folder, 'zone-file.mjs')
    await build({
      stdin: {
        contents: `export { createZoneFileReader, parseZoneFile } from './src/dns/zone-file/parse-zone-file.ts'
          export { printZoneFile } from './src/dns/zone-file/print-zone-file.ts'`,
        resolveDir: fileURLToPath(new URL('..', import.meta.url)),
      },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: bundle,
      logLevel: 'error',
    })
    const file = join(folder, 'zone')
    const text = `${[...HEAD, ...Array.from({ length: count }, (_, i) => LINES[i % LINES.length](i))].join('\n')}\n`
    writeFileSync(file, text)
    const measured = new Map(
      [PARSE, 'createZoneFileReader, 64 KiB', 'print canonical', 'print pretty', ...Object.keys(NPM)].map((name) => [name, []]),
    )
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, seconds] of measured) {
        const args = ['--expose-gc', SELF, '--reader', name, bundle, file, String(count)]
        const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
        if (status !== 0) throw new Error(`${name}: ${stderr}`)
        if (stdout !== '') seconds.push(stdout.split(' ').map(Number))
      }
    }
    const python = spawnSync(process.env.PYTHON ?? 'python3', ['-c', PYTHON, file], { encoding: 'utf8' })
    measured.set('dnspython', python.status === 0 ? [python.stdout.split(' ').map(Number)] : [])
    console.log(
      `${count} records, ${(text.length / 1e6).toFixed(1)} MB, Node ${process.version}, medians of ${ROUNDS} processes of ${RUNS} runs`,
    )
    const medians = (all) => [0, 1].map((column) => median(all.map((times) => times[column])))
    const own = medians(measured.get(PARSE))
    for (const [name, all] of measured) {
      if (all.length === 0) {
        console.log(`${name.padEnd(32)} not installed`)
        continue
      }
      const [clock, cpu] = medians(all)
      const figures = [clock, cpu].map(
        (seconds, i) => `${(seconds * 1000).toFixed(0).padStart(6)} ms ×${(seconds / own[i]).toFixed(1).padEnd(5)}`,
      )
      console.log(`${name.padEnd(32)} ${figures[0]} CPU ${figures[1]} ${(count / clock / 1e6).toFixed(3)} M records/s`)
    }
    for (const size of [LARGE / 10, LARGE]) {
      writeLarge(file, size)
      const { stdout } = spawnSync(process.execPath, [SELF, '--reader', 'stream', bundle, file], { encoding: 'utf8' })
      const { records, seconds, mebibytes } = JSON.parse(stdout)
      console.log(
        `a file of ${size / 1e6} MB, ${records} records, streamed: ${seconds.toFixed(1)} s, peak memory ${mebibytes.toFixed(0)} MiB`,
      )
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function writeLarge(file, size) {
  const to = openSync(file, 'w')
  let text = `${HEAD.join('\n')}\n`
  for (let i = 0, written = 0; written < size; i += 1) {
    text += `${LINES[i % LINES.length](i)}\n`
    if (text.length < 1_000_000) continue
    written += writeSync(to, text)
    text = ''
  }
  closeSync(to)
}

/** Runs one reader; does nothing if it is not installed. */
async function readerProcess(name, bundle, file, count) {
  const warmUp = Math.max(10, Math.ceil(WARM_UP / count))
  const time = (run) => timeRuns(run, warmUp)
  const { createZoneFileReader, parseZoneFile, printZoneFile } = await import(pathToFileURL(bundle).href)
  if (name === 'stream') {
    await streamFile(createZoneFileReader, file)
    return
  }
  const text = readFileSync(file, 'utf8')
  if (name in NPM) {
    const module = await load(name)
    if (module !== null) time(() => NPM[name](module, text))
  } else if (name === PARSE) time(() => parseZoneFile(text, OPTIONS))
  else if (name.startsWith('print')) {
    const { records, diagnostics } = parseZoneFile(text, OPTIONS)
    if (diagnostics.length > 0) throw new Error('the zone was not read in full')
    time(() => printZoneFile(records, { origin: OPTIONS.origin, style: name.slice('print '.length) }))
  } else time(() => readInPieces(createZoneFileReader, text))
}

/** Prints the median wall-clock and CPU seconds of a run. */
function timeRuns(run, warmUp) {
  const clock = []
  const processor = []
  for (let i = 0; i < warmUp + RUNS; i += 1) {
    globalThis.gc()
    const before = process.cpuUsage()
    const begin = performance.now()
    run()
    const seconds = (performance.now() - begin) / 1000
    const { user, system } = process.cpuUsage(before)
    if (i < warmUp) continue
    clock.push(seconds)
    processor.push((user + system) / 1e6)
  }
  console.log(`${median(clock)} ${median(processor)}`)
}

function readInPieces(createReader, text) {
  let count = 0
  const reader = createReader(OPTIONS, () => {
    count += 1
  })
  for (let i = 0; i < text.length; i += 65_536) reader.push(text.slice(i, i + 65_536))
  reader.end()
  return count
}

async function streamFile(createReader, file) {
  const begin = performance.now()
  let records = 0
  const reader = createReader(OPTIONS, () => {
    records += 1
  })
  for await (const piece of createReadStream(file, { encoding: 'utf8' })) reader.push(piece)
  const { diagnostics } = reader.end()
  if (diagnostics.length > 0) throw new Error('the file was not read in full')
  console.log(JSON.stringify({ records, seconds: (performance.now() - begin) / 1000, mebibytes: process.resourceUsage().maxRSS / 1024 }))
}

async function load(name) {
  if (process.env.BENCH_MODULES === undefined) return null
  try {
    const { resolve } = createRequire(join(process.env.BENCH_MODULES, 'x.js'))
    return await import(pathToFileURL(resolve(name)).href)
  } catch {
    return null
  }
}
