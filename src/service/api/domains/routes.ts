import type { Route } from '../route.ts'
import { DOMAIN_ROUTES } from './domain-routes.ts'
import { IMPORT_ROUTE } from './import-route.ts'
import { RECORD_ROUTES } from './record-routes.ts'
import { ZONE_FILE_ROUTE } from './zone-file-route.ts'

/** The Domains part of the interface. */
export const DOMAINS_PART: readonly Route[] = [...DOMAIN_ROUTES, IMPORT_ROUTE, ...RECORD_ROUTES, ZONE_FILE_ROUTE]
