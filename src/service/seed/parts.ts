import { APPS } from './apps.ts'
import { DEVICES } from './devices.ts'
import { IMAGES } from './images.ts'
import { INSTANCES } from './instances.ts'
import { LOAD_BALANCERS } from './load-balancers.ts'
import { LOGINS } from './logins.ts'
import { SCRIPTS } from './scripts.ts'
import { SECURITY_QUESTIONS } from './security-questions.ts'
import type { SeedPart } from './seed-part.ts'
import { SSH_KEYS } from './ssh-keys.ts'
import { VOLUMES } from './volumes.ts'

/** What an account may have in a seed besides users and domains, in the order it is made. */
export const ACCOUNT_PARTS: readonly SeedPart[] = [INSTANCES, VOLUMES, LOAD_BALANCERS, IMAGES, SCRIPTS]

/** What a user may have in a seed besides tokens and grants, in the order it is made. */
export const USER_PARTS: readonly SeedPart[] = [APPS, DEVICES, LOGINS, SSH_KEYS, SECURITY_QUESTIONS]
