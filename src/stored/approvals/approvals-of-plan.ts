/**
 * The approvals of a saved plan: signatures over the text of its file by keys that the config lists. They are in a folder beside the plan, one file per
 * person, so that two people can approve at the same time and the files of both can be copied together; and in other texts, such as comments.
 */
import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { agreeing, counted, listed } from '../../base/english.ts'
import { compareText } from '../../base/text.ts'
import { neededApprovals } from '../../config/approvals.ts'
import type { Config } from '../../config/config.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { hasChanges, type PlannedZones } from '../../plan/planned-zone.ts'
import { signaturesIn, signerFinder } from './openssh.ts'

/** Maximum files read, and octets of each. */
const MAX_FILES = 100
const MAX_OCTETS = 16_384

/** Names in a message. */
const MAX_NAMED = 20

/** Who has approved a plan file. */
export interface GivenApprovals {
  /** The plan file as the user named it. */
  readonly file: string
  /** The people whose keys the config lists, sorted. */
  readonly by: readonly string[]
  /** The fingerprints of other keys with a valid signature, sorted. */
  readonly unlisted: readonly string[]
  /** Signatures that are not of this plan, or not of an approval. */
  readonly invalid: number
}

/** The folder of the approvals of a plan file. */
export const approvalsFolder = (file: string): string => `${file}.approvals`

interface PlanFile {
  /** Absolute. */
  readonly path: string
  /** As the user named it. */
  readonly file: string
  readonly text: string
}

/** Reads the approvals of a plan file, and those in `texts`. */
export async function readApprovals(
  { path, file, text }: PlanFile,
  config: Pick<Config, 'approvals'>,
  texts: readonly string[] = [],
): Promise<GivenApprovals> {
  const by = new Set<string>()
  const unlisted = new Set<string>()
  let invalid = 0
  const signerOf = signerFinder(text)
  for (const signature of [...(await approvalFiles(approvalsFolder(path))), ...texts].flatMap(signaturesIn)) {
    const signer = signerOf(signature)
    const known = config.approvals?.keys.find(({ octets }) => signer?.octets.equals(octets))
    if (signer === null) invalid += 1
    else if (known === undefined) unlisted.add(signer.fingerprint)
    else by.add(known.name)
  }
  return { file, by: [...by].sort(compareText), unlisted: [...unlisted].sort(compareText), invalid }
}

/** The texts of the files of a folder that end in `.sig`. What cannot be read is left out: it then counts as missing. */
async function approvalFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  const files = names.filter((name) => name.endsWith('.sig')).sort(compareText)
  const texts = await Promise.all(files.slice(0, MAX_FILES).map((name) => readStart(join(folder, name))))
  return texts.filter((text) => text !== null)
}

async function readStart(path: string): Promise<string | null> {
  try {
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      if (!(await handle.stat()).isFile()) return null
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_OCTETS), 0, MAX_OCTETS, 0)
      return buffer.toString('latin1', 0, bytesRead)
    } finally {
      await handle.close()
    }
  } catch {
    return null
  }
}

/** How many approvals the changes of a plan need. */
export const neededFor = (config: Pick<Config, 'approvals'> | null, { zones }: PlannedZones): number =>
  neededForZones(
    config,
    zones.filter(hasChanges).map(({ plan }) => plan.zone),
  )

/** How many approvals a change of zones needs. */
export const neededForZones = (config: Pick<Config, 'approvals'> | null, zones: readonly DomainName[]): number =>
  config?.approvals ? neededApprovals(config.approvals, zones) : 0

/** The error for a plan that lacks approvals; null if it has enough. `given` is null for a plan that is not saved, and `hint` says how to go on then. */
export function notApproved(
  config: Pick<Config, 'approvals'> | null,
  planned: PlannedZones,
  given: GivenApprovals | null,
  hint: string,
): Diagnostic | null {
  const needed = neededFor(config, planned)
  if (needed === 0 || (given !== null && given.by.length >= needed)) return null
  if (given === null) return lacking(needed, hint)
  const missing = needed - given.by.length
  const others = (config?.approvals?.keys ?? []).map(({ name }) => name).filter((name) => !given.by.includes(name))
  return {
    severity: 'error',
    code: 'not-approved',
    message: `${given.file} needs ${counted(needed, 'approval')} and has ${stateOf(given)}: ${missing} ${agreeing(missing, 'is', 'are')} missing, and ${listed(others, MAX_NAMED)} can approve`,
    hint: `zonewright approve ${given.file} --key FILE`,
  }
}

/** The error for a change that needs approvals and is no saved plan. */
export const lacking = (needed: number, hint: string): Diagnostic => ({
  severity: 'error',
  code: 'not-approved',
  message: `these changes need ${counted(needed, 'approval')}, and only a saved plan can be approved`,
  hint,
})

/** `1, of alice`, with signatures that do not count. */
export function stateOf({ by, unlisted, invalid }: GivenApprovals): string {
  const others = [
    ...(unlisted.length === 0 ? [] : [`by keys that the config does not list, ${listed(unlisted, 3)}`]),
    ...(invalid === 0 ? [] : [`${counted(invalid, 'signature')} of something else`]),
  ]
  const given = by.length === 0 ? 'none' : `${by.length}, of ${listed(by, MAX_NAMED)}`
  return others.length === 0 ? given : `${given} (not counted: ${others.join('; ')})`
}
