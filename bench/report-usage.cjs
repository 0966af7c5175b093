/** CommonJS, because loading ESM before the program would add to the measurement. */
const { readFileSync, writeSync } = require('node:fs')

process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  const own = { mebibytes: maxRSS / 1024, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6 }
  const all = [own, ...children().map(usageOf)]
  const sum = (key) => all.reduce((total, one) => total + one[key], 0)
  writeSync(3, JSON.stringify({ mebibytes: sum('mebibytes'), cpuSeconds: sum('cpuSeconds') }))
})

/** The child processes that still run, such as the sandbox of programs. Linux only. */
function children() {
  try {
    return readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').split(' ').filter(Boolean)
  } catch {
    return []
  }
}

/**
 * The peak memory and the processor time of another process (proc(5)). Its memory is without the pages of files: those are of Node's executable, which this process
 * has mapped too, so both share them and the sum of the two processes has them once.
 */
function usageOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  const kibibytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return { mebibytes: (kibibytes('VmHWM') - kibibytes('RssFile')) / 1024, cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100 }
}
