import type { Route } from '../route.ts'
import { PROFILE_ROUTES } from './profile-routes.ts'
import { TOKEN_ROUTES } from './token-routes.ts'

/** The Profile part of the interface. */
export const PROFILE_PART: readonly Route[] = [...PROFILE_ROUTES, ...TOKEN_ROUTES]
