import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { compileSchemas } from '../../scripts/compile-schemas.mjs'
import { folderWith } from './files.ts'

const SCHEMA = JSON.stringify({
  $id: 'https://example.com/pet.json',
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', maxLength: 3 }, friends: { type: 'array', uniqueItems: true, items: { $ref: 'other.json' } } },
  additionalProperties: false,
})

it('writes self-contained modules for changed schemas', async () => {
  const from = folderWith({
    'pet.schema.json': SCHEMA,
    'other.schema.json': '{"$id":"https://example.com/other.json","type":"object"}',
    'x.json': '{',
  })
  const to = join(from, 'generated')
  mkdirSync(to)
  writeFileSync(join(to, 'gone-schema.js'), '')
  expect((await compileSchemas({ from, to })).written).toEqual(['other-schema.js', 'pet-schema.js'])
  expect(readdirSync(to).sort()).toEqual(['other-schema.d.ts', 'other-schema.js', 'pet-schema.d.ts', 'pet-schema.js'])
  // A separate process in a folder without packages: the module needs nothing else.
  const program = `
      const { validate } = await import(${JSON.stringify(pathToFileURL(join(to, 'pet-schema.js')).href)})
      const ok = validate({ name: 'Bo' })
      validate({ name: 'Bobby', friends: [{}, {}], age: 1 })
      console.log(JSON.stringify([ok, validate.errors.map((error) => error.keyword).sort()]))`
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: to, encoding: 'utf8' })
  expect(JSON.parse(output)).toEqual([true, ['additionalProperties', 'maxLength', 'uniqueItems']])

  const { mtimeMs } = statSync(join(to, 'pet-schema.js'))
  expect((await compileSchemas({ from, to })).written).toEqual([])
  expect(statSync(join(to, 'pet-schema.js')).mtimeMs).toBe(mtimeMs)
  writeFileSync(join(from, 'pet.schema.json'), SCHEMA.replace('3', '4'))
  expect((await compileSchemas({ from, to })).written).toContain('pet-schema.js')
})

it('refuses a schema with a misspelt keyword', async () => {
  const from = folderWith({ 'bad.schema.json': '{"type":"object","requird":["a"]}' })
  await expect(compileSchemas({ from, to: join(from, 'generated') })).rejects.toThrow(/requird/)
})
