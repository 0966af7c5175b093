import { relative, sep } from 'node:path'
import type { DesiredZone } from '../../dns/zone.ts'
import type { Config, ConfigRule } from '../config/config.ts'
import { compileGlobs } from '../files/file-glob.ts'
import { ruleFor } from './configured-zone.ts'

/** The rule that a definition of a zone would fall under if it stood at an absolute path; null where none takes it, so that nobody reads it. */
export function rulesByPath(config: Config): (path: string, zone: Pick<DesiredZone, 'name'>) => ConfigRule | null {
  const rules = config.rules.map((rule) => ({ rule, globs: compileGlobs(rule.files, config.folder) }))
  return (path, zone) => {
    const fromFolder = relative(config.folder, path).split(sep).join('/')
    const matching = rules.filter(({ globs }) => globs.matches(fromFolder)).map(({ rule }) => rule)
    const rule = matching.length === 0 ? null : ruleFor(zone, matching)
    return rule?.enabled ? rule : null
  }
}
