/** The list of all operations of the API. */
import { KERNEL_ROUTES, REGION_ROUTES, TYPE_ROUTES } from './catalogue/catalogue-routes.ts'
import { DOMAIN_ROUTES } from './domains/domain-routes.ts'
import { IMPORT_ROUTE } from './domains/import-zone.ts'
import { RECORD_ROUTES } from './domains/record-routes.ts'
import { IMAGE_ROUTES } from './images/image-routes.ts'
import { BACKUP_ROUTES } from './instances/backup-routes.ts'
import { CLONE_ROUTE } from './instances/clone-instance.ts'
import { CONFIG_ROUTES } from './instances/config-routes.ts'
import { INSTANCE_ROUTES } from './instances/instance-routes.ts'
import { ACCESS_ROUTES } from './profile/access-routes.ts'
import { PHONE_ROUTES } from './profile/phone-routes.ts'
import { ACCOUNT_ROUTES, PROFILE_ROUTES } from './profile/profile-routes.ts'
import { QUESTION_ROUTES, SECOND_FACTOR_ROUTES } from './profile/second-factor-routes.ts'
import { SSH_KEY_ROUTES } from './profile/ssh-key-routes.ts'
import { TOKEN_ROUTES } from './profile/token-routes.ts'
import type { Route } from './route.ts'
import { SCRIPT_ROUTES } from './scripts/script-routes.ts'
import { TAG_ROUTES } from './tags/tag-routes.ts'

/** Every operation of the API, in the order the reference lists them. */
export const ROUTES: readonly Route[] = [
  ...INSTANCE_ROUTES,
  CLONE_ROUTE,
  ...BACKUP_ROUTES,
  ...CONFIG_ROUTES,
  ...DOMAIN_ROUTES,
  IMPORT_ROUTE,
  ...RECORD_ROUTES,
  ...TAG_ROUTES,
  ...ACCOUNT_ROUTES,
  ...PROFILE_ROUTES,
  ...ACCESS_ROUTES,
  ...PHONE_ROUTES,
  ...QUESTION_ROUTES,
  ...SSH_KEY_ROUTES,
  ...SECOND_FACTOR_ROUTES,
  ...TOKEN_ROUTES,
  ...IMAGE_ROUTES,
  ...TYPE_ROUTES,
  ...KERNEL_ROUTES,
  ...REGION_ROUTES,
  ...SCRIPT_ROUTES,
]
