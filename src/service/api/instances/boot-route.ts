import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import INSTANCE_BOOT from '../../../../schemas/service/instance-boot.json' with { type: 'json' }
import { DURATIONS } from '../../jobs/durations.ts'
import { INSTANCE_BOOTED } from '../../jobs/instance-jobs.ts'
import { configsOf } from '../../store/instance-content-store.ts'
import { isBusy, lockInstanceRow, updateInstanceRow } from '../../store/instance-store.ts'
import { enqueueJob } from '../../store/job-store.ts'
import { WRITES_INSTANCE } from '../grants.ts'
import { invalid, notFound } from '../request-error.ts'
import { defineRoute } from '../route.ts'
import { linodeBusy } from './busy.ts'
import { notValid } from './instance-input.ts'
import { momentOf } from './moment-of.ts'

interface BootBody {
  readonly config_id?: number | null
}

/** An instance that runs is rebooted, with the profile that is chosen. */
export const BOOT_ROUTE = defineRoute<BootBody>({
  method: 'POST',
  path: '/compute/instances/{instanceId}/boot',
  summary: 'Boot an instance',
  scope: 'instances:read_write',
  needs: WRITES_INSTANCE,
  body: INSTANCE_BOOT,
  response: EMPTY,
  handle: async ({ actor, ids, body }, service) => {
    const id = ids['instanceId'] as number
    const moment = momentOf(service)
    await service.database.write(async (connection) => {
      const instance = await lockInstanceRow(connection, actor.accountId, id)
      if (instance === null) throw notFound()
      const configs = (await configsOf(connection, id)).map((config) => config.id)
      const config = chooseConfig(configs, body.config_id ?? null, instance.last_booted)
      if (isBusy(instance)) throw linodeBusy()
      const reboots = instance.status === 'running'
      await updateInstanceRow(connection, id, { status: reboots ? 'rebooting' : 'booting', updated: moment.nowText })
      const due = moment.now + (reboots ? DURATIONS.reboot : DURATIONS.boot)
      await enqueueJob(connection, { kind: INSTANCE_BOOTED, subject: id, payload: { config }, due })
    })
    service.jobs.wake()
    return {}
  },
})

/** The profile to boot with (interface, Boot config choice). Throws 400 where none is chosen. */
function chooseConfig(configs: readonly number[], asked: number | null, lastBooted: number | null): number {
  if (asked !== null) {
    if (!configs.includes(asked)) throw invalid(notValid('config_id'))
    return asked
  }
  const [only, ...others] = configs
  if (only === undefined) throw invalid({ field: null, reason: 'The instance has no configuration profile to boot with.' })
  if (others.length === 0) return only
  if (lastBooted !== null && configs.includes(lastBooted)) return lastBooted
  const reason = 'config_id is required: the instance has several configuration profiles, and was booted with none of them last.'
  throw invalid({ field: 'config_id', reason })
}
