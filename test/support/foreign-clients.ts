import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('../../scripts/install-foreign-clients.sh', import.meta.url))

/** A client program that `scripts/install-foreign-clients.sh` installs. */
export type ForeignClient =
  | 'linodego'
  | 'lego'
  | 'external-dns'
  | 'python-clients'
  | 'command-clients'
  | 'cloud-clients'
  | 'prometheus'
  | 'hadolint'
  | 'actionlint'
  | 'act'
  | 'gitlab-ci-local'
  | 'opentofu'

/** The path of an installed client program; its name, which no program has, if it is not installed. */
export const findForeignClient = (name: ForeignClient): string => execFileSync('bash', [SCRIPT, name], { encoding: 'utf8' }).trim() || name
