/** The first entry of `providers` in a new config. */
import { didYouMean } from '../../base/nearest-word.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { CONFIG_FILE, type Config } from '../../config/config.ts'
import type { SecretSource } from '../../config/resolve-secret.ts'
import { printText } from '../../definition/yaml/print-yaml.ts'
import { createProvider, PRESETS, PROVIDER_TYPES, STARTER_TYPES, starterOf } from '../../providers/registry.ts'
import { schemaComment } from './editor-schemas.ts'

/** The types of providers that a new config can begin with, as the command line takes them. */
export const FIRST_TYPES: readonly string[] = [
  ...STARTER_TYPES.map((type) => {
    const text = starterOf(type)?.neededText
    return text === undefined ? type : `${type}=${text}`
  }),
  'zonefile=FOLDER',
]

/** The first entry of `providers`, in flow style or as indented lines after a line end, and its name. */
export interface FirstProvider {
  readonly name: string
  readonly entry: string
}

/** A new config. `files` is a glob for its definitions. */
export const configText = (
  { name, entry }: FirstProvider,
  files: string,
): string => `${schemaComment('config')}# The providers, the provider of each definition, and the safety limits.
providers:
  ${name}:${entry.startsWith('\n') ? '' : ' '}${entry}
zones:
  # Certificate clients come and go: their challenges (TXT at _acme-challenge) are theirs unless a definition has them.
  - {files: ${printText(files, 'flow')}, targets: [${name}], unmanaged: [{preset: acme}]}
# A plan beyond these limits is refused until --allow lifts the refusal.
safety: {max_delete_percent: 30, max_update_percent: 30}
`

/**
 * The provider of a new config. `from` is the base URL of a service, the name of a preset, or a type of provider, with another address of its API or a needed
 * setting as `TYPE=TEXT`. `serviceVariable` is the environment variable with the token of a service.
 */
export function firstProvider(from: string, serviceVariable: string): Result<FirstProvider> {
  const [, type = '', text] = /^([a-z0-9]+)(?:=(.*))?$/s.exec(from) ?? []
  const starter = starterOf(type)
  if (starter === null) {
    if (type === 'zonefile' && text) return ok({ name: 'files', entry: `{type: zonefile, directory: ${printText(text, 'flow')}}` })
    const address = PRESETS.includes(from) ? 'preset' : /^https?:\/\//i.test(from) && URL.canParse(from) ? 'base_url' : null
    if (address === null) return failure(notFirst(from, type))
    return ok({ name: 'cloud', entry: `{type: cloud, ${address}: ${printText(from, 'flow')}, token: 'env:${serviceVariable}'}` })
  }
  const { settings, textKey = 'base_url', neededText, read } = starter
  if (neededText !== undefined && !text) return failure(`${type} needs a setting: --from ${type}=${neededText}`)
  if (read !== undefined) {
    const stated = read(text ?? '')
    if (stated === null) return failure(`${JSON.stringify(from)} is malformed: write --from ${type}=${neededText}`)
    return ok({ name: type, entry: `{type: ${type}, ${stated.settings}}` })
  }
  const given = text === undefined ? '' : `, ${textKey}: ${printText(text, 'flow')}`
  const references = Object.entries(settings).map(([key, reference]) => `, ${key}: '${reference}'`)
  return ok({
    name: type,
    entry: `{type: ${type}${given}${references.join('')}}`,
  })
}

/** Why a config cannot begin with what the command line names. */
function notFirst(from: string, type: string): string {
  if (type === 'zonefile') return 'zonefile needs a setting: --from zonefile=FOLDER'
  if (type !== 'cloud' && PROVIDER_TYPES.includes(type)) {
    const page = type === 'lexicon' ? 'docs/providers/lexicon.md' : 'docs/tasks/name-servers.md'
    return `--from ${type}: this type needs more settings. Write its provider into ${CONFIG_FILE} (${page}), then run "zonewright init"`
  }
  const meant = type === '' || type === 'cloud' ? undefined : didYouMean(type, [...PRESETS, ...PROVIDER_TYPES])
  if (meant !== undefined) return `--from ${type}: there is no such type of provider. ${meant}`
  return `--from ${JSON.stringify(from)} is none of these: the base URL of an API (https://…), ${[...PRESETS, ...FIRST_TYPES].join(', ')}`
}

/** The Python packages that a provider runs on this machine, as pip takes them. */
export async function pythonPackagesOf(config: Config, name: string, env: SecretSource['env']): Promise<readonly string[]> {
  const entry = config.providers.get(name)
  const created = entry && (await createProvider(entry, { secrets: { folder: config.folder, env, loaded: config.secrets } }))
  await created?.provider?.close()
  return created?.provider?.pythonPackages ?? []
}
