/** An error in the config is shown with its position, never with source lines: they may contain a secret. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const SECRET = 'hunter2hunter2hunter2hunter2hunter2'

it.each([
  ['beside a token', `providers:\n  cloud:\n    type: cloud\n    token: ${SECRET}\n    typo: x\n`, 'zonewright.yaml'],
  ['a misspelt token', `providers:\n  cloud:\n    type: cloud\n    tokn: ${SECRET}\n`, 'zonewright.yaml'],
  [
    'a password in the address',
    `providers:\n  cloud: {type: cloud, base_url: 'http://user:${SECRET}@127.0.0.1/v4', token: 'env:X'}\n`,
    'zonewright.yaml',
  ],
  [
    'a token instead of a variable name',
    `providers:\n  cloud: {type: cloud, base_url: 'http://127.0.0.1/v4', token: 'env:${SECRET}'}\n`,
    'other.yaml',
  ],
])('%s', async (_, config, file) => {
  const cwd = temporaryDirectory()
  writeFileSync(join(cwd, file), `${config}zones:\n  - {files: '*.zone'}\n`)
  writeFileSync(join(cwd, 'example.com.zone'), 'www 300 IN A 192.0.2.1\n')
  for (const command of ['plan', 'validate']) {
    const result = await cli([command, '--verbose', '-c', file], { cwd })
    if (command === 'plan') expect(result.stderr).toMatch(/error/)
    expect(result.stdout + result.stderr).not.toContain(SECRET)
  }
})
