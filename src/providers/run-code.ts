/** Which code of others a run may start: programs, classes of octoDNS and packages with providers. The list comes only from the environment, like the allowed hosts. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { type Environment, isCi } from '../base/environment.ts'
import type { ProviderConfig } from '../config/config.ts'
import { ALLOWED_HOSTS } from '../transport/allowed-hosts.ts'
import { settingProblem } from './setting-problem.ts'

/** The variable with the programs, classes and packages that a run may start, as the config names them, separated by commas or spaces. */
const ALLOWED_PACKAGES = 'ZONEWRIGHT_ALLOWED_PACKAGES'

/** The error for a setting with code that the run may not start; null if it may. Without a list, a run in CI or with a list of hosts starts none. */
export function refusedCode(config: ProviderConfig, setting: string, name: string, env: Environment): Diagnostic | null {
  const list = env[ALLOWED_PACKAGES]
  if (list === undefined ? env[ALLOWED_HOSTS] === undefined && !isCi(env) : list.split(/[\s,]+/).includes(name)) return null
  const message = `this run may not run ${name}, which can contact any host`
  return settingProblem(config, setting, message, `if you trust it, list it in ${ALLOWED_PACKAGES}`, 'host-not-allowed')
}

/** Kills a child process that leads a group, with all processes of the group. */
export function killGroup({ pid }: { readonly pid?: number | undefined }): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
