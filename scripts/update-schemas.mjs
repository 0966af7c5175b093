/**
 * `npm run update-schemas`: writes the settings of every provider type, `src/providers/TYPE/settings.schema.json`, into
 * `schemas/config.schema.json`. Editors load that file alone, so it must contain them all. A test checks that it does.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const CONFIG_SCHEMA = resolve(root, 'schemas/config.schema.json')

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))
const settingsOf = (type) => resolve(root, 'src/providers', type, 'settings.schema.json')

/** The names of all definitions for the settings of a provider type begin with this. */
const PREFIX = 'provider-'

/**
 * The schema of the config with the settings of all provider types.
 * @returns {Record<string, unknown>}
 */
export function composeConfigSchema() {
  const schema = readJson(CONFIG_SCHEMA)
  const types = readdirSync(resolve(root, 'src/providers'))
    .filter((name) => existsSync(settingsOf(name)))
    .sort()
  const { provider, ...others } = schema.definitions
  const kept = Object.entries(others).filter(([name]) => !name.startsWith(PREFIX))
  schema.definitions = {
    provider: {
      ...provider,
      properties: { ...provider.properties, type: typeSchema(provider.properties.type.description, types) },
      allOf: types.map((type) => ({
        if: { type: 'object', required: ['type'], properties: { type: { const: type } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { $ref: `#/definitions/${PREFIX}${type}` },
      })),
    },
    ...Object.fromEntries(types.map((type) => [`${PREFIX}${type}`, readJson(settingsOf(type))])),
    ...Object.fromEntries(kept),
  }
  return schema
}

/** The schema of the key `type`: one of ours, or a package. */
const typeSchema = (description, types) => ({
  description,
  if: { type: 'string', pattern: '^npm:' },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { type: 'string', pattern: '^npm:[a-z0-9][a-z0-9-]{0,99}$' },
  else: { enum: types },
})

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  writeFileSync(CONFIG_SCHEMA, JSON.stringify(composeConfigSchema(), null, 2))
  const biome = resolve(root, 'node_modules/@biomejs/biome/bin/biome')
  process.exit(spawnSync(process.execPath, [biome, 'format', '--write', CONFIG_SCHEMA], { cwd: root, stdio: 'inherit' }).status ?? 1)
}
