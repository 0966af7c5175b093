import type { ZoneSettings } from '../../dns/zone.ts'
import type { SettingProblem } from '../../plan/capabilities.ts'

/** Characters the settings of a domain can have (interface, Domain and Limits). */
const MAX_DESCRIPTION = 253
const MAX_GROUP = 50
const TAG_LENGTHS = [3, 50] as const
/** Characters of all addresses of a list together. */
const MAX_ADDRESSES = 1000

/** What is wrong with settings by the limits of the interface, in words. An empty description or group is none. */
export function cloudSettingProblems(settings: ZoneSettings): SettingProblem[] {
  const problems: SettingProblem[] = []
  const atMost = (field: 'description' | 'group', limit: number): void => {
    const length = settings[field]?.length ?? 0
    if (length > limit) problems.push({ field, message: `${field} has ${length} characters; the service holds ${limit}` })
  }
  atMost('description', MAX_DESCRIPTION)
  atMost('group', MAX_GROUP)
  for (const tag of settings.tags ?? []) {
    if (tag.length < TAG_LENGTHS[0] || tag.length > TAG_LENGTHS[1])
      problems.push({
        field: 'tags',
        message: `the tag ${JSON.stringify(tag)} has ${tag.length} characters; the service holds ${TAG_LENGTHS[0]} to ${TAG_LENGTHS[1]}`,
      })
  }
  for (const field of ['axfr_ips', 'master_ips'] as const) {
    const length = (settings[field] ?? []).reduce((sum, address) => sum + address.length, 0)
    if (length > MAX_ADDRESSES)
      problems.push({ field, message: `${field} has ${length} characters in all; the service holds ${MAX_ADDRESSES}` })
  }
  return problems
}
