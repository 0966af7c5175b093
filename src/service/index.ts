/** The entry point: the parts of the service that other folders may import. */
export { type AdminClient, openAdmin } from './admin/admin-client.ts'
export type { Certificate } from './api/http-server.ts'
export { requestsPerMinute, UNLIMITED_RATES } from './api/rate-limit.ts'
export { backUpService, type DatabaseLocation, restoreService } from './backup.ts'
export type { PublicImage } from './catalogue/public-images.ts'
export { readPublicImages } from './catalogue/public-images.ts'
export { type RegionResolvers, readRegionResolvers } from './catalogue/regions.ts'
export type { LogLevel } from './observability/log.ts'
export {
  type Address,
  type CommandOptions,
  DEFAULT_LIMITS,
  DEFAULT_NS_NAMES,
  type RunningService,
  type ServiceOptions,
  UNLIMITED,
} from './options.ts'
export { parseQuotas } from './quotas.ts'
export { type RotatedKey, rotateKey } from './secrets/rotate-key.ts'
export { readSeed } from './seed/read-seed.ts'
export type { Seed } from './seed/seed.ts'
export { parseSmsDestination, type SmsDestination } from './sms/sms-sink.ts'
export { startService } from './start-service.ts'
export type { TransferKey } from './transfers/transfer-keys.ts'
export { readTransferKeys } from './transfers/transfer-keys.ts'
