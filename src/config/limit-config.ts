/** Limits the config of a pull request by that of the branch that it is merged into: until then it can name no other host or secret, and loosen no limit. */
import type { Policy } from '../dns/zone.ts'
import type { SafetyThresholds } from '../plan/safety-limits.ts'
import { type BaseConfig, type Config, DEFAULT_ZONE_RULE, type ZoneRule } from './config.ts'

/** The config `own` with the providers and safeguards of `base`. A rule for a provider that the base lacks is disabled. */
export function limitConfig(own: Config, base: Omit<BaseConfig, 'limitedKeys'>): Config {
  const { providers, nameservers, usage, quarantine, journal, journalStore, policies, approvals, secretFiles } = base.config
  const zoneRules = own.zoneRules.map((rule) => completed(rule, own))
  return {
    ...own,
    ...{ providers, nameservers, usage, quarantine, journal, journalStore, policies, approvals, secretFiles },
    safety: stricter(own.safety, base.config.safety),
    deleteRemoved: own.deleteRemoved && base.config.deleteRemoved,
    zoneRules: zoneRules.map((rule) => ({
      ...rule,
      enabled: rule.enabled && (rule.targets ?? []).every((target) => providers.has(target)),
      nameservers: null,
    })),
    base: { ...base, limitedKeys: limitedKeys({ ...own, zoneRules }, base.config) },
  }
}

/** A rule with all values that rules share with the config. */
const completed = (rule: ZoneRule, { safety, deleteRemoved, nameservers }: Config): ZoneRule => ({
  ...rule,
  safety: { ...safety, ...rule.safety },
  deleteRemoved: rule.deleteRemoved ?? deleteRemoved,
  nameservers: rule.nameservers ?? nameservers,
})

/** A completed rule with what both it and the rule of the base branch for the same zone allow. */
function limitRule(rule: ZoneRule, ofBase: ZoneRule, config: Config): ZoneRule {
  const base = completed(ofBase, config)
  return {
    ...rule,
    policy: POLICIES.find((policy) => policy === rule.policy || policy === base.policy) ?? null,
    allow: rule.allow.filter((limit) => base.allow.includes(limit)),
    unmanaged: [...rule.unmanaged, ...base.unmanaged.filter((one) => !rule.unmanaged.some((other) => textOf(other) === textOf(one)))],
    safety: stricter({ ...config.safety, ...rule.safety }, { ...config.safety, ...base.safety }),
    deleteRemoved: rule.deleteRemoved && base.deleteRemoved,
    nameservers: base.nameservers,
  }
}

/** A completed rule limited by several of the base branch. */
export const limitByAll = (rule: ZoneRule, ofBase: readonly ZoneRule[], config: Config): ZoneRule =>
  ofBase.reduce((limited, one) => limitRule(limited, one, config), rule)

/** The strictest first. */
const POLICIES: readonly Policy[] = ['create-only', 'upsert-only', 'sync']

/** The lower value of each limit. */
function stricter(own: SafetyThresholds, base: SafetyThresholds): SafetyThresholds {
  const lower = { ...base } as Record<string, number>
  for (const [key, value] of Object.entries(own)) lower[key] = Math.min(value, lower[key] ?? value)
  return { ...base, ...lower }
}

const CONFIG_KEYS = ['providers', 'usage', 'quarantine', 'journal', 'journalStore', 'policies', 'approvals'] as const
const RULE_KEYS = ['policy', 'allow', 'unmanaged', 'safety', 'deleteRemoved', 'nameservers'] as const

/** The keys, as users write them, whose values `limitConfig` and `limitByAll` replace. */
function limitedKeys(own: Config, base: Config): string[] {
  const matching = (rule: ZoneRule, rules: readonly ZoneRule[]) =>
    rules.find((one) => textOf([one.files, one.zones]) === textOf([rule.files, rule.zones]))
  const pairs = [
    ...own.zoneRules.map((rule) => {
      const same = matching(rule, base.zoneRules)
      return [rule, same ? [same] : [...base.zoneRules, DEFAULT_ZONE_RULE]] as const
    }),
    ...base.zoneRules.filter((rule) => !matching(rule, own.zoneRules)).map((rule) => [completed(DEFAULT_ZONE_RULE, own), [rule]] as const),
  ]
  const keys = [
    ...CONFIG_KEYS.filter((key) => textOf(own[key]) !== textOf(base[key])),
    ...RULE_KEYS.filter((key) => pairs.some(([rule, others]) => textOf(limitByAll(rule, others, base)[key]) !== textOf(rule[key]))),
  ]
  return [...new Set(keys.map((key) => (key === 'journalStore' ? 'journal' : key === 'deleteRemoved' ? 'delete_removed' : key)))]
}

/** A value as text, without positions. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (key, part) => (key === 'at' ? undefined : part instanceof Map ? [...part.values()] : part))
