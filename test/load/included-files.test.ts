import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatDiagnostic } from '../../src/base/diagnostic.ts'
import { loadDefinitions } from '../../src/load/load-definitions.ts'
import { configIn, folderWith } from '../definition/files.ts'

const CONFIG = 'providers: {cloud: {type: cloud, preset: linode, token: env:TOKEN}}\ndefaults: {soa_email: hostmaster@example.com}\n'

async function problemsOf(include: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  const folder = folderWith({
    'below/zonewright.yaml': CONFIG,
    'below/zones/example.com.yaml': `domain: example.com\ninclude: ${include}\nrecords:\n  w: {type: A, value: 192.0.2.1}\n`,
    ...files,
  })
  symlinkSync(join(folder, 'secret.yaml'), join(folder, 'below/link.yaml'))
  const { diagnostics } = await loadDefinitions(await configIn(join(folder, 'below')))
  return diagnostics.map((one) => {
    const related = (one.related ?? []).map(({ message, at }) => `${message}: ${at.file}:${at.line}:${at.column}`)
    return [formatDiagnostic(one), ...related].join(', ')
  })
}

describe('an error in an included file', () => {
  it.each([
    ['in a variable', '[{file: ../f.yaml, with: {ip: 1.2.3}}]', `a: {type: A, value: "\${ip}"}`, 'f.yaml:1:21: error[value-invalid]'],
    ['in a literal value', '[../f.yaml]', 'a: {type: A, value: 1.2.3}', 'f.yaml:1:21: error[value-invalid]'],
    ['in the YAML syntax', '[../f.yaml]', 'a: {type: A', 'f.yaml:1:4: error[yaml-syntax]'],
    ['in a variable without a value', '[../f.yaml]', `a: {type: A, value: "\${ip}"}`, 'f.yaml:1:21: error[variable-unknown]'],
  ])('shows the including line: %s', async (_, include, text, place) => {
    const [problem, ...others] = await problemsOf(include, { 'below/f.yaml': text })
    expect(others).toEqual([])
    expect(problem).toContain(place)
    expect(problem).toMatch(/included here: zones\/example\.com\.yaml:2:1[18]$/)
  })

  it('shows the right one of two inclusions', async () => {
    const include = '[{file: ../f.yaml, with: {h: a, ip: 192.0.2.1}}, {file: ../f.yaml, with: {h: b, ip: 1.1}}]'
    const [problem] = await problemsOf(include, { 'below/f.yaml': `"\${h}": {type: A, value: "\${ip}"}\n` })
    expect(problem).toContain(
      'b.example.com. A: "1.1" is not an IPv4 address: it has 2 numbers instead of 4, included here: zones/example.com.yaml:2:66',
    )
  })
})

describe('a file that cannot be included', () => {
  const OUT = 'the path is outside the config folder; move the file into that folder'
  it.each([
    ['../../secret.yaml', OUT],
    ['../../nothing.yaml', OUT],
    ['../../nothing/at/all.yaml', OUT],
    ['../link.yaml', OUT],
    ['../nothing.yaml', 'nothing.yaml does not exist'],
    ['../f.zone', 'is a zone file; a fragment must be a map of records in YAML'],
  ])('%s', async (path, message) => {
    const problems = await problemsOf(`[${path}]`, {
      'secret.yaml': 'a: {type: A, value: 192.0.2.1}\n',
      'below/f.zone': 'a 60 A 192.0.2.1\n',
    })
    expect(problems).toEqual([expect.stringMatching(/^zones\/example\.com\.yaml:2:11: error\[include-invalid\]/)])
    expect(problems[0]).toContain(message)
    expect(problems[0]).not.toContain('secret.yaml does')
  })
})
