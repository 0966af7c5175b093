/** The operations on configuration profiles of instances. */
import CONFIG from '../../../../schemas/service/config.json' with { type: 'json' }
import CONFIG_CREATE from '../../../../schemas/service/config-create.json' with { type: 'json' }
import type { InstanceType } from '../../catalogue/instance-types.ts'
import { findKernel } from '../../catalogue/kernels.ts'
import { findRegion } from '../../catalogue/regions.ts'
import type { Connection } from '../../store/database.ts'
import {
  ALL_HELPERS,
  CONFIG_FILTER_FIELDS,
  type ConfigProfile,
  type Device,
  type Devices,
  type Helpers,
  type Interface,
  insertConfigProfile,
  listConfigProfiles,
  listDisks,
  NO_DEVICES,
  SLOTS,
  type Slot,
} from '../../store/disk-and-profile-store.ts'
import { findInstanceRow, lockInstanceRow, specsOf, updateInstanceRow } from '../../store/instance-store.ts'
import type { InstanceRow } from '../../store/tables.ts'
import type { Actor } from '../authenticate.ts'
import { GRANTED_INSTANCE } from '../grants.ts'
import { badRequest, collectProblems, orNotFound, type RequestProblem } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Route } from '../route.ts'
import { checkConfigLimit, type InterfaceBody, notValid, parseInterfaces } from './create-instance.ts'

/** The body of a create request that its schema has accepted. */
interface ConfigBody {
  readonly label: string
  readonly comments?: string | null
  readonly devices: Readonly<Partial<Record<Slot, { readonly disk_id?: number | null; readonly volume_id?: number | null } | null>>>
  readonly helpers?: Partial<Helpers>
  readonly interfaces?: readonly InterfaceBody[] | null
  readonly kernel?: string
  readonly memory_limit?: number
  readonly root_device?: string | null
  readonly run_level?: ConfigProfile['run_level']
  readonly virt_mode?: ConfigProfile['virt_mode']
}

/** The objects that a profile can refer to. */
interface ConfigContext {
  readonly instance: InstanceRow
  readonly specs: InstanceType
  /** Ids of the instance's disks. */
  readonly disks: ReadonlySet<number>
  /** Ids of the account's volumes in the region. */
  readonly volumes: ReadonlySet<number>
}

const DEFAULT_KERNEL = 'linode/latest-64bit'
const DEFAULT_ROOT = '/dev/sda'

/** Returns the profile that a create asks for. Throws 400 with every error. */
function configToCreate(body: ConfigBody, { instance, specs, disks, volumes }: ConfigContext): ConfigProfile {
  const problems: RequestProblem[] = []
  const { kernel = DEFAULT_KERNEL, memory_limit = 0, root_device, run_level = 'default', virt_mode = 'paravirt' } = body
  const devices = readDevices(body.devices, disks, volumes, problems)
  // An instance created without an image keeps its interfaces for its first profile.
  const pending: readonly Interface[] = body.interfaces ? [] : JSON.parse(instance.interfaces)
  const interfaces = body.interfaces ? parseInterfaces(body.interfaces, findRegion(instance.region), problems) : pending
  if (findKernel(kernel) === null) problems.push(notValid('kernel'))
  if (memory_limit > specs.memory) problems.push({ field: 'memory_limit', reason: `memory_limit must be between 0 and ${specs.memory}` })
  if (problems.length > 0) throw badRequest(...problems)
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
    if (disk_id !== null && volume_id !== null) problems.push({ field: at, reason: 'A device cannot be both a disk and a volume.' })
    else if (disk_id !== null && !disks.has(disk_id)) problems.push(notValid(`${at}.disk_id`))
    else if (volume_id !== null && !volumes.has(volume_id)) problems.push(notValid(`${at}.volume_id`))
    const which = `${disk_id} ${volume_id}`
    if (used.has(which)) problems.push({ field: at, reason: 'A disk or volume can be used by only one device.' })
    used.add(which)
    devices[slot] = { disk_id, volume_id }
  }
  return devices
}

/** Any text that is not a device path becomes the default, as in the hosting service. */
const readRoot = (text: string): string => (/^\/dev\/[A-Za-z0-9/_-]{1,250}$/.test(text) ? text : DEFAULT_ROOT)

const CONFIGS = resource({
  path: '/compute/instances/{instanceId}/configs',
  family: 'instances',
  object: GRANTED_INSTANCE,
  schema: CONFIG,
  filter: CONFIG_FILTER_FIELDS,
})

export const CONFIG_ROUTES: readonly Route[] = [
  CONFIGS.list('List the configuration profiles of an instance', async (connection, { actor, ids, query }) => {
    const instance = await findInstanceRow(connection, actor.accountId, ids.instanceId)
    return instance && listConfigProfiles(connection, instance.id, query)
  }),
  CONFIGS.create<ConfigBody>(
    'Create a configuration profile',
    CONFIG_CREATE,
    ({ actor, ids, body }, { database, now }) =>
      database.write(async (connection) => {
        const instance = orNotFound(await lockInstanceRow(connection, actor.accountId, ids.instanceId))
        const config = configToCreate(body, await configContext(connection, actor, instance))
        await checkConfigLimit(connection, instance.id, 1)
        await updateInstanceRow(connection, instance.id, { updated: now(), ...(body.interfaces ? {} : { interfaces: '[]' }) })
        return insertConfigProfile(connection, instance.id, config, now())
      }),
    {
      valueProblems: async ({ actor, ids, body }, { database }) => {
        const context = await database.read(async (connection) => {
          const instance = await findInstanceRow(connection, actor.accountId, ids.instanceId)
          return instance && configContext(connection, actor, instance)
        })
        return context === null ? [] : collectProblems(() => configToCreate({ label: '', devices: {}, ...body }, context))
      },
    },
  ),
]

/** Reads the objects that a profile can refer to. Volumes that the user may not change are left out. */
async function configContext(connection: Connection, actor: Actor, instance: InstanceRow): Promise<ConfigContext> {
  const inRegion = connection
    .selectFrom('volumes')
    .select('volumes.id')
    .where('volumes.account_id', '=', instance.account_id)
    .where('volumes.region', '=', instance.region)
  const granted = inRegion
    .innerJoin('grants', 'grants.entity_id', 'volumes.id')
    .where('grants.kind', '=', 'volume')
    .where('grants.user_id', '=', actor.userId)
    .where('grants.permissions', '=', 'read_write')
  const volumes = await (actor.restricted ? granted : inRegion).execute()
  const disks = await listDisks(connection, instance.id)
  const numbers = (rows: readonly { readonly id: number }[]): ReadonlySet<number> => new Set(rows.map(({ id }) => id))
  return { instance, specs: specsOf(instance), disks: numbers(disks), volumes: numbers(volumes) }
}
