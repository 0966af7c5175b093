/** Reads what `terraform show -json` and `tofu show -json` print of a state (format versions 0 and 1). */
import { failure, ok, type Result } from '../../base/result.ts'
import { isObject } from '../../base/text.ts'
import { parseJson } from '../import-tables.ts'

export type Values = Readonly<Record<string, unknown>>

/** A resource or data source of a state. */
export interface StateResource {
  /** Such as `module.dns["a"].aws_route53_record.www[0]`. */
  readonly address: string
  readonly type: string
  readonly isData: boolean
  /** Whether the next run of Terraform deletes it, since it has been replaced. */
  readonly isDeposed: boolean
  readonly values: Values
  /** The attributes that are sensitive, or have a sensitive part. */
  readonly sensitive: ReadonlySet<string>
  /** The addresses of the resources that it refers to, without the keys of instances. */
  readonly dependsOn: readonly string[]
}

export interface State {
  readonly resources: readonly StateResource[]
  readonly program: 'terraform' | 'tofu'
}

/** Reads a state. The failure follows the name of the file. */
export function readState(text: string): Result<State> {
  const parsed = parseJson(text)
  if (!parsed.ok) return failure(`is no JSON: ${parsed.message}`)
  const root = isObject(parsed.value) ? parsed.value : {}
  if (root['version'] !== undefined && root['lineage'] !== undefined) return failure('is a raw state file')
  if (root['planned_values'] !== undefined || root['resource_changes'] !== undefined) return failure('is a plan, not a state')
  if (!/^[01]\./.test(textOf(root['format_version']))) return failure('is not what "terraform show -json" prints')
  const resources: StateResource[] = []
  let isTofu = false
  const modules: unknown[] = [isObject(root['values']) ? root['values']['root_module'] : undefined]
  for (const module of modules) {
    if (!isObject(module)) continue
    for (const child of listOf(module['child_modules'])) modules.push(child)
    for (const one of listOf(module['resources'])) {
      if (!isObject(one)) continue
      const { address, type, mode, values, sensitive_values: hidden, depends_on: dependsOn, provider_name: provider } = one
      // Terraform escapes the control characters of keys.
      if (typeof address !== 'string' || typeof type !== 'string' || /\p{Cc}/u.test(address + type))
        return failure('has a resource with an address that Terraform does not write')
      isTofu ||= /\bopentofu\b/.test(textOf(provider))
      resources.push({
        address,
        type,
        isData: mode === 'data',
        isDeposed: one['deposed_key'] !== undefined,
        values: isObject(values) ? values : {},
        sensitive: new Set(Object.entries(isObject(hidden) ? hidden : {}).flatMap(([key, mark]) => (isMarked(mark) ? [key] : []))),
        dependsOn: listOf(dependsOn).map(textOf),
      })
    }
  }
  return ok({ resources, program: isTofu ? 'tofu' : 'terraform' })
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A text or number of the state; empty for anything else. */
export const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')

/** Whether a mark is `true`, or one of its parts at any depth. */
function isMarked(mark: unknown): boolean {
  const parts = [mark]
  for (const part of parts) {
    if (part === true) return true
    if (typeof part === 'object' && part !== null) for (const one of Object.values(part)) parts.push(one)
  }
  return false
}
