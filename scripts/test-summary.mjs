/**
 * `node test-summary.mjs FOLDER STATUS`: lists the suites that were skipped because a program is missing, which `FOLDER/skipped` names, and ends with one
 * plain line `N passed, N failed, N skipped` about all results in FOLDER, where skipped counts those suites. A file that failed before its first test, and a run that failed as a whole, count
 * as one failure. Tests that a filter left out are not counted.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder = '', status = '1'] = process.argv.slice(2)

const count = { passed: 0, failed: 0 }
for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
  for (const file of JSON.parse(readFileSync(join(folder, name), 'utf8')).testResults) {
    const failedBefore = count.failed
    for (const { status: state } of file.assertionResults) if (state in count) count[state] += 1
    if (file.status === 'failed' && count.failed === failedBefore) count.failed += 1
  }
}
if (status !== '0' && count.failed === 0) count.failed = 1

let skipped = []
try {
  skipped = [...new Set(readFileSync(join(folder, 'skipped'), 'utf8').split('\n').filter(Boolean))].sort()
} catch (error) {
  if (error.code !== 'ENOENT') throw error
}
if (skipped.length > 0) {
  console.log(`\n!!! ${skipped.length} suite${skipped.length === 1 ? ' was' : 's were'} SKIPPED because programs are missing:`)
  for (const line of skipped) console.log(`!!!   ${line}`)
}
console.log(`${count.passed} passed, ${count.failed} failed, ${skipped.length} skipped`)
