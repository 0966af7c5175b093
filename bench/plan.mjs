/**
 * Planning alone, without any I/O: `node bench/plan.mjs [largest]`. Time and peak memory of `makeZonePlan` for zones of 100 to 1,000,000
 * records, unchanged, with 1 % changed and with all changed, each in a separate process (the median of the plans made in three seconds, at least one; memory is what the
 * process uses beyond its inputs); then the growth of time and memory, as the slope of a line through their logarithms over the logarithm of the size: 1 is linear.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { median } from './measure.mjs'

const SIZES = [100, 1_000, 12_000, 100_000, 1_000_000]
const CHANGES = ['unchanged', '1 % changed', 'all changed']
const REMOVED_AND_ADDED = '12,000 A removed, 12,000 A added'
const TRADED = '12,000 CNAME and A trade names'
const ORIGIN = 'example.com.'
const HEAP = '--max-old-space-size=12288'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const [, self, kind, size, bundle] = process.argv

async function measureAll(largest) {
  const directory = mkdtempSync(join(tmpdir(), 'zonewright-bench-'))
  try {
    const file = join(directory, 'planner.mjs')
    await bundlePlanner(file)
    console.log(`Node ${process.version}, ${availableParallelism()} cores (${cpus()[0].model.trim()})\n`)
    console.log(row(['records', 'change', 'calls', 'plan', 'µs a record', 'memory']))
    const measured = new Map(CHANGES.map((change) => [change, []]))
    for (const count of SIZES.filter((one) => one <= largest)) {
      for (const change of CHANGES) {
        const figures = await inOwnProcess(change, count, file)
        if (figures !== null) measured.get(change).push([count, figures.milliseconds, figures.mebibytes])
        console.log(figuresRow(count, change, figures))
      }
    }
    console.log()
    for (const change of [REMOVED_AND_ADDED, TRADED]) console.log(figuresRow(12_000, change, await inOwnProcess(change, 12_000, file)))
    console.log()
    for (const [change, points] of measured) {
      // Below a few thousand records the code is not compiled yet.
      const grown = points.filter(([count]) => count >= 1_000)
      if (grown.length < 2) continue
      console.log(
        `${change}: time grows with size to the power of ${slope(grown).toFixed(2)} (from 1,000 records on), ${slope(points).toFixed(2)} (all); memory, ${slope(grown.map(([count, , mebibytes]) => [count, mebibytes])).toFixed(2)}`,
      )
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const bundlePlanner = (outfile) =>
  build({
    stdin: {
      contents: `export { makeZonePlan } from './src/plan/make-plan.ts'
export { DEFAULT_ZONE_OPTIONS } from './src/dns/zone.ts'
export { DEFAULT_THRESHOLDS } from './src/plan/safety-limits.ts'
export { CLOUD_CAPABILITIES } from './src/providers/cloud/capabilities.ts'`,
      resolveDir: root,
      loader: 'ts',
    },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
  })

/** The figures of one measurement; null if the process failed, which prints the reason itself. */
function inOwnProcess(change, count, file) {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [HEAP, '--expose-gc', self, change, String(count), file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (part) => (text += part))
    child.on('error', fail)
    child.on('close', (code) => done(code === 0 ? JSON.parse(text) : null))
  })
}

async function measureOne(change, count, file) {
  const { makeZonePlan, DEFAULT_ZONE_OPTIONS, DEFAULT_THRESHOLDS, CLOUD_CAPABILITIES } = await import(pathToFileURL(file).href)
  const { existing, desired } = zonesOf(change, count)
  const input = {
    desired: {
      ...DEFAULT_ZONE_OPTIONS,
      name: ORIGIN,
      at: { file: 'zone', line: 1, column: 1 },
      settings: { soa_email: 'hostmaster@example.com' },
      records: desired.map((record, index) => ({ ...record, at: { file: 'zone', line: index + 1, column: 1 } })),
    },
    existing: {
      name: ORIGIN,
      id: 1,
      settings: { type: 'master', soa_email: 'hostmaster@example.com' },
      records: existing.map((record, index) => ({ id: index + 1, ...record })),
    },
    target: 'cloud',
    capabilities: { ...CLOUD_CAPABILITIES, maxRecords: null },
    policy: 'sync',
    thresholds: DEFAULT_THRESHOLDS,
    allow: new Set(),
    rendered: 'match',
    servedApexNs: null,
  }
  globalThis.gc()
  const before = process.memoryUsage.rss()
  let calls = 0
  const runs = []
  const begin = performance.now()
  for (let run = 0; run === 0 || (run < 21 && performance.now() - begin < 3_000); run += 1) {
    const from = performance.now()
    calls = makeZonePlan(input).calls.total
    runs.push(performance.now() - from)
  }
  const mebibytes = (process.resourceUsage().maxRSS * 1024 - before) / 2 ** 20
  process.stdout.write(JSON.stringify({ calls, milliseconds: median(runs), mebibytes }))
}

/** Both zones: addresses, aliases, texts, mail and services, in groups of names with a few records each. */
function zonesOf(change, count) {
  if (change === REMOVED_AND_ADDED) {
    const address = (name, index) => record(name, 'A', `192.0.2.${index % 256}`)
    return {
      existing: range(count, (index) => address(`gone-${index}.a-${index % 7}`, index)),
      desired: range(count, (index) => address(`come-${index}.b-${index % 11}`, index)),
    }
  }
  if (change === TRADED) {
    const at = (index, traded) => [
      record(`a-${index}`, traded ? 'A' : 'CNAME', traded ? '192.0.2.1' : 'host.example.net.'),
      record(`b-${index}`, traded ? 'CNAME' : 'A', traded ? 'host.example.net.' : '192.0.2.1'),
    ]
    const side = (traded) => range(count / 2, (index) => at(index, traded)).flat()
    return { existing: side(false), desired: side(true) }
  }
  const every = change === 'unchanged' ? 0 : change === '1 % changed' ? 100 : 1
  return {
    existing: range(count, (index) => varied(index, false)),
    desired: range(count, (index) => varied(index, every !== 0 && index % every === 0)),
  }
}

const range = (count, make) => Array.from({ length: count }, (_, index) => make(index))

const record = (name, type, data, ttl = null) => ({ name: `${name}.${ORIGIN}`, type, ttl, data })

/** One record of a zone, or its changed form: with other data, another TTL, another name or another type. */
function varied(index, changed) {
  const name = `host-${Math.floor(index / 2)}.group-${index % 97}`
  const way = changed ? index % 5 : -1
  if (way === 0) return record(name, 'TXT', `"now a text, ${index}"`)
  const owner = way === 1 ? `moved-${index}.group-${index % 89}` : name
  const ttl = way === 2 ? 3600 : null
  const by = changed ? 'changed' : 'record'
  switch (index % 6) {
    case 0:
      return record(`alias-${owner}`, 'CNAME', `host-${Math.floor(index / 2)}.group-${(index + 1) % 97}.${ORIGIN}`, ttl)
    case 1:
      return record(owner, 'AAAA', `2001:db8::${(index % 65_535).toString(16)}`.replace(/::0$/, '::'), ttl)
    case 2:
      return record(owner, 'TXT', `"${by} number ${index}"`, ttl)
    case 3:
      return record(owner, 'MX', `10 ${by}-${index}.example.net.`, ttl)
    default:
      return record(owner, 'A', `${changed ? '198.51.100' : '192.0.2'}.${index % 256}`, ttl)
  }
}

/** The slope of the least-squares line through the logarithms. */
function slope(points) {
  const logs = points.map(([count, time]) => [Math.log(count), Math.log(time)])
  const mean = (pick) => logs.reduce((sum, log) => sum + pick(log), 0) / logs.length
  const [meanX, meanY] = [mean(([x]) => x), mean(([, y]) => y)]
  return mean(([x, y]) => (x - meanX) * (y - meanY)) / mean(([x]) => (x - meanX) ** 2)
}

const row = ([records, change, calls, time, each, memory]) =>
  `${records.padStart(9)}  ${change.padEnd(34)} ${calls.padStart(9)} ${time.padStart(11)} ${each.padStart(12)} ${memory.padStart(10)}`

const figuresRow = (count, change, figures) => {
  if (figures === null) return row([count.toLocaleString('en'), change, 'failed', '', '', ''])
  const { calls, milliseconds, mebibytes } = figures
  return row([
    count.toLocaleString('en'),
    change,
    calls.toLocaleString('en'),
    `${milliseconds < 10 ? milliseconds.toFixed(2) : milliseconds.toFixed(0)} ms`,
    ((milliseconds * 1000) / count).toFixed(2),
    `${mebibytes.toFixed(0)} MiB`,
  ])
}

if (bundle === undefined) await measureAll(Number(kind ?? SIZES.at(-1)))
else await measureOne(kind, Number(size), bundle)
