/** CommonJS, because loading ESM before the program would add to the measurement. */
const { writeSync } = require('node:fs')

process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  writeSync(3, JSON.stringify({ mebibytes: maxRSS / 1024, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6 }))
})
