/** `approve`: shows a saved plan, asks, and writes a signature of its file. Contacts no server. */
import { resolve } from 'node:path'
import { type Diagnostic, hasErrors } from '../base/diagnostic.ts'
import { counted } from '../base/english.ts'
import { addSecret } from '../base/secret-guard.ts'
import { PLAN_KEY } from '../config/resolve-secret.ts'
import { makeFolder } from '../files/make-folder.ts'
import { writeFileAtomically } from '../files/replace-files.ts'
import { writeProblem } from '../files/write-problem.ts'
import { hasChanges, type PlannedZones, planOf } from '../plan/planned-zone.ts'
import { approvalsFolder, neededFor, readApprovals, stateOf } from '../stored/approvals/approvals-of-plan.ts'
import { NAMESPACE, type OpenSshKey, parseOpenSshKey, readKeyFile, signText } from '../stored/approvals/openssh.ts'
import { parseSavedPlan } from '../stored/plans/parse-saved-plan.ts'
import { readPlanText } from '../stored/plans/saved-plan.ts'
import { EXIT, type ExitStatus, statusOfPlan } from './context/exit-status.ts'
import type { ApplyOptions, ApplySetup } from './context/run-context.ts'
import { loadRunConfig } from './load/run-config.ts'

export interface ApproveOptions extends ApplyOptions {
  /** The file of the private key. */
  readonly key: string
}

type ApproveSetup = ApplySetup<ApproveOptions>

/** Approves a plan file, if its plan may be applied. */
export async function runApprove(setup: ApproveSetup, file: string): Promise<ExitStatus> {
  const { output, options, environment } = setup
  const { cwd, env } = environment
  const path = resolve(cwd, file)
  const { config, diagnostics } = await loadRunConfig(environment, options.config, {
    offline: true,
    programs: false,
    trusted: options.trustedConfig,
  })
  const read = await readPlanText(path)
  const { saved, diagnostics: found } = read.ok ? parseSavedPlan(read.value, file, env[PLAN_KEY] || null) : unreadable(file, read.message)
  output.diagnostics([...diagnostics, ...found])
  if (config === null || saved === null || !read.ok || hasErrors([...diagnostics, ...found])) return EXIT.failure
  const text = read.value
  const plan = planOf(saved)
  output.planDiagnostics(plan)
  output.plan(plan)
  const status = statusOfPlan(plan)
  if (status !== EXIT.done) {
    output.say('Nothing was approved: this plan cannot be applied.')
    return status
  }
  if (!saved.zones.some(hasChanges)) {
    output.say('There is nothing to approve: the plan changes nothing.')
    return EXIT.done
  }
  const key = await readKey(setup)
  if (key === null) return EXIT.failure
  const { fingerprint, octets } = key.publicKey
  const person = config.approvals?.keys.find((one) => one.octets.equals(octets))?.name ?? null
  if (key.privateKey === null) {
    output.diagnostics([withPassphrase(options.key, file, person ?? 'NAME')])
    return EXIT.failure
  }
  if (person === null) {
    const message = `the config does not list the key ${fingerprint}, so its approval would not count`
    output.error('approval-key', message, 'add its public key to "approvals.keys" in the config of the base branch')
    return EXIT.failure
  }
  const declined = options.yes ? null : await ask(setup, saved, person)
  if (declined !== null) return declined
  const written = `${approvalsFolder(file)}/${person}.sig`
  try {
    makeFolder(approvalsFolder(path))
    await writeFileAtomically(resolve(cwd, written), signText(text, key.privateKey, octets), 0o644)
  } catch (error) {
    output.diagnostics([writeProblem(error, written)])
    return EXIT.failure
  }
  const given = await readApprovals({ path, file, text }, config)
  output.say(`${person} approves ${file}, in ${written}. Approvals: ${stateOf(given)}; needed: ${neededFor(config, saved)}.`)
  return EXIT.done
}

const unreadable = (file: string, problem: string) => ({
  saved: null,
  diagnostics: [{ severity: 'error', code: 'plan-file-invalid', message: `${file} ${problem}` } satisfies Diagnostic],
})

/** Reads the key, which becomes a secret of the run. Null if it cannot be used. */
async function readKey({ environment: { cwd, secrets }, output, options }: ApproveSetup): Promise<OpenSshKey | null> {
  const text = await readKeyFile(resolve(cwd, options.key))
  const key = text.ok ? parseOpenSshKey(text.value) : text
  if (text.ok && text.value.includes('PRIVATE KEY')) addSecret(secrets, '--key', text.value)
  if (key.ok) return key.value
  output.error('approval-key', `--key: ${options.key} ${key.message}`)
  return null
}

/** The command for the shell that asks for the passphrase, or an agent, instead. */
const withPassphrase = (key: string, file: string, person: string): Diagnostic => ({
  severity: 'error',
  code: 'approval-key',
  message: `--key: ${key} is protected by a passphrase, which only ssh-keygen can ask for`,
  hint: `mkdir -p ${quote(approvalsFolder(file))} && ssh-keygen -Y sign -n ${NAMESPACE} -f ${quote(key)} < ${quote(file)} > ${quote(`${approvalsFolder(file)}/${person}.sig`)}`,
})

const quote = (text: string): string => (/^[A-Za-z0-9_./@+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** Asks for consent. Null if it is given, otherwise the exit status. */
async function ask({ output }: ApproveSetup, { zones }: PlannedZones, person: string): Promise<ExitStatus | null> {
  const changed = zones.filter(hasChanges)
  const changes = changed.reduce((sum, { plan }) => sum + plan.changes.length, 0)
  const question = `Approve ${counted(changes, 'change')} to ${counted(changed.length, 'zone')} as ${person}?`
  const answer = await output.ask(question, new AbortController().signal)
  if (answer === 'yes') return null
  if (answer === 'no-terminal')
    output.error('not-confirmed', 'nothing was approved: there is no terminal to ask on', 'give --yes to approve without being asked')
  else output.say('Nothing was approved.')
  return answer === 'interrupted' ? EXIT.interrupted : EXIT.failure
}
