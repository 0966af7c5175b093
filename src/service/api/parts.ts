import { DOMAINS_PART } from './domains/routes.ts'
import type { Route } from './route.ts'

/** The parts of the interface that the service has. */
export const PARTS: readonly (readonly Route[])[] = [DOMAINS_PART]
