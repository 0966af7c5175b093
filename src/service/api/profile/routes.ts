import type { Route } from '../route.ts'
import { APP_ROUTES } from './app-routes.ts'
import { DEVICE_ROUTES } from './device-routes.ts'
import { LOGIN_ROUTES } from './login-routes.ts'
import { PHONE_ROUTES } from './phone-routes.ts'
import { PREFERENCE_ROUTES } from './preference-routes.ts'
import { PROFILE_ROUTES } from './profile-routes.ts'
import { QUESTION_ROUTES } from './question-routes.ts'
import { SECOND_FACTOR_ROUTES } from './second-factor-routes.ts'
import { SSH_KEY_ROUTES } from './ssh-key-routes.ts'
import { TOKEN_ROUTES } from './token-routes.ts'

/** The Profile part of the interface. */
export const PROFILE_PART: readonly Route[] = [
  ...PROFILE_ROUTES,
  ...APP_ROUTES,
  ...DEVICE_ROUTES,
  ...LOGIN_ROUTES,
  ...PHONE_ROUTES,
  ...PREFERENCE_ROUTES,
  ...QUESTION_ROUTES,
  ...SSH_KEY_ROUTES,
  ...SECOND_FACTOR_ROUTES,
  ...TOKEN_ROUTES,
]
