import type { InstanceType } from '../../catalogue/instance-types.ts'
import { findKernel } from '../../catalogue/kernels.ts'
import { findRegion } from '../../catalogue/regions.ts'
import {
  ALL_HELPERS,
  type ConfigContent,
  type Device,
  type Devices,
  type Helpers,
  type Interface,
  NO_DEVICES,
  SLOTS,
  type Slot,
} from '../../store/instance-content-store.ts'
import type { InstanceRow } from '../../store/tables/instances.ts'
import { invalid, type RequestProblem } from '../request-error.ts'
import { notValid } from './instance-input.ts'
import { type InterfaceBody, readInterfaces } from './interface-input.ts'

/** The body of a request for a profile, as its schema lets it through. */
export interface ConfigBody {
  readonly label: string
  readonly comments?: string | null
  readonly devices: Readonly<Partial<Record<Slot, { readonly disk_id?: number | null; readonly volume_id?: number | null } | null>>>
  readonly helpers?: Partial<Helpers>
  readonly interfaces?: readonly InterfaceBody[] | null
  readonly kernel?: string
  readonly memory_limit?: number
  readonly root_device?: string | null
  readonly run_level?: ConfigContent['run_level']
  readonly virt_mode?: ConfigContent['virt_mode']
}

/** What a profile can name. */
export interface ConfigSurroundings {
  readonly instance: InstanceRow
  readonly specs: InstanceType
  /** Disks of the instance. */
  readonly disks: ReadonlySet<number>
  /** Volumes of the account in the region. */
  readonly volumes: ReadonlySet<number>
}

const DEFAULT_KERNEL = 'linode/latest-64bit'
const DEFAULT_ROOT = '/dev/sda'

/** The profile that a create asks for. Throws 400 with every fault. */
export function configToCreate(body: ConfigBody, { instance, specs, disks, volumes }: ConfigSurroundings): ConfigContent {
  const problems: RequestProblem[] = []
  const { kernel = DEFAULT_KERNEL, memory_limit = 0, root_device, run_level = 'default', virt_mode = 'paravirt' } = body
  const devices = readDevices(body.devices, disks, volumes, problems)
  // Those that an instance without anything was made with.
  const pending: readonly Interface[] = body.interfaces ? [] : JSON.parse(instance.interfaces)
  const interfaces = body.interfaces ? readInterfaces(body.interfaces, findRegion(instance.region), problems) : pending
  if (findKernel(kernel) === null) problems.push(notValid('kernel'))
  if (memory_limit > specs.memory) problems.push({ field: 'memory_limit', reason: `memory_limit must be between 0 and ${specs.memory}` })
  if (problems.length > 0) throw invalid(...problems)
  return {
    ...{ label: body.label, comments: body.comments === undefined ? '' : body.comments, devices, interfaces, kernel, memory_limit },
    ...{ helpers: { ...ALL_HELPERS, ...body.helpers }, root_device: readRoot(root_device ?? DEFAULT_ROOT), run_level, virt_mode },
  }
}

function readDevices(
  body: ConfigBody['devices'],
  disks: ReadonlySet<number>,
  volumes: ReadonlySet<number>,
  problems: RequestProblem[],
): Devices {
  const devices: Record<Slot, Device | null> = { ...NO_DEVICES }
  const used = new Set<string>()
  for (const slot of SLOTS) {
    const { disk_id = null, volume_id = null } = body[slot] ?? {}
    const at = `devices.${slot}`
    if (disk_id === null && volume_id === null) continue
    if (disk_id !== null && volume_id !== null) problems.push({ field: at, reason: 'A device is a disk or a volume.' })
    else if (disk_id !== null && !disks.has(disk_id)) problems.push(notValid(`${at}.disk_id`))
    else if (volume_id !== null && !volumes.has(volume_id)) problems.push(notValid(`${at}.volume_id`))
    const which = `${disk_id} ${volume_id}`
    if (used.has(which)) problems.push({ field: at, reason: 'A disk or volume can be at one device only.' })
    used.add(which)
    devices[slot] = { disk_id, volume_id }
  }
  return devices
}

/** A path of a device; what is none becomes the default (facts, C). */
const readRoot = (text: string): string => (/^\/dev\/[A-Za-z0-9/_-]{1,250}$/.test(text) ? text : DEFAULT_ROOT)
