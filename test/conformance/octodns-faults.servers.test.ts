import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { faultTests } from './fault-suite.ts'
import { OCTODNS, type RunningTarget, ZONE } from './targets.ts'

type OctodnsRrset = { readonly type: string; readonly ttl: number; readonly value?: string; readonly values?: readonly string[] }

/** The records of the suite's types in the file, as `dig` prints a transfer. */
function linesOf(text: string): string[] {
  const owners = (parse(text) ?? {}) as Readonly<Record<string, OctodnsRrset | readonly OctodnsRrset[]>>
  return Object.entries(owners).flatMap(([owner, rrsets]) =>
    [rrsets].flat().flatMap(({ type, ttl, value, values }) =>
      (values ?? [value ?? '']).map((data) => {
        const name = owner === '' ? `${ZONE}.` : `${owner}.${ZONE}.`
        return `${name} ${ttl} IN ${type} ${type === 'TXT' ? JSON.stringify(data) : data}`
      }),
    ),
  )
}

async function start(): Promise<RunningTarget> {
  const directory = temporaryDirectory()
  const file = join(directory, `${ZONE}.yaml`)
  const transfer = async () => linesOf(readFileSync(file, 'utf8'))
  return { entry: `{type: octodns, directory: '${directory}'}`, env: {}, transfer, startProxy: null, stop: async () => undefined }
}

faultTests({ ...OCTODNS, usesNoNetwork: true, start })
