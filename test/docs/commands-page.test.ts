/** docs/commands.md is what the definitions of the commands say. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { ROOT, readPage } from './pages.ts'

const PAGE = 'docs/commands.md'

test('docs/commands.md is current (otherwise: npm run update-commands-page)', async () => {
  const { stdout } = await cli(['__manual', 'markdown'], { cwd: temporaryDirectory() })
  for (const text of [
    '\n## plan\n',
    '\n## record rename\n',
    '\n## report\n',
    '\n## serve account add\n',
    '| `--detailed-exitcode` |',
    'zonewright plan example.com --target cloud',
  ])
    expect(stdout).toContain(text)
  if (process.env['ZONEWRIGHT_UPDATE_COMMANDS_PAGE']) writeFileSync(join(ROOT, PAGE), stdout)
  expect(readPage(PAGE)).toBe(stdout)
})
