/** `npm run update-providers-page`: rewrites docs/providers.md from the capabilities of the providers. Not for CI, where it is tested. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isCi } from './is-ci.mjs'

if (isCi) {
  console.error('The page is not written in CI.')
  process.exit(1)
}
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', '--project', 'all', 'test/providers/providers-page.test.ts', '--reporter=dot'],
  {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
    env: { ...process.env, ZONEWRIGHT_UPDATE_PROVIDERS_PAGE: '1' },
  },
)
process.exit(status ?? 1)
