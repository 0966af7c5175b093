/** Reads what `terraform show -json` and `tofu show -json` print of a state (format versions 0 and 1). */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { isObject } from '../../base/text.ts'
import { parseJson } from '../import-tables.ts'
import { shellWord } from './state-commands.ts'

export type Values = Readonly<Record<string, unknown>>

/** A resource or data source of a state. */
export interface StateResource {
  /** Such as `module.dns["a"].aws_route53_record.www[0]`. */
  readonly address: string
  readonly type: string
  readonly isData: boolean
  readonly values: Values
  /** The attributes that are sensitive, or have a sensitive part. */
  readonly sensitive: ReadonlySet<string>
  /** The addresses of the resources that it refers to, without the keys of instances. */
  readonly dependsOn: readonly string[]
}

export interface State {
  readonly resources: readonly StateResource[]
  /** Objects that the next run of Terraform deletes. */
  readonly deposed: readonly Pick<StateResource, 'address'>[]
  readonly program: 'terraform' | 'tofu'
}

/** Reads a state. `file` is its path for messages. */
export function readState(text: string, file: string): { readonly state: State } | { readonly state: null; readonly problem: Diagnostic } {
  const refuse = (message: string, hint: string): { readonly state: null; readonly problem: Diagnostic } => ({
    state: null,
    problem: { severity: 'error', code: 'file-format', message: `${file} ${message}`, hint },
  })
  const parsed = parseJson(text)
  const root = parsed.ok ? parsed.value : null
  if (!isObject(root)) return refuse(parsed.ok ? 'is no JSON object' : `is no JSON: ${parsed.message}`, SHOW)
  if (root['version'] !== undefined && root['lineage'] !== undefined)
    return refuse('is a raw state file', `terraform show -json ${shellWord(file)} > show.json`)
  if (root['planned_values'] !== undefined || root['resource_changes'] !== undefined) return refuse('is a plan, not a state', SHOW)
  if (!/^[01]\./.test(String(root['format_version']))) return refuse('is not what "terraform show -json" prints', SHOW)
  const resources: StateResource[] = []
  const deposed: Pick<StateResource, 'address'>[] = []
  let isTofu = false
  const modules: unknown[] = [isObject(root['values']) ? root['values']['root_module'] : undefined]
  for (const module of modules) {
    if (!isObject(module)) continue
    modules.push(...listOf(module['child_modules']))
    for (const one of listOf(module['resources'])) {
      if (!isObject(one)) continue
      const { address, type, mode, values, sensitive_values: hidden, depends_on: dependsOn, provider_name: provider } = one
      // Terraform escapes the control characters of keys.
      if (typeof address !== 'string' || typeof type !== 'string' || /\p{Cc}/u.test(address + type))
        return refuse('has a resource with an address that Terraform does not write', SHOW)
      if (/\bopentofu\b/.test(String(provider))) isTofu = true
      if (one['deposed_key'] !== undefined) deposed.push({ address })
      else
        resources.push({
          address,
          type,
          isData: mode === 'data',
          values: isObject(values) ? values : {},
          sensitive: new Set(Object.entries(isObject(hidden) ? hidden : {}).flatMap(([key, mark]) => (isMarked(mark) ? [key] : []))),
          dependsOn: listOf(dependsOn).map(String),
        })
    }
  }
  return { state: { resources, deposed, program: isTofu ? 'tofu' : 'terraform' } }
}

const SHOW = 'make it in the folder of the configuration: terraform show -json > show.json'

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const isMarked = (mark: unknown): boolean =>
  mark === true || (typeof mark === 'object' && mark !== null && Object.values(mark).some(isMarked))
