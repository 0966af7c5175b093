import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const PROGRAM = fileURLToPath(new URL('../dist/zonewright.js', import.meta.url))
const USAGE = fileURLToPath(new URL('./report-usage.cjs', import.meta.url))

/** Runs Node with these arguments: wall-clock seconds, and CPU seconds and peak memory (MiB) as reported by the process at its end. */
export function runNode(args, { cwd, env, status = [0] } = {}) {
  return new Promise((resolve, reject) => {
    const begin = process.hrtime.bigint()
    const child = spawn(process.execPath, ['--require', USAGE, ...args], {
      cwd,
      env: { ...process.env, ...env, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    const texts = ['', '', '', '']
    for (const fd of [1, 2, 3]) child.stdio[fd].setEncoding('utf8').on('data', (text) => (texts[fd] += text))
    child.on('error', reject)
    child.on('close', (code) => {
      const seconds = Number(process.hrtime.bigint() - begin) / 1e9
      if (!status.includes(code)) reject(new Error(`${args.join(' ')} ended with ${code}\n${texts[2]}`))
      else resolve({ seconds, ...JSON.parse(texts[3]), stdout: texts[1], stderr: texts[2] })
    })
  })
}

export const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

/**
 * Runs the command and bare Node alternately. Times and memory are minima. The ratio of CPU time is the median of the runs' ratios to bare Node before and after
 * each: a machine can be half as fast for seconds, and of a long and a short command the minima are from different times.
 */
export async function besideBareNode(args, options, runs) {
  const own = []
  const bare = [await runNode(['-e', '0'])]
  for (let i = 0; i < runs; i += 1) {
    own.push(await runNode(args, options))
    bare.push(await runNode(['-e', '0']))
  }
  const least = (list, key) => Math.min(...list.map((one) => one[key]))
  const ratio = (key) => least(own, key) / least(bare, key)
  return {
    seconds: least(own, 'seconds'),
    timeRatio: ratio('seconds'),
    cpuSeconds: least(own, 'cpuSeconds'),
    cpuRatio: median(own.map(({ cpuSeconds }, i) => (2 * cpuSeconds) / (bare[i].cpuSeconds + bare[i + 1].cpuSeconds))),
    mebibytes: least(own, 'mebibytes'),
    memoryRatio: ratio('mebibytes'),
  }
}

const milliseconds = (seconds) => `${(seconds * 1000).toFixed(0).padStart(6)} ms`
const ratio = (number) => number.toFixed(2).padStart(5)

/** A line of the table: time, CPU time and memory, each with its ratio to bare Node. */
export const row = (name, { seconds, timeRatio, cpuSeconds, cpuRatio, mebibytes, memoryRatio }) =>
  `| ${name.padEnd(42)} | ${milliseconds(seconds)} | ${ratio(timeRatio)} | ${milliseconds(cpuSeconds)} | ${ratio(cpuRatio)} | ${mebibytes.toFixed(0).padStart(4)} MiB | ${ratio(memoryRatio)} |`
