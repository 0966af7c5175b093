import { clockText } from '../../clock-text.ts'
import type { JobMoment } from '../../jobs/job-handler.ts'
import type { Service } from '../route.ts'

/** The present moment of the service's clock. */
export function momentOf({ clock }: Pick<Service, 'clock'>): JobMoment {
  const now = clock()
  return { now, nowText: clockText(now) }
}
