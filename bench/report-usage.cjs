/** CommonJS: loading ESM before the program would be a part of what is measured. */
const { writeSync } = require('node:fs')

process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  writeSync(3, JSON.stringify({ mebibytes: maxRSS / 1024, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6 }))
})
