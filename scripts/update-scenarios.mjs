/**
 * `npm run update-scenarios [-- NAME…]`: rewrites the expected files of the scenarios from the program's current output. Read every change
 * before you commit it. Not for CI, where they are tested.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isCi } from './is-ci.mjs'

if (isCi) {
  console.error('Expected files are not written in CI.')
  process.exit(1)
}
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const names = process.argv.slice(2)
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', 'test/scenarios', '--reporter=dot', ...(names.length > 0 ? ['-t', names.join('|')] : [])],
  { cwd: fileURLToPath(new URL('..', import.meta.url)), stdio: 'inherit', env: { ...process.env, ZONEWRIGHT_UPDATE_SCENARIOS: '1' } },
)
if (status === 0) spawnSync('git', ['status', '--short', '--', 'test/scenarios'], { stdio: 'inherit' })
process.exit(status ?? 1)
