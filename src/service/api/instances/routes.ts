import type { Route } from '../route.ts'
import { BACKUP_ROUTES } from './backup-routes.ts'
import { BOOT_ROUTE } from './boot-route.ts'
import { CLONE_ROUTE } from './clone-route.ts'
import { CONFIG_ROUTES } from './config-routes.ts'
import { INSTANCE_ROUTES } from './instance-routes.ts'

/** The Instances, Backups and Configuration profiles parts of the interface. */
export const INSTANCES_PART: readonly Route[] = [...INSTANCE_ROUTES, BOOT_ROUTE, CLONE_ROUTE, ...BACKUP_ROUTES, ...CONFIG_ROUTES]
