import { DOMAINS_PART } from './domains/routes.ts'
import { PROFILE_PART } from './profile/routes.ts'
import type { Route } from './route.ts'
import { TAGS_PART } from './tags/routes.ts'

/** The parts of the interface that the service has. */
export const PARTS: readonly (readonly Route[])[] = [DOMAINS_PART, TAGS_PART, PROFILE_PART]
