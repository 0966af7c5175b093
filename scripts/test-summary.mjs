/**
 * `node test-summary.mjs RESULTS SKIPPED STATUS`: lists the suites that were skipped because a program is missing, and ends with one
 * plain line `N passed, N failed, N skipped`. A file that failed before its first test, and a run that failed as a whole, count as
 * one failure.
 */
import { readFileSync } from 'node:fs'

const [resultsPath = '', skipLogPath = '', status = '1'] = process.argv.slice(2)

const readText = (path) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const results = JSON.parse(readText(resultsPath) || '{"testResults": []}')
const count = { passed: 0, failed: 0, skipped: 0 }
for (const file of results.testResults) {
  const failedBefore = count.failed
  for (const { status: state } of file.assertionResults) count[state === 'passed' || state === 'failed' ? state : 'skipped'] += 1
  if (file.status === 'failed' && count.failed === failedBefore) count.failed += 1
}
if (status !== '0' && count.failed === 0) count.failed = 1

const skippedSuites = [...new Set(readText(skipLogPath).split('\n').filter(Boolean))].sort()
if (skippedSuites.length > 0) {
  console.log(`\n!!! ${skippedSuites.length} suite${skippedSuites.length === 1 ? ' was' : 's were'} SKIPPED because programs are missing:`)
  for (const line of skippedSuites) console.log(`!!!   ${line}`)
}
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
