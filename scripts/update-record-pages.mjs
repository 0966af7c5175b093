/** `npm run update-record-pages`: rewrites docs/records/ from the rdata table and the capabilities of the providers. Not for CI, where it is tested. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isCi } from './is-ci.mjs'

if (isCi) {
  console.error('The pages are not written in CI.')
  process.exit(1)
}
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', '--project', 'all', 'test/definition/record-pages.test.ts', '--reporter=dot'],
  {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
    env: { ...process.env, ZONEWRIGHT_UPDATE_RECORD_PAGES: '1' },
  },
)
process.exit(status ?? 1)
