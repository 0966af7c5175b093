import { findInstanceType, type InstanceType } from '../../catalogue/instance-types.ts'
import { findRegion, type Region } from '../../catalogue/regions.ts'
import type { Interface } from '../../store/instance-content-store.ts'
import type { Alerts } from '../../store/instance-store.ts'
import { readSshKey } from '../profile/ssh-key.ts'
import { invalid, type RequestProblem } from '../request-error.ts'
import { type InterfaceBody, readInterfaces } from './interface-input.ts'
import { labelProblem } from './label-input.ts'
import { scriptDataProblem } from './script-data.ts'

/** The body of a request for an instance, as its schema lets it through. */
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

/** An instance that is asked for, as far as it can be read without looking anything up that changes. */
export interface InstanceOrder {
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

/** MB of the swap disk beside an image, unless another size is asked for. */
const SWAP_SIZE = 512

/** The instance that a create asks for. Throws 400 with every fault. */
export function instanceToCreate(body: InstanceBody): InstanceOrder {
  const problems: RequestProblem[] = []
  const region = findRegion(body.region)
  const type = findInstanceType(body.type)
  const interfaces = readInterfaces(body.interfaces, region, problems)
  problems.push(...valueProblems(body, region, type))
  if (region === null || type === null || problems.length > 0) throw invalid(...problems)
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

/** What is wrong with the values of a create that may lack any field. */
export function problemsOfCreate(body: Partial<InstanceBody>): readonly RequestProblem[] {
  const problems: RequestProblem[] = []
  const region = body.region === undefined ? null : findRegion(body.region)
  readInterfaces(body.interfaces, region, problems)
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
  if (body.authorized_keys?.some((key) => readSshKey(key) === null)) problems.push(notValid('authorized_keys'))
  if (body.script_data) problems.push(scriptDataProblem(body.script_data))
  return problems.filter((problem) => problem !== null)
}

export const notValid = (field: string): RequestProblem => ({ field, reason: `${field} is not valid` })

/** What is tried first; only those that are long enough to come here. */
const COMMON_PASSWORDS: ReadonlySet<string> = new Set([
  ...['password', 'password1', 'password123', 'passw0rd', 'p@ssw0rd', 'p@ssword', 'qwertyuiop', 'qwerty123', 'letmein1', 'welcome1'],
  ...['1234567', '12345678', '123456789', '1234567890', '11111111', '00000000', 'abcd1234', 'iloveyou', 'changeme', 'adminadmin'],
])

/** The body of an update, as its schema lets it through. */
export interface InstanceChanges {
  readonly label?: string
  readonly group?: string
  readonly tags?: readonly string[] | null
  readonly watchdog_enabled?: boolean
  readonly alerts?: Partial<Alerts>
  readonly backups?: { readonly schedule?: { readonly day?: string | null; readonly window?: string | null } }
}

/** What is sent for an instance when it leaves the range that its owner wants; each core counts. */
export const defaultAlerts = ({ vcpus }: InstanceType): Alerts => ({
  cpu: 90 * vcpus,
  io: 10_000,
  network_in: 10,
  network_out: 10,
  transfer_quota: 80,
})
