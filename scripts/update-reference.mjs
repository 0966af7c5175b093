/** `npm run update-reference`: rewrites the reference of the service from the declarations of its operations. Not for CI, where it is tested. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isCi } from './is-ci.mjs'

if (isCi) {
  console.error('The reference is not written in CI.')
  process.exit(1)
}
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const { status } = spawnSync(process.execPath, [vitest, 'run', '--project', 'all', 'test/service/reference', '--reporter=dot'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
  env: { ...process.env, ZONEWRIGHT_UPDATE_REFERENCE: '1' },
})
process.exit(status ?? 1)
