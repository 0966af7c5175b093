import { DOMAINS_PART } from './domains/routes.ts'
import { IMAGES_PART } from './images/routes.ts'
import { INSTANCES_PART } from './instances/routes.ts'
import { KERNELS_PART } from './kernels/routes.ts'
import { PROFILE_PART } from './profile/routes.ts'
import { REGIONS_PART } from './regions/routes.ts'
import type { Route } from './route.ts'
import { SCRIPTS_PART } from './scripts/routes.ts'
import { TAGS_PART } from './tags/routes.ts'

/** The parts of the interface that the service has. */
export const PARTS: readonly (readonly Route[])[] = [
  INSTANCES_PART,
  DOMAINS_PART,
  TAGS_PART,
  PROFILE_PART,
  IMAGES_PART,
  KERNELS_PART,
  REGIONS_PART,
  SCRIPTS_PART,
]
