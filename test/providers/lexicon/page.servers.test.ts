/** docs/providers/lexicon.md names every service and its settings, as dns-lexicon's own parser knows them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { renderLexiconPage } from '../../../scripts/lexicon-page/render-lexicon-page.ts'
import { describeWithTools } from '../../support/skip.ts'
import { runTool } from '../../support/tools.ts'
import { LEXICON_PYTHON } from './lexicon-scene.ts'

const PAGE = resolve(import.meta.dirname, '../../../docs/providers/lexicon.md')
const PROGRAM = `
import json
from lexicon._private import parser
commands = parser.generate_cli_main_parser()._subparsers._group_actions[0].choices
base = {action.dest for action in parser.generate_base_provider_parser()._actions} | {'help'}
print(json.dumps({name: [a.dest for a in one._actions if a.dest not in base] for name, one in commands.items()}))`

describeWithTools([LEXICON_PYTHON], 'the page of dns-lexicon', () => {
  test('matches its parser and our rows (otherwise: npm run update-lexicon-page)', async () => {
    const { stdout } = await runTool(LEXICON_PYTHON, ['-c', PROGRAM])
    const page = readFileSync(PAGE, 'utf8')
    const rendered = renderLexiconPage(page, JSON.parse(stdout))
    if (process.env['ZONEWRIGHT_UPDATE_LEXICON_PAGE']) writeFileSync(PAGE, rendered)
    expect(readFileSync(PAGE, 'utf8')).toBe(rendered)
    expect(rendered).toContain('| `porkbun` | `auth_key` `auth_secret` |')
  })
})
