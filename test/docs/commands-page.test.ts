/** docs/commands.md is what the definitions of the commands say. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandsPage } from '../../scripts/command-pages.mjs'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { ROOT, readPage } from './pages.ts'

const PAGE = 'docs/commands.md'

test('docs/commands.md is current (otherwise: npm run update-commands-page)', async () => {
  const { stdout } = await cli(['__manual'], { cwd: temporaryDirectory() })
  const page = commandsPage(JSON.parse(stdout))
  for (const text of [
    '\n## plan\n',
    '\n## record rename\n',
    '\n## report\n',
    '\n## serve account add\n',
    '| `--detailed-exitcode` |',
    'zonewright plan example.com --target cloud',
  ])
    expect(page).toContain(text)
  if (process.env['ZONEWRIGHT_UPDATE_COMMANDS_PAGE']) writeFileSync(join(ROOT, PAGE), page)
  expect(readPage(PAGE)).toBe(page)
})
