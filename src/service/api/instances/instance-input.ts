/** Parses the bodies of instance requests. */
import { isIPv4, isIPv6 } from 'node:net'
import { findInstanceType, type InstanceType } from '../../catalogue/instance-types.ts'
import { findRegion, type Region } from '../../catalogue/regions.ts'
import type { Interface } from '../../store/disk-and-profile-store.ts'
import type { Alerts } from '../../store/instance-store.ts'
import { parseSshKey } from '../profile/ssh-key.ts'
import { badRequest, type RequestError, type RequestProblem } from '../request-error.ts'
import { scriptDataProblem } from '../scripts/user-defined-fields.ts'

/** The body of a create request that its schema has accepted. */
export interface InstanceBody {
  readonly region: string
  readonly type: string
  readonly label?: string
  readonly group?: string
  readonly tags?: readonly string[] | null
  readonly image?: string | null
  readonly root_pass?: string
  readonly authorized_keys?: readonly string[] | null
  readonly authorized_users?: readonly string[] | null
  readonly script_id?: number | null
  readonly script_data?: Readonly<Record<string, unknown>> | null
  readonly backup_id?: number | null
  readonly backups_enabled?: boolean
  readonly booted?: boolean
  readonly swap_size?: number | null
  readonly private_ip?: boolean
  readonly interfaces?: readonly InterfaceBody[] | null
}

/** A requested instance, parsed without the database. */
export interface InstanceSpec {
  readonly region: Region
  readonly type: InstanceType
  readonly label: string | null
  readonly group: string
  readonly tags: readonly string[]
  readonly image: string | null
  readonly authorizedUsers: readonly string[]
  readonly scriptId: number | null
  readonly scriptData: Readonly<Record<string, unknown>>
  readonly backupId: number | null
  readonly backupsEnabled: boolean
  readonly booted: boolean
  /** MB. */
  readonly swapSize: number
  readonly privateIp: boolean
  readonly interfaces: readonly Interface[]
}

/** The default size of an image's swap disk, in MB. */
const SWAP_SIZE = 512

/** Returns the instance that a create asks for. Throws 400 with every error. */
export function instanceToCreate(body: InstanceBody): InstanceSpec {
  const problems: RequestProblem[] = []
  const region = findRegion(body.region)
  const type = findInstanceType(body.type)
  const interfaces = parseInterfaces(body.interfaces, region, problems)
  problems.push(...valueProblems(body, region, type))
  if (region === null || type === null || problems.length > 0) throw badRequest(...problems)
  return {
    ...{ region, type, interfaces, label: body.label ?? null, group: body.group ?? '', tags: body.tags ?? [] },
    image: body.image ?? null,
    authorizedUsers: body.authorized_users ?? [],
    scriptId: body.script_id ?? null,
    scriptData: body.script_data ?? {},
    backupId: body.backup_id ?? null,
    backupsEnabled: body.backups_enabled ?? false,
    booted: body.booted ?? true,
    swapSize: body.swap_size ?? SWAP_SIZE,
    privateIp: body.private_ip ?? false,
  }
}

/** The semantic errors of a create body that may lack any field. */
export function problemsOfCreate(body: Partial<InstanceBody>): readonly RequestProblem[] {
  const problems: RequestProblem[] = []
  const region = body.region === undefined ? null : findRegion(body.region)
  parseInterfaces(body.interfaces, region, problems)
  return [...problems, ...valueProblems(body, region, body.type === undefined ? null : findInstanceType(body.type))]
}

function valueProblems(body: Partial<InstanceBody>, region: Region | null, type: InstanceType | null): RequestProblem[] {
  const problems: (RequestProblem | null)[] = []
  const { image = null, script_id = null, backup_id = null } = body
  if (body.region !== undefined && region === null) problems.push(notValid('region'))
  if (body.type !== undefined && type === null) problems.push(notValid('type'))
  if (body.label !== undefined) problems.push(labelProblem(body.label))
  if (body.root_pass === undefined) {
    if (image !== null || script_id !== null) problems.push({ field: 'root_pass', reason: 'root_pass is required' })
  } else if (COMMON_PASSWORDS.has(body.root_pass.toLowerCase())) {
    problems.push({ field: 'root_pass', reason: 'Password does not meet strength requirement' })
  }
  if (backup_id !== null && image !== null) problems.push({ field: 'image', reason: 'image cannot be used together with backup_id' })
  if (backup_id !== null && script_id !== null)
    problems.push({ field: 'script_id', reason: 'script_id cannot be used together with backup_id' })
  else if (script_id !== null && image === null) problems.push({ field: 'image', reason: 'image is required' })
  if (body.authorized_keys?.some((key) => parseSshKey(key) === null)) problems.push(notValid('authorized_keys'))
  if (body.script_data) problems.push(scriptDataProblem(body.script_data))
  return problems.filter((problem) => problem !== null)
}

export const notValid = (field: string): RequestProblem => ({ field, reason: `${field} is not valid` })

/** Passwords that attackers try first and that are long enough for the schema. */
const COMMON_PASSWORDS: ReadonlySet<string> = new Set([
  ...['password', 'password1', 'password123', 'passw0rd', 'p@ssw0rd', 'p@ssword', 'qwertyuiop', 'qwerty123', 'letmein1', 'welcome1'],
  ...['1234567', '12345678', '123456789', '1234567890', '11111111', '00000000', 'abcd1234', 'iloveyou', 'changeme', 'adminadmin'],
])

/** The body of an update request that its schema has accepted. */
export interface InstanceChanges {
  readonly label?: string
  readonly group?: string
  readonly tags?: readonly string[] | null
  readonly watchdog_enabled?: boolean
  readonly alerts?: Partial<Alerts>
  readonly backups?: { readonly schedule?: { readonly day?: string | null; readonly window?: string | null } }
}

/** The alert thresholds of a new instance. */
export const defaultAlerts = ({ vcpus }: InstanceType): Alerts => ({
  cpu: 90 * vcpus,
  io: 10_000,
  network_in: 10,
  network_out: 10,
  transfer_quota: 80,
})

/** A network interface in a request. */
export interface InterfaceBody {
  readonly purpose: Interface['purpose']
  readonly label?: string | null
  readonly ipam_address?: string | null
}

/** Whether a region supports VLANs. */
export const hasVlans = ({ capabilities }: Region): boolean => capabilities.includes('Vlans')

/** Parses the interfaces of a request and adds their problems. `region` is null if it is itself invalid. */
export function parseInterfaces(
  bodies: readonly InterfaceBody[] | null | undefined,
  region: Region | null,
  problems: RequestProblem[],
): readonly Interface[] {
  const interfaces = (bodies ?? []).map(({ purpose, label, ipam_address }): Interface => {
    const [name, address] = [label || null, ipam_address || null]
    if (purpose === 'public') {
      if (name !== null) problems.push({ field: 'interfaces.label', reason: 'A public interface cannot have a label.' })
      if (address !== null) problems.push({ field: 'interfaces.ipam_address', reason: 'A public interface cannot have an ipam_address.' })
    } else {
      if (name === null) problems.push({ field: 'interfaces.label', reason: 'interfaces.label is required' })
      else if (!isVlanLabel(name)) problems.push({ field: 'interfaces.label', reason: VLAN_LABEL })
      if (address !== null && !isCidr(address))
        problems.push({ field: 'interfaces.ipam_address', reason: 'interfaces.ipam_address is not valid' })
    }
    return { purpose, label: name, ipam_address: address }
  })
  if (region && !hasVlans(region) && interfaces.some(({ purpose }) => purpose === 'vlan')) problems.push(noVlans('interfaces'))
  return interfaces
}

export const noVlans = (field: string): RequestProblem => ({
  field,
  reason: "This Linode's region does not support VLANs at this time.",
})

const VLAN_LABEL = 'The name of a VLAN must have 1 to 64 letters, digits and single hyphens.'

const isVlanLabel = (text: string): boolean => /^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*$/.test(text)

/** Whether a text is an address with a prefix length (RFC 4632 section 3.1; RFC 4291 section 2.3). */
function isCidr(text: string): boolean {
  const [, address = '', length = ''] = /^([^/%]*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? []
  if (length === '') return false
  return isIPv4(address) ? Number(length) <= 32 : isIPv6(address) && Number(length) <= 128
}

/** Checks an instance label except for its length (API, Instance); null if it is valid. */
export function labelProblem(label: string): RequestProblem | null {
  if (/[^A-Za-z0-9._-]/.test(label)) return problem('Only letters, digits, hyphens, underscores and dots can be in a label.')
  if (!/^[A-Za-z0-9].*[A-Za-z0-9]$/.test(label)) return problem('A label must begin and end with a letter or digit.')
  if (/--|__|\.\./.test(label)) return problem('A label cannot have two hyphens, underscores or dots in a row.')
  return null
}

export const labelTaken = (): RequestProblem => problem('Label must be unique among your linodes')

const problem = (reason: string): RequestProblem => ({ field: 'label', reason })

/** 400 with exactly this text: clients such as linodego retry on it. */
export const instanceBusy = (): RequestError => badRequest({ field: null, reason: 'Linode busy.' })
