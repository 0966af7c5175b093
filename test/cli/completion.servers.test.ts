/** The scripts of `completion` in real shells, and the manual page. */
import { describe, expect, test } from 'vitest'
import { manualPage } from '../../scripts/command-pages.mjs'
import { SCRIPTS } from '../../src/cli/completion/scripts.ts'
import { builtProgram } from '../support/built-program.ts'
import { describeWithTools } from '../support/skip.ts'
import { runTool } from '../support/tools.ts'
import { openScene, type Scene } from './scene.ts'

async function sceneWithRun(): Promise<{ scene: Scene; run: string }> {
  const scene = openScene()
  await scene.run('apply', '--yes')
  const { stdout } = await scene.run('history', '--format', 'json')
  return { scene, run: JSON.parse(stdout).runs[0].run as string }
}

describe('__complete lists what can follow', () => {
  test.each([
    ['pla', 'plan\tshow what would change'],
    ['--v', '--version\toutput the version number'],
    ['record s', 'set\tset a record to exactly these values'],
    ['zone remove ex', 'example.com\tzones/example.com.yaml'],
    ['plan ex', 'example.com\tzones/example.com.yaml'],
    ['plan example.com ex', 'example.com\tzones/example.com.yaml'],
    ['record set ex', 'example.com\tzones/example.com.yaml'],
    ['record set example.com www CNA', 'CNAME\t'],
    ['record set example.com ', ''],
    ['record set example.com www A ', ''],
    ['zone add example.net x', ''],
    ['plan --target ', 'cloud\tcloud'],
    ['plan --target=c', '--target=cloud\tcloud'],
    ['plan --target = c', 'cloud\tcloud'],
    ['plan --target =', 'cloud\tcloud'],
    ['plan -c missing.yaml --target ', ''],
    ['plan -o ', ''],
    ['plan --quiet ex', 'example.com\tzones/example.com.yaml'],
    ['plan --allow in', 'in-use\t'],
    ['apply --low', '--low-ttl\twith --choreograph'],
    ['providers c', 'cloud\tcloud'],
    ['copy --from cloud --to ', 'cloud\tcloud'],
    ['import ro', 'route53\t'],
    ['import route53 ', ''],
    ['verify --format m', 'markdown\t'],
    ['explain cname-at', 'cname-at-apex\tThere is a CNAME at the apex.'],
    ['completion fi', 'fish\t'],
    ['unknown ', ''],
  ])('%s', async (line, expected) => {
    const lines = (await openScene().run('__complete', ...line.split(' '))).stdout.split('\n')
    if (expected === '') expect(lines).toEqual([''])
    else expect(lines).toContain(expected)
  })

  test('runs, the latest first, and the zones beside them', async () => {
    const { scene, run } = await sceneWithRun()
    expect((await scene.run('__complete', 'history', '')).stdout).toBe(`${run}\tapply, applied\n`)
    expect((await scene.run('__complete', 'rollback', '')).stdout).toBe(`${run}\tapply, applied\nexample.com\tzones/example.com.yaml\n`)
    expect(scene.memory.requests.length).toBeGreaterThan(0)
  })

  test('a broken config prints nothing', async () => {
    const scene = openScene()
    scene.write({ 'zonewright.yaml': 'providers: [' })
    expect(await scene.run('__complete', 'plan', '')).toEqual({ status: 0, stdout: '', stderr: '' })
  })
})

/** How each shell is asked for what it would complete. Lines of candidates, with or without meanings. */
const ASKED: Readonly<Record<string, (words: readonly string[]) => string>> = {
  bash: (words) =>
    `COMP_WORDS=(zonewright ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _zonewright; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (words) =>
    `_describe() { print -l -- "\${(@P)2}" }; _files() { print FILES }; words=(zonewright ${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length + 1}; _zonewright`,
  fish: (words) => `complete -C 'zonewright ${words.join(' ')}'`,
}

describeWithTools(['bash', 'zsh', 'fish', 'mandoc'], 'shells', () => {
  test.each(['bash', 'zsh', 'fish'] as const)(
    '%s completes commands, options, zones, targets and runs',
    { timeout: 120_000 },
    async (shell) => {
      const { scene, run } = await sceneWithRun()
      const program = `zonewright() { '${process.execPath}' '${await builtProgram()}' "$@" }`.replace(' }', '; }')
      const asFunction =
        shell === 'fish' ? program.replace('() {', ';').replace('"$@"; }', '$argv; end').replace(/^/, 'function ') : program
      const complete = async (...words: string[]): Promise<string[]> => {
        const script = [
          'compdef() { : }'.slice(0, shell === 'zsh' ? undefined : 0),
          asFunction,
          SCRIPTS[shell],
          ASKED[shell]?.(words),
        ].join('\n')
        const { stdout } = await runTool(shell, [...(shell === 'zsh' ? ['-f'] : []), '-c', script], { cwd: scene.folder })
        return stdout.split('\n').filter((line) => line !== '')
      }
      const first = (lines: readonly string[]): string[] => lines.map((line) => line.split(/[\t:]/)[0] ?? '')
      expect(first(await complete('appl'))).toEqual(['apply'])
      expect(first(await complete('record', 'ren'))).toEqual(['rename'])
      expect(first(await complete('plan', 'ex'))).toEqual(['example.com'])
      expect(first(await complete('plan', '--target', ''))).toEqual(['cloud'])
      expect(first(await complete('history', ''))[0]?.replaceAll('\\', '')).toBe(shell === 'zsh' ? run.split(':')[0] : run)
      // A file is completed by the shell itself.
      const files = await complete('plan', '-c', 'zonew')
      expect(files).toEqual({ bash: [], zsh: ['FILES'], fish: ['zonewright.yaml'] }[shell])
    },
  )

  test('the manual page has every command, and mandoc finds no error in it', async () => {
    const { stdout: texts } = await runTool(process.execPath, [await builtProgram(), '__manual'])
    const { stdout: text } = await runTool('mandoc', ['-T', 'ascii', '-W', 'error'], { input: manualPage(JSON.parse(texts)) })
    const shown = text.replaceAll(/.[\b]/g, '')
    for (const line of [
      'plan [options] [zone...]',
      'record rename [options] <zone> <old> <new>',
      '--detailed-exitcode',
      'Exit status: 0 done',
    ])
      expect(shown).toContain(line)
  })
})
