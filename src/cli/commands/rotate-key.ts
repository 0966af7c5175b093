/** `zonewright serve rotate-key`: help and output; the service rotates the key. */
import type { ExitStatus } from '../../apply/exit-status.ts'
import type { CliIo } from '../io.ts'
import { createOutput } from '../output.ts'
import { reportingProblems, type StoreOptions, storePlace } from './backup.ts'

export const ROTATE_KEY_SUMMARY = 'encrypt the secrets of the DNS hosting service with a new key, while it runs'

export const ROTATE_KEY_HELP = `
With a key file, the command creates the new key and running services find it.
With ZONEWRIGHT_SECRETS_KEY=NEW,FORMER, first restart every process with both
keys, then run this command, then restart them with only the new key. If the
command is interrupted, run it again.`

/** `zonewright serve rotate-key`: encrypts the secrets of the DNS hosting service with a new key, while the service runs. */
export async function rotateKey(io: CliIo, _args: readonly [], options: StoreOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  return reportingProblems(output, async () => {
    const service = await import('../../service/index.ts')
    const { resealed, keyFile, notErased } = await service.rotateKey(storePlace(io, options), io.env['ZONEWRIGHT_SECRETS_KEY'] || null)
    output.note(`All secrets are encrypted with the new key (${resealed} of them by this run).`)
    if (notErased !== null)
      output.note(`Former values are still in free space of the tables (${notErased}); run the command again to erase them.`)
    output.note(
      keyFile === null
        ? 'Restart every process with only the new key. Earlier backups need the former key: keep it with them.'
        : `The former key is the second line of ${keyFile}: earlier backups need it.`,
    )
  })
}
