/**
 * `npm run update-…`: has a test rewrite the generated pages that it compares, `node scripts/update-pages.mjs TEST VARIABLE`. Read every change before you
 * commit it. Not for CI, where the pages are tested.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isCi } from './is-ci.mjs'

if (isCi) {
  console.error('Generated pages are not written in CI.')
  process.exit(1)
}
const [test, variable] = process.argv.slice(2)
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const { status } = spawnSync(process.execPath, [vitest, 'run', '--project', 'all', test, '--reporter=dot'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
  env: { ...process.env, [variable]: '1' },
})
process.exit(status ?? 1)
